#include "analyse/memory_use.h"
#include "base/mem.h"

#include <math.h>

const char *const memory_kind_names[MEMORY_KIND_COUNT + 1] = {
    [MEMORY_USE_RSS] = "rss",       [MEMORY_USE_ANON] = "anon", [MEMORY_USE_FILE] = "file",
    [MEMORY_USE_SHARED] = "shared", [MEMORY_USE_SWAP] = "swap", [MEMORY_USE_PSS] = "pss",
};

/* Series. */

double series_last(const struct series *s)
{
    size_t i = s ? s->n : 0;
    while (i && isnan(s->readings[i - 1].value))
        i--;
    return i ? s->readings[i - 1].value : NAN;
}

double series_most(const struct series *s)
{
    double most = NAN;
    for (size_t i = 0; s && i < s->n; i++)
        most = fmax(most, s->readings[i].value); /* passes over NAN */
    return most;
}

double series_at(const struct series *s, uint64_t time_ns)
{
    double value = NAN;
    for (size_t i = 0; s && i < s->n && s->readings[i].time_ns <= time_ns; i++)
        value = s->readings[i].value;
    return value;
}

/* Labels. */

static struct view text_label(const struct profile *p, const struct series *s, struct view key)
{
    const struct label *l = profile_label(p, s->labels, key);
    return l ? profile_string(p, l->text) : VIEW("");
}

static int64_t number_label(const struct profile *p, const struct series *s, struct view key)
{
    const struct label *l = profile_label(p, s->labels, key);
    return l ? l->number : 0;
}

/* Sorting them out. */

struct lists {
    struct memory_use use;
    size_t owners_cap, mappings_cap;
};

static struct memory_owner *owner_of(struct lists *l, const struct profile *p, const struct series *s)
{
    int64_t pid = number_label(p, s, VIEW("pid"));
    struct view name = text_label(p, s, VIEW("process"));
    for (size_t i = 0; i < l->use.n_owners; i++)
        if (l->use.owners[i].pid == pid && view_same(l->use.owners[i].name, name))
            return &l->use.owners[i];
    GROW(l->use.owners, l->owners_cap, l->use.n_owners + 1);
    l->use.owners[l->use.n_owners] = (struct memory_owner){.pid = pid, .name = name};
    return &l->use.owners[l->use.n_owners++];
}

static struct memory_mapping *mapping_of(struct lists *l, const struct profile *p, const struct series *s)
{
    struct memory_mapping is = {
        .pid = number_label(p, s, VIEW("pid")), .kind = text_label(p, s, VIEW("map_kind")), .path = text_label(p, s, VIEW("path")),
        .region = text_label(p, s, VIEW("region")), .is_weights = number_label(p, s, VIEW("weights")) == 1, .first_ns = UINT64_MAX,
    };
    for (size_t i = 0; i < l->use.n_mappings; i++) {
        struct memory_mapping *m = &l->use.mappings[i];
        if (m->pid == is.pid && view_same(m->kind, is.kind) && view_same(m->path, is.path) && view_same(m->region, is.region))
            return m;
    }
    GROW(l->use.mappings, l->mappings_cap, l->use.n_mappings + 1);
    l->use.mappings[l->use.n_mappings] = is;
    return &l->use.mappings[l->use.n_mappings++];
}

static bool take_of_owner(struct lists *l, const struct profile *p, const struct series *s, struct view name)
{
    for (size_t i = 0; i < MEMORY_KIND_COUNT; i++) {
        if (view_same(name, view_of(memory_kind_names[i]))) {
            owner_of(l, p, s)->of[i] = s;
            return true;
        }
    }
    return false;
}

static void take_of_mapping(struct lists *l, const struct profile *p, const struct series *s, struct view name)
{
    static const struct {
        struct view name;
        size_t at;
    } parts[] = {
        {VIEW("mapped"), offsetof(struct memory_mapping, mapped)},
        {VIEW("resident"), offsetof(struct memory_mapping, resident)},
        {VIEW("touched"), offsetof(struct memory_mapping, touched)},
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (!view_same(name, parts[i].name))
            continue;
        struct memory_mapping *m = mapping_of(l, p, s);
        memcpy((char *)m + parts[i].at, &s, sizeof s);
        if (s->n && s->readings[0].time_ns < m->first_ns)
            m->first_ns = s->readings[0].time_ns;
    }
}

static int by_most(const void *pa, const void *pb)
{
    const struct memory_owner *a = pa, *b = pb;
    double x = a->most[MEMORY_USE_RSS], y = b->most[MEMORY_USE_RSS];
    return x != y ? (x < y) - (x > y) : (a->pid > b->pid) - (a->pid < b->pid);
}

static int by_resident(const void *pa, const void *pb)
{
    const struct memory_mapping *a = pa, *b = pb;
    double x = isnan(a->most_resident_bytes) ? a->mapped_bytes : a->most_resident_bytes;
    double y = isnan(b->most_resident_bytes) ? b->mapped_bytes : b->most_resident_bytes;
    int order = (x < y) - (x > y);
    order = order ? order : view_compare(a->path, b->path);
    order = order ? order : view_compare(a->region, b->region);
    return order ? order : view_compare(a->kind, b->kind);
}

static void add_up(struct memory_use *m)
{
    for (size_t i = 0; i < m->n_owners; i++) {
        for (size_t k = 0; k < MEMORY_KIND_COUNT; k++) {
            m->owners[i].most[k] = series_most(m->owners[i].of[k]);
            m->owners[i].last[k] = series_last(m->owners[i].of[k]);
        }
    }
    for (size_t i = 0; i < m->n_mappings; i++) {
        struct memory_mapping *r = &m->mappings[i];
        r->mapped_bytes = series_last(r->mapped);
        r->resident_bytes = series_last(r->resident);
        r->most_resident_bytes = series_most(r->resident);
        r->touched_bytes = series_last(r->touched);
    }
    if (m->n_owners)
        qsort(m->owners, m->n_owners, sizeof *m->owners, by_most);
    if (m->n_mappings)
        qsort(m->mappings, m->n_mappings, sizeof *m->mappings, by_resident);
}

bool memory_use_of(const struct profile *p, struct memory_use *out)
{
    struct lists l = {0};
    struct view memory = VIEW("memory.");
    for (uint32_t i = 0; i < profile_series_count(p); i++) {
        const struct series *s = profile_series(p, (series_id){i});
        struct view name = profile_string(p, s->name);
        if (!view_starts(name, memory) || s->unit != UNIT_BYTES || !s->n)
            continue;
        struct view part = {name.at + memory.n, name.n - memory.n};
        if (!take_of_owner(&l, p, s, part))
            take_of_mapping(&l, p, s, part);
    }
    add_up(&l.use);
    *out = l.use;
    return out->n_owners || out->n_mappings;
}

void memory_use_done(struct memory_use *m)
{
    free(m->owners);
    free(m->mappings);
    *m = (struct memory_use){0};
}
