/*
 * A container's values are complete before it is: they wait on a stack of rows
 * and are moved to `inside`, side by side, when the container ends. The row of
 * the outermost value is therefore the last one, unless it was a reference.
 */
#include "formats/marshal.h"
#include "base/mem.h"

#define MOST_DEPTH 200 /* a profile nests five deep; code within code, a little more */
#define IS_NUMBERED 0x80
#define NOT_COMPLETE UINT32_MAX

struct marshal_reader {
    const unsigned char *begin, *at, *end;
    struct marshal *into;
    uint32_t *numbered; /* rows of the values that may be referred to */
    size_t n_numbered, cap_numbered;
    uint32_t *waiting;
    size_t n_waiting, cap_waiting;
    unsigned depth;
    struct err *e;
};

static bool bad(struct marshal_reader *r, const char *what)
{
    return err_set(r->e, ERR_MALFORMED, "%s at byte %zu", what, (size_t)(r->at - r->begin));
}

static bool take_bytes(struct marshal_reader *r, size_t n, const unsigned char **out)
{
    if ((size_t)(r->end - r->at) < n)
        return err_set(r->e, ERR_MALFORMED, "ends inside a value, at byte %zu", (size_t)(r->end - r->begin));
    *out = r->at;
    r->at += n;
    return true;
}

/* Little endian, as marshal writes on every machine. */
static bool take_number(struct marshal_reader *r, unsigned bytes, uint64_t *out)
{
    const unsigned char *p = r->at;
    if (!take_bytes(r, bytes, &p))
        return false;
    *out = 0;
    for (unsigned i = 0; i < bytes; i++)
        *out |= (uint64_t)p[i] << 8 * i;
    return true;
}

/* A length of one byte, or of four with a sign that must not be. */
static bool take_length(struct marshal_reader *r, unsigned bytes, size_t *out)
{
    uint64_t n;
    if (!take_number(r, bytes, &n))
        return false;
    *out = (size_t)n;
    return n <= INT32_MAX || bad(r, "a negative length");
}

/* A row, complete; also what its number stands for from now on. */
static bool add(struct marshal_reader *r, struct marshal_value v, uint32_t number, uint32_t *out_row)
{
    struct marshal *m = r->into;
    if (m->n_values >= NOT_COMPLETE - 1)
        return err_set(r->e, ERR_LIMIT, "more values than we agreed to take");
    GROW(m->values, m->cap_values, m->n_values + 1);
    m->values[m->n_values] = v;
    *out_row = (uint32_t)m->n_values++;
    if (number != NOT_COMPLETE)
        r->numbered[number] = *out_row;
    return true;
}

static bool read_text(struct marshal_reader *r, unsigned length_bytes, struct marshal_value *out)
{
    size_t n;
    const unsigned char *p;
    if (!take_length(r, length_bytes, &n) || !take_bytes(r, n, &p))
        return false;
    *out = (struct marshal_value){.kind = MARSHAL_TEXT, .n = (uint32_t)n, .text = (const char *)p};
    return true;
}

static bool read_int(struct marshal_reader *r, unsigned bytes, struct marshal_value *out)
{
    uint64_t n;
    if (!take_number(r, bytes, &n))
        return false;
    *out = (struct marshal_value){.kind = MARSHAL_INT, .whole = bytes == 4 ? (int32_t)(uint32_t)n : (int64_t)n};
    return true;
}

/* Digits of 15 bits, the smallest first; the sign is that of their count. */
static bool read_long(struct marshal_reader *r, struct marshal_value *out)
{
    uint64_t count, digit;
    if (!take_number(r, 4, &count))
        return false;
    int32_t signed_count = (int32_t)(uint32_t)count;
    uint32_t n = signed_count < 0 ? 0u - (uint32_t)signed_count : (uint32_t)signed_count;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (!take_number(r, 2, &digit))
            return false;
        if (digit > 0x7fff)
            return bad(r, "a broken number");
        if (digit && (i > 4 || (i == 4 && digit > 7)))
            return bad(r, "a number past 2^63");
        sum |= i > 4 ? 0 : digit << 15 * i;
    }
    *out = (struct marshal_value){.kind = MARSHAL_INT, .whole = signed_count < 0 ? -(int64_t)sum : (int64_t)sum};
    return true;
}

static bool read_real(struct marshal_reader *r, struct marshal_value *out)
{
    uint64_t bits;
    if (!take_number(r, 8, &bits))
        return false;
    *out = (struct marshal_value){.kind = MARSHAL_REAL};
    memcpy(&out->real, &bits, sizeof bits);
    return true;
}

/* As text, from very old writers. */
static bool read_real_text(struct marshal_reader *r, struct marshal_value *out)
{
    struct marshal_value text;
    char digits[64], *end;
    if (!read_text(r, 1, &text))
        return false;
    if (!text.n || text.n >= sizeof digits)
        return bad(r, "a broken number");
    memcpy(digits, text.text, text.n);
    digits[text.n] = '\0';
    *out = (struct marshal_value){.kind = MARSHAL_REAL, .real = strtod(digits, &end)};
    return end == digits + text.n || bad(r, "a broken number");
}

/* None, Ellipsis, a complex number. */
static bool read_other(struct marshal_reader *r, size_t bytes, struct marshal_value *out)
{
    const unsigned char *p;
    *out = (struct marshal_value){.kind = MARSHAL_OTHER};
    return take_bytes(r, bytes, &p);
}

static bool read_value(struct marshal_reader *r, uint32_t *out_row);

