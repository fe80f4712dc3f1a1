#include "analyse/span_memory.h"

bool span_memory_of(struct span_memory *m, const struct profile *p, const struct span *s)
{
    const struct label *allocations = profile_label(p, s->labels, VIEW("allocations"));
    const struct label *bytes = profile_label(p, s->labels, VIEW("allocated"));
    if (!allocations || !bytes || allocations->number < 0 || bytes->number < 0)
        return false;
    *m = (struct span_memory){allocations->number, bytes->number};
    return true;
}

/* A counter only grows, unless the program begins again. */
static double most_read(const struct series *s)
{
    double most = 0;
    for (size_t i = 0; i < s->n; i++)
        most = s->readings[i].value > most ? s->readings[i].value : most;
    return most;
}

uint64_t tokens_of_run(const struct profile *p)
{
    uint64_t n = 0;
    double counted = 0;
    for (uint32_t i = 1; i <= profile_spans(p); i++)
        n += profile_span(p, (span_id){i})->kind == SPAN_TOKEN;
    for (uint32_t i = 0; i < profile_series_count(p); i++) {
        const struct series *s = profile_series(p, (series_id){i});
        if (s->unit == UNIT_COUNT && view_same(profile_string(p, s->name), VIEW("tokens"))) {
            double most = most_read(s);
            counted = most > counted ? most : counted;
        }
    }
    return n ? n : counted < 0x1p53 ? (uint64_t)counted : 0;
}
