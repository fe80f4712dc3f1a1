/*
 * gguf.h - what is in a GGUF file: settings, vocabulary, tensors
 *
 *     magic | version | counts | key = value ... | name, shape, type, offset ... | padding | data
 *
 * The file is mapped and stays where it is: texts and weights are pointers into the map. Everything
 * is checked before anything is believed: a count only as far as there are bytes, a tensor only if
 * its bytes are inside the file and its own. The arithmetic is checked for overflow throughout.
 *
 *     own(gguf) struct gguf *g = NULL;
 *     if (!gguf_open(path, &g, e))
 *         return false;
 *     uint64_t layers;
 *     if (!gguf_uint(g, VIEW("llama.block_count"), &layers)) ...
 *
 * Reads versions 2 and 3, little-endian. Not arrays of arrays, which nobody writes.
 *
 * Threads:  reading from any number of threads.
 * Fails:    opening says what is wrong and where; the others just say no. A file that shrinks while
 *           it is mapped ends the program, as with any mapped file.
 */
#pragma once
#include "base/err.h"
#include "base/own.h"
#include "base/view.h"
#include "lab/tensor_type.h"
#include <stddef.h>
#include <stdint.h>

struct gguf;

enum gguf_kind {
    GGUF_U8, GGUF_I8, GGUF_U16, GGUF_I16, GGUF_U32, GGUF_I32, GGUF_F32, GGUF_BOOL, GGUF_TEXT, GGUF_ARRAY,
    GGUF_U64, GGUF_I64, GGUF_F64,
    GGUF_KIND_COUNT
};

struct gguf_value {
    struct view key;
    enum gguf_kind kind;
    enum gguf_kind of;  /* of an array's items */
    uint64_t n;         /* items of an array */
    const uint8_t *at;  /* the value, or the first item; not aligned */
};

struct gguf_tensor {
    struct view name;
    const struct tensor_type *type;
    uint32_t n_dims;
    uint64_t dims[TENSOR_DIMS_MOST]; /* the first lies densest: a row */
    uint64_t elements, bytes, offset;
    const void *data;
};

bool gguf_open(const char *path, struct gguf **out, struct err *e) MUST_CHECK;
bool gguf_over(struct view bytes, struct gguf **out, struct err *e) MUST_CHECK; /* borrows the bytes, aligned for anything */
void gguf_bring(const struct gguf *g); /* all of the file into memory now, where the system can; else it comes when it is used */
void gguf_free(struct gguf *g);
DEFINE_OWN(gguf, struct gguf *)

const struct gguf_value *gguf_value(const struct gguf *g, struct view key); /* NULL: not there */
bool gguf_uint(const struct gguf *g, struct view key, uint64_t *out); /* of any whole-number kind, not negative */
bool gguf_double(const struct gguf *g, struct view key, double *out); /* of any number kind */
bool gguf_bool(const struct gguf *g, struct view key, bool *out);
bool gguf_text(const struct gguf *g, struct view key, struct view *out);

/* Items of an array, in order: *at begins as value->at and is moved on. */
struct view gguf_next_text(const uint8_t **at); /* of an array of texts */
int64_t gguf_int_at(const struct gguf_value *array, uint64_t i); /* of whole numbers */
double gguf_double_at(const struct gguf_value *array, uint64_t i); /* of F32 or F64 */

size_t gguf_tensor_count(const struct gguf *g);
const struct gguf_tensor *gguf_tensor_at(const struct gguf *g, size_t i);
const struct gguf_tensor *gguf_tensor(const struct gguf *g, struct view name); /* NULL: not there */