static bool read_waiting(struct marshal_reader *r)
{
    uint32_t row = 0;
    if (!read_value(r, &row))
        return false;
    GROW(r->waiting, r->cap_waiting, r->n_waiting + 1);
    r->waiting[r->n_waiting++] = row;
    return true;
}

static bool read_some(struct marshal_reader *r, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!read_waiting(r))
            return false;
    return true;
}

static bool read_tuple(struct marshal_reader *r, unsigned length_bytes)
{
    size_t n;
    return take_length(r, length_bytes, &n) && read_some(r, n);
}

/* Keys and values in turn; a '0' where a key would be is the end. */
static bool read_dict(struct marshal_reader *r)
{
    for (;;) {
        if (r->at < r->end && *r->at == '0') {
            r->at++;
            return true;
        }
        if (!read_some(r, 2)) /* a key and its value */
            return false;
    }
}

/* Five numbers; instructions, constants, four kinds of names, file, name, ...; the first line; two tables. */
#define NAME_OF_CODE 6
static bool read_code(struct marshal_reader *r)
{
    const unsigned char *numbers;
    return take_bytes(r, 5 * 4, &numbers) && read_some(r, 8) && take_bytes(r, 4, &numbers) && read_some(r, 2);
}

static bool read_inside(struct marshal_reader *r, char type)
{
    switch (type) {
    case '{': return read_dict(r);
    case 'c': return read_code(r);
    case ':': return read_some(r, 3);
    case ')': return read_tuple(r, 1);
    default:  return read_tuple(r, 4);
    }
}

/* Code objects stand for their names. */
static bool name_of_code(struct marshal_reader *r, size_t first, struct marshal_value *out)
{
    *out = r->into->values[r->waiting[first + NAME_OF_CODE]];
    r->n_waiting = first;
    return out->kind == MARSHAL_TEXT || bad(r, "code without a name ends");
}

static bool read_container(struct marshal_reader *r, char type, struct marshal_value *out)
{
    if (++r->depth > MOST_DEPTH)
        return bad(r, "values nested deeper than in any profile");
    size_t first = r->n_waiting;
    if (!read_inside(r, type))
        return false;
    r->depth--;
    if (type == 'c')
        return name_of_code(r, first, out);
    struct marshal *m = r->into;
    size_t n = r->n_waiting - first;
    enum marshal_kind kind = type == '{' ? MARSHAL_DICT : type == '(' || type == ')' ? MARSHAL_TUPLE : MARSHAL_OTHER;
    *out = (struct marshal_value){.kind = kind, .n = (uint32_t)n, .first = m->n_inside};
    if (!n)
        return true;
    GROW(m->inside, m->cap_inside, m->n_inside + n);
    memcpy(m->inside + m->n_inside, r->waiting + first, n * sizeof *m->inside);
    m->n_inside += n;
    r->n_waiting = first;
    return true;
}

static bool read_typed(struct marshal_reader *r, char type, struct marshal_value *out)
{
    switch (type) {
    case 'z': case 'Z':                               return read_text(r, 1, out);
    case 'a': case 'A': case 'u': case 't': case 's': return read_text(r, 4, out);
    case 'i':                                         return read_int(r, 4, out);
    case 'I':                                         return read_int(r, 8, out);
    case 'l':                                         return read_long(r, out);
    case 'g':                                         return read_real(r, out);
    case 'f':                                         return read_real_text(r, out);
    case 'T': case 'F':
        *out = (struct marshal_value){.kind = MARSHAL_BOOL, .whole = type == 'T'};
        return true;
    case 'N': case '.': case 'S':                     return read_other(r, 0, out);
    case 'y':                                         return read_other(r, 16, out);
    case '{': case '(': case ')': case '[': case '<': case '>': case ':': case 'c':
        return read_container(r, type, out);
    default:
        r->at--;
        return bad(r, "a value that no profile holds");
    }
}

static bool read_reference(struct marshal_reader *r, uint32_t *out_row)
{
    uint64_t n;
    if (!take_number(r, 4, &n))
        return false;
    if (n >= r->n_numbered || r->numbered[n] == NOT_COMPLETE)
        return bad(r, "a reference to nothing");
    *out_row = r->numbered[n];
    return true;
}

/* Numbers are given when the type is met, so a container comes before what it holds. */
static bool read_value(struct marshal_reader *r, uint32_t *out_row)
{
    const unsigned char *type = r->at;
    struct marshal_value v;
    uint32_t number = NOT_COMPLETE;
    if (!take_bytes(r, 1, &type))
        return false;
    if (*type == 'r')
        return read_reference(r, out_row);
    if (*type & IS_NUMBERED) {
        number = (uint32_t)r->n_numbered;
        GROW(r->numbered, r->cap_numbered, r->n_numbered + 1);
        r->numbered[r->n_numbered++] = NOT_COMPLETE;
    }
    return read_typed(r, (char)(*type & ~IS_NUMBERED), &v) && add(r, v, number, out_row);
}

bool marshal_read(struct view bytes, struct marshal *out, struct err *e)
{
    const unsigned char *begin = (const unsigned char *)bytes.at;
    *out = (struct marshal){0};
    struct marshal_reader r = {.begin = begin, .at = begin, .end = begin + bytes.n, .into = out, .e = e};
    uint32_t root;
    bool read = read_value(&r, &root);
    if (read && r.at < r.end)
        read = bad(&r, "the profile is complete, but more follows");
    free(r.numbered);
    free(r.waiting);
    return read;
}

void marshal_done(struct marshal *m)
{
    free(m->values);
    free(m->inside);
    *m = (struct marshal){0};
}
