/*
 * marshal.h - the values that Python's marshal module writes, as far as profiles use them
 *
 * A value is a type byte and what belongs to it; tuples and dicts hold values:
 *
 *     { ) 3  z 4 "a.py"  i 7  z 1 "f"    ) 5 ...    0      {("a.py", 7, "f"): (...)}
 *
 * Bit 0x80 of a type byte numbers the value, and 'r' with a number stands for it
 * again. A container is numbered before what it holds; a reference to a container
 * that is not complete yet would be a ring and is refused, so what was read has no
 * rings, though the same value may be found in many places.
 *
 * Whole numbers are read up to 64 bits. The pure Python profiler leaves a code
 * object in the name of what it ran: it is read as the text that is its name (as
 * Python 3.11 and later write it), and what code holds besides is stepped over.
 *
 * Owns:   its tables; texts point into the bytes it was read from.
 * Memory: at most some 50 bytes for every byte of input.
 * Fails:  with the offset of the value that was wrong.
 */
#pragma once
#include "base/err.h"
#include "base/own.h"
#include "base/view.h"
#include <stdint.h>

enum marshal_kind { MARSHAL_INT, MARSHAL_REAL, MARSHAL_BOOL, MARSHAL_TEXT, MARSHAL_TUPLE, MARSHAL_DICT, MARSHAL_OTHER };

struct marshal_value {
    enum marshal_kind kind;
    uint32_t n; /* of the bytes of a text, the values of a tuple, the keys and values of a dict together */
    union {
        int64_t whole; /* also 0 and 1 of a bool */
        double real;
        const char *text;
        size_t first; /* see marshal_at() */
    };
};

struct marshal {
    struct marshal_value *values;
    uint32_t *inside; /* of all containers, one behind the other: rows of `values` */
    size_t n_values, cap_values, n_inside, cap_inside;
};

/* One value, and nothing behind it. */
bool marshal_read(struct view bytes, struct marshal *out, struct err *e) MUST_CHECK;
void marshal_done(struct marshal *m);
DEFINE_OWN_IN_PLACE(marshal, struct marshal)

static inline const struct marshal_value *marshal_root(const struct marshal *m) { return &m->values[m->n_values - 1]; }

/* Value i of a tuple; of a dict, key k is 2k and its value 2k + 1. */
static inline const struct marshal_value *marshal_at(const struct marshal *m, const struct marshal_value *of, size_t i)
{
    return &m->values[m->inside[of->first + i]];
}

static inline struct view marshal_text(const struct marshal_value *v) { return (struct view){v->text, v->n}; }
