#include "formats/pprof_units.h"
#include "base/text.h"

static const struct row {
    struct view word;
    enum unit unit;
    int64_t factor;
} rows[] = {
    {VIEW("count"),        UNIT_COUNT, 1},
    {VIEW(""),             UNIT_COUNT, 1},
    {VIEW("nanoseconds"),  UNIT_NS,    1},
    {VIEW("nanosecond"),   UNIT_NS,    1},
    {VIEW("ns"),           UNIT_NS,    1},
    {VIEW("microseconds"), UNIT_NS,    1000},
    {VIEW("microsecond"),  UNIT_NS,    1000},
    {VIEW("us"),           UNIT_NS,    1000},
    {VIEW("milliseconds"), UNIT_NS,    1000000},
    {VIEW("millisecond"),  UNIT_NS,    1000000},
    {VIEW("ms"),           UNIT_NS,    1000000},
    {VIEW("seconds"),      UNIT_NS,    1000000000},
    {VIEW("second"),       UNIT_NS,    1000000000},
    {VIEW("s"),            UNIT_NS,    1000000000},
    {VIEW("bytes"),        UNIT_BYTES, 1},
    {VIEW("byte"),         UNIT_BYTES, 1},
    {VIEW("kilobytes"),    UNIT_BYTES, 1 << 10},
    {VIEW("kb"),           UNIT_BYTES, 1 << 10},
    {VIEW("megabytes"),    UNIT_BYTES, 1 << 20},
    {VIEW("mb"),           UNIT_BYTES, 1 << 20},
    {VIEW("gigabytes"),    UNIT_BYTES, 1 << 30},
    {VIEW("gb"),           UNIT_BYTES, 1 << 30},
};

/* "1e-3 count" is "count" with three decimals. */
static struct view without_scale(struct view word, unsigned *out_decimals)
{
    const char *blank = word.n > 4 && view_starts(word, VIEW("1e-")) ? memchr(word.at, ' ', word.n) : NULL;
    uint64_t n;
    *out_decimals = 0;
    if (!blank || !text_to_uint(view_between(word.at + 3, blank), &n) || n > 18)
        return word;
    *out_decimals = (unsigned)n;
    return view_between(blank + 1, word.at + word.n);
}

struct pprof_unit pprof_unit_of(struct view word)
{
    struct pprof_unit u = {.unit = UNIT_OTHER, .factor = 1};
    u.name = without_scale(word, &u.decimals);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (view_same(u.name, rows[i].word)) {
            u.unit = rows[i].unit;
            u.factor = rows[i].factor;
            u.name = VIEW("");
            break;
        }
    return u;
}

void pprof_unit_word(struct buf *out, const struct profile *p, const struct measure *m)
{
    static const char *const words[UNIT_KIND_COUNT] = {
        [UNIT_COUNT] = "count", [UNIT_NS] = "nanoseconds", [UNIT_BYTES] = "bytes", [UNIT_OTHER] = "count",
    };
    struct view name = profile_string(p, m->unit_name);
    if (m->decimals)
        buf_printf(out, "1e-%u ", m->decimals);
    if (name.n && m->unit != UNIT_NS && m->unit != UNIT_BYTES)
        buf_add(out, name.at, name.n);
    else
        buf_puts(out, words[m->unit]);
}
