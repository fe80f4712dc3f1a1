#include "analyse/heap_turns.h"
#include "analyse/span_memory.h"
#include "base/idmap.h"
#include "base/mem.h"

#include <math.h>

static bool same_label(const void *rows, uint32_t i, const void *key)
{
    const struct heap_turn *a = (const struct heap_turn *)rows + i, *b = key;
    return a->text.i == b->text.i && a->number == b->number;
}

static uint64_t hash_of(const struct idmap *m, const struct heap_turn *t)
{
    int64_t words[] = {t->text.i, t->number};
    return idmap_hash(m, words, sizeof words);
}

static uint64_t end_of(const struct span *s)
{
    uint64_t end;
    return __builtin_add_overflow(s->start_ns, s->length_ns, &end) ? TIME_NONE : end;
}

/* The request that labels speak of; false: of none. */
static bool request_of(const struct profile *p, labels_id labels, struct heap_turn *out)
{
    const struct label *l = profile_label(p, labels, VIEW("request"));
    if (!l)
        return false;
    out->is_named = true;
    out->text = l->text;
    out->number = l->number;
    return true;
}

static void add_turn(struct heap_turns *t, struct heap_turn row)
{
    GROW(t->rows, t->cap, t->n + 1);
    t->rows[t->n++] = row;
}

static int64_t known_sum(int64_t a, int64_t b) { return a == HEAP_UNKNOWN ? b : b == HEAP_UNKNOWN ? a : heap_sum(a, b); }

static struct heap_turn turn_of(const struct profile *p, const struct span *s)
{
    struct span_memory m = {HEAP_UNKNOWN, HEAP_UNKNOWN};
    span_memory_of(&m, p, s);
    return (struct heap_turn){.start_ns = s->start_ns, .end_ns = end_of(s), .allocations = m.allocations, .bytes = m.bytes};
}

/* Another span of the same turn. */
static void widen(struct heap_turn *t, const struct heap_turn *more)
{
    if (more->end_ns > t->end_ns) /* spans are in order of their start */
        t->end_ns = more->end_ns;
    t->allocations = known_sum(t->allocations, more->allocations);
    t->bytes = known_sum(t->bytes, more->bytes);
}

static void add_requests(struct heap_turns *t, const struct profile *p, struct idmap *map)
{
    for (uint32_t i = 1; i <= profile_spans(p); i++) {
        const struct span *s = profile_span(p, (span_id){i});
        struct heap_turn row = turn_of(p, s);
        if (s->kind != SPAN_REQUEST)
            continue;
        if (!request_of(p, s->labels, &row)) {
            add_turn(t, row);
            continue;
        }
        uint64_t h = hash_of(map, &row);
        uint32_t found = idmap_find(map, h, same_label, t->rows, &row);
        if (found == IDMAP_NONE) {
            idmap_add(map, h, (uint32_t)t->n);
            add_turn(t, row);
        } else {
            widen(&t->rows[found], &row);
        }
    }
}

static str_id commonest_phase(const struct profile *p)
{
    own(free) uint32_t *counts = mem_new(profile_strings(p) * sizeof *counts);
    str_id best = {0};
    for (uint32_t i = 1; i <= profile_spans(p); i++) {
        const struct span *s = profile_span(p, (span_id){i});
        if (s->kind == SPAN_PHASE && ++counts[s->name.i] > counts[best.i])
            best = s->name;
    }
    return best;
}

static void add_phases(struct heap_turns *t, const struct profile *p)
{
    t->kind = SPAN_PHASE;
    t->phase = commonest_phase(p);
    for (uint32_t i = 1; i <= profile_spans(p); i++) {
        const struct span *s = profile_span(p, (span_id){i});
        if (s->kind == SPAN_PHASE && s->name.i == t->phase.i)
            add_turn(t, turn_of(p, s));
    }
}

