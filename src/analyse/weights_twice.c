#include "analyse/weights_twice.h"

#include <math.h>
#include <stdlib.h>

/* Still mapped, and in memory to a good part. */
static bool is_candidate(const struct memory_mapping *f)
{
    return f->is_weights && f->mapped_bytes > 0 && f->resident_bytes >= WEIGHTS_LEAST_BYTES && f->resident_bytes >= 0.1 * f->mapped_bytes;
}

static bool is_used(const struct memory_mapping *f)
{
    return !isnan(f->touched_bytes) && f->touched_bytes > WEIGHTS_IDLE_MOST * f->resident_bytes;
}

static bool is_taken(const struct memory_mapping *region, const struct weights_twice *found, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (found[i].region == region)
            return true;
    return false;
}

static bool is_copy_of(const struct memory_mapping *f, const struct memory_mapping *r, double bytes)
{
    return bytes >= WEIGHTS_COPY_LEAST * f->mapped_bytes && bytes <= WEIGHTS_COPY_MOST * f->mapped_bytes && r->resident_bytes >= 0.9 * bytes;
}

/* What the region has grown by since the file was there; where both were seen in the same look, it may be all of it. */
static bool match(const struct memory_mapping *f, const struct memory_mapping *r, struct weights_twice *out)
{
    if (r->pid != f->pid || !r->region.n || !r->mapped || !view_same(r->kind, VIEW("anon")))
        return false;
    double before = r->first_ns <= f->first_ns ? series_at(r->mapped, f->first_ns) : 0, grown = r->mapped_bytes - before;
    bool is_order_seen = is_copy_of(f, r, grown);
    if (!is_order_seen && !(r->first_ns == f->first_ns && is_copy_of(f, r, r->mapped_bytes)))
        return false;
    *out = (struct weights_twice){
        .file = f, .region = r, .saving_bytes = f->resident_bytes, .copy_bytes = is_order_seen ? grown : r->mapped_bytes,
        .is_order_seen = is_order_seen, .is_touch_known = !isnan(f->touched_bytes),
    };
    return true;
}

static double distance(const struct weights_twice *w) { return fabs(w->copy_bytes / w->file->mapped_bytes - 1); }

static int larger_first(const void *pa, const void *pb)
{
    const struct weights_twice *a = pa, *b = pb;
    return (a->saving_bytes < b->saving_bytes) - (a->saving_bytes > b->saving_bytes);
}

size_t weights_twice_of(const struct memory_use *m, struct weights_twice *out, size_t most)
{
    size_t n = 0;
    for (size_t i = 0; i < m->n_mappings && n < most; i++) {
        const struct memory_mapping *f = &m->mappings[i];
        struct weights_twice best = {0}, w;
        if (!is_candidate(f) || is_used(f))
            continue;
        for (size_t k = 0; k < m->n_mappings; k++)
            if (!is_taken(&m->mappings[k], out, n) && match(f, &m->mappings[k], &w) && (!best.file || distance(&w) < distance(&best)))
                best = w;
        if (best.file)
            out[n++] = best;
    }
    if (n)
        qsort(out, n, sizeof *out, larger_first);
    return n;
}