static int first_ended_first(const void *pa, const void *pb)
{
    const struct heap_turn *a = pa, *b = pb;
    if (a->end_ns != b->end_ns)
        return a->end_ns < b->end_ns ? -1 : 1;
    if (a->text.i != b->text.i)
        return a->text.i < b->text.i ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

/* The rows have been sorted: another map, of the order they have now. */
static void find_contexts(struct heap_turns *t, const struct profile *p)
{
    struct idmap map;
    idmap_init(&map);
    for (uint32_t i = 0; i < t->n; i++)
        if (t->rows[i].is_named)
            idmap_add(&map, hash_of(&map, &t->rows[i]), i);
    t->by_context = mem_new(profile_contexts(p) * sizeof *t->by_context);
    for (uint32_t i = 0; i < profile_contexts(p); i++) {
        struct heap_turn key = {0};
        bool told = request_of(p, profile_context(p, (context_id){i})->labels, &key);
        t->by_context[i] = told ? idmap_find(&map, hash_of(&map, &key), same_label, t->rows, &key) : HEAP_NO_TURN;
    }
    idmap_done(&map);
}

struct heap_turns heap_turns_of(const struct profile *p)
{
    struct heap_turns t = {.kind = SPAN_REQUEST};
    GROW(t.rows, t.cap, 1);
    struct idmap map;
    idmap_init(&map);
    add_requests(&t, p, &map);
    idmap_done(&map);
    if (!t.n)
        add_phases(&t, p);
    if (t.n)
        qsort(t.rows, t.n, sizeof *t.rows, first_ended_first);
    find_contexts(&t, p);
    return t;
}

void heap_turns_done(struct heap_turns *t)
{
    free(t->rows);
    free(t->by_context);
    *t = (struct heap_turns){0};
}

/* False: not in all of them. */
static bool counted_per_turn(const struct heap_turns *t, struct heap_rate *out)
{
    int64_t bytes = 0, allocations = 0;
    *out = (struct heap_rate){.is_counted = true, .least_bytes = INT64_MAX};
    for (size_t i = 0; i < t->n; i++) {
        if (t->rows[i].bytes == HEAP_UNKNOWN)
            return false;
        bytes = heap_sum(bytes, t->rows[i].bytes);
        allocations = heap_sum(allocations, t->rows[i].allocations);
        out->least_bytes = t->rows[i].bytes < out->least_bytes ? t->rows[i].bytes : out->least_bytes;
        out->most_bytes = t->rows[i].bytes > out->most_bytes ? t->rows[i].bytes : out->most_bytes;
    }
    out->bytes = (double)bytes / (double)t->n;
    out->allocations = (double)allocations / (double)t->n;
    return t->n > 0;
}

struct heap_rate heap_per_turn(const struct heap *h, const struct heap_turns *t)
{
    struct heap_rate counted;
    if (counted_per_turn(t, &counted))
        return counted;
    int64_t bytes = 0, allocations = 0;
    uint64_t from = TIME_NONE, to = t->n ? t->rows[t->n - 1].end_ns : 0;
    if (!t->n || !h->set->time_ns || !heap_has(h, HEAP_BYTES) || !heap_has(h, HEAP_ALLOCS))
        return (struct heap_rate){.bytes = NAN, .allocations = NAN};
    for (size_t i = 0; i < t->n; i++)
        from = t->rows[i].start_ns < from ? t->rows[i].start_ns : from;
    uint64_t until = heap_known_at(h, to); /* the rows that tell of the last end */
    for (size_t i = 0; i < h->set->n; i++) {
        if (h->set->time_ns[i] <= from || (until != TIME_NONE && h->set->time_ns[i] > until))
            continue;
        bytes = heap_sum(bytes, heap_value(h, HEAP_BYTES, i));
        allocations = heap_sum(allocations, heap_value(h, HEAP_ALLOCS, i));
    }
    return (struct heap_rate){.bytes = (double)bytes / (double)t->n, .allocations = (double)allocations / (double)t->n};
}
