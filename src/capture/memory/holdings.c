#include "capture/memory/holdings.h"
#include "base/mem.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/sysmacros.h>

/* What is being read, before it replaces what was there. Rows 0 .. MAP_KIND_COUNT are the rests, by kind. */
struct maps_reading {
    struct holdings fresh;
    size_t last;       /* row of the line before */
    uint64_t last_end; /* where it ended */
};

static void rows_free(struct holdings *h)
{
    for (size_t i = 0; i < h->n; i++)
        free(h->rows[i].path);
    free(h->rows);
    free(h->stretches);
}

void holdings_done(struct holdings *h)
{
    rows_free(h);
    *h = (struct holdings){0};
}

static size_t row_add(struct holdings *h, struct holding row)
{
    GROW(h->rows, h->cap, h->n + 1);
    h->rows[h->n] = row;
    return h->n++;
}

/* Lines of a file stand together, mostly: its last row is tried first. */
static size_t file_row(struct maps_reading *r, const struct map_news *m, enum map_kind kind)
{
    uint64_t device = makedev(m->device_major, m->device_minor);
    struct view path = map_path(m);
    for (size_t i = r->fresh.n; i-- > MAP_KIND_COUNT;) {
        const struct holding *row = &r->fresh.rows[i];
        if (row->path && row->inode == m->inode && row->device == device && view_same(view_of(row->path), path))
            return i;
    }
    return row_add(&r->fresh, (struct holding){.kind = kind, .path = mem_text(path.at, path.n), .device = device, .inode = m->inode,
                                               .start = m->start});
}

static size_t region_row(struct maps_reading *r, const struct map_news *m, enum map_kind kind)
{
    bool goes_on = r->last >= MAP_KIND_COUNT && r->last_end == m->start && r->fresh.rows[r->last].kind == kind && !r->fresh.rows[r->last].path;
    return goes_on ? r->last : row_add(&r->fresh, (struct holding){.kind = kind, .region = m->start, .start = m->start});
}

static void take_line(struct maps_reading *r, struct view line)
{
    struct map_news m;
    enum map_kind kind;
    if (!maps_line_parse(line, &m) || m.length > UINT64_MAX - m.start || !map_kind_of(&m, &kind))
        return;
    if (r->fresh.n_stretches == STRETCHES_MOST) {
        r->fresh.left_out++;
        return;
    }
    size_t row = kind == MAP_ANON ? region_row(r, &m, kind) : m.path.n && m.path.at[0] == '/' ? file_row(r, &m, kind) : (size_t)kind;
    struct holding *h = &r->fresh.rows[row];
    h->mapped_bytes += m.length;
    h->end = m.start + m.length;
    GROW(r->fresh.stretches, r->fresh.stretches_cap, r->fresh.n_stretches + 1);
    r->fresh.stretches[r->fresh.n_stretches++] = (struct stretch){m.start, h->end, (uint32_t)row};
    r->last = row;
    r->last_end = h->end;
}

/* Who was there before. */

static uint64_t common_bytes(const struct holding *a, const struct holding *b)
{
    uint64_t from = a->start > b->start ? a->start : b->start, to = a->end < b->end ? a->end : b->end;
    return to > from ? to - from : 0;
}

/* How much speaks for it that `now` is what `before` was; 0: nothing. */
static uint64_t likeness(const struct holding *before, const struct holding *now)
{
    if (before->kind != now->kind || before->is_rest || now->is_rest || !before->path != !now->path || !before->mapped_bytes)
        return 0;
    if (before->path)
        return before->inode == now->inode && before->device == now->device && !strcmp(before->path, now->path);
    return common_bytes(before, now);
}

static void inherit(struct holding *now, struct holding *before)
{
    now->region = before->region;
    now->mapped = before->mapped;
    now->resident = before->resident;
    now->has_mapped = before->has_mapped;
    now->has_resident = before->has_resident;
    now->touched = before->touched;
    now->has_touched = before->has_touched;
    now->said_mapped_bytes = before->said_mapped_bytes;
    before->has_mapped = before->has_resident = false; /* it lives on */
}

static void find_heir(struct holding *before, struct holdings *fresh)
{
    struct holding *heir = NULL;
    uint64_t best = 0;
    for (size_t i = MAP_KIND_COUNT; i < fresh->n; i++) {
        uint64_t like = likeness(before, &fresh->rows[i]);
        if (like > best && !fresh->rows[i].has_mapped) {
            best = like;
            heir = &fresh->rows[i];
        }
    }
    if (heir)
        inherit(heir, before);
}

static void inherit_all(struct holdings *old, struct holdings *fresh)
{
    for (size_t i = 0; i < old->n; i++) {
        struct holding *before = &old->rows[i];
        if (!before->has_mapped)
            continue;
        if (before->is_rest)
            inherit(&fresh->rows[before->kind], before);
        else
            find_heir(before, fresh);
    }
    for (size_t i = 0; i < old->n; i++) { /* those without an heir have a last word */
        struct holding gone = old->rows[i];
        if (!gone.has_mapped || !gone.mapped_bytes)
            continue;
        old->rows[i].path = NULL;
        gone.mapped_bytes = gone.start = gone.end = 0;
        row_add(fresh, gone);
    }
}

/* Who has a name of its own. */

static int larger_first(const void *pa, const void *pb)
{
    const struct holding *a = *(struct holding *const *)pa, *b = *(struct holding *const *)pb;
    int known = b->has_mapped - a->has_mapped; /* who has a name keeps it */
    int size = (a->mapped_bytes < b->mapped_bytes) - (a->mapped_bytes > b->mapped_bytes);
    return known ? known : size ? size : (a > b) - (a < b);
}

static bool is_worth_a_name(const struct holding *h)
{
    return h->has_mapped || h->is_weights || h->mapped_bytes >= HOLDING_LEAST;
}

static void give_to_rest(struct holdings *h, struct holding *small, uint32_t *row_of)
{
    struct holding *rest = &h->rows[small->kind];
    rest->mapped_bytes += small->mapped_bytes;
    row_of[small - h->rows] = (uint32_t)small->kind;
    free(small->path);
    small->path = NULL;
    small->mapped_bytes = 0;
}

/* Says for each row where its stretches belong: to itself, or to the rest of its kind. */
static void choose_names(struct holdings *h, uint32_t *row_of)
{
    own(free) struct holding **order = mem_new((h->n + 1) * sizeof *order);
    for (size_t i = 0; i < h->n; i++) {
        order[i] = &h->rows[i];
        row_of[i] = (uint32_t)i;
        h->rows[i].is_rest = i < MAP_KIND_COUNT;
        h->rows[i].is_weights = h->rows[i].path && h->rows[i].kind == MAP_FILE_PAGES &&
                                map_is_weights(view_of(h->rows[i].path), h->rows[i].mapped_bytes);
    }
    for (size_t i = 0; i < MAP_KIND_COUNT; i++)
        h->rows[i].kind = (enum map_kind)i;
    qsort(order, h->n, sizeof *order, larger_first);
    size_t own_names = 0;
    for (size_t i = 0; i < h->n; i++) {
        if (order[i]->is_rest || (order[i]->has_mapped && !order[i]->mapped_bytes))
            continue;
        if (is_worth_a_name(order[i]) && own_names < HOLDINGS_OWN)
            own_names++;
        else if (!order[i]->has_mapped)
            give_to_rest(h, order[i], row_of);
    }
}

/* In order of size. */

static int by_size(const void *pa, const void *pb)
{
    const struct holding *a = pa, *b = pb;
    int size = (a->mapped_bytes < b->mapped_bytes) - (a->mapped_bytes > b->mapped_bytes);
    return size ? size : (a->start > b->start) - (a->start < b->start);
}

static int by_holding(const void *pa, const void *pb)
{
    const struct stretch *a = pa, *b = pb;
    int row = (a->holding > b->holding) - (a->holding < b->holding);
    return row ? row : (a->start > b->start) - (a->start < b->start);
}

/* `pages` is free until the counting begins: it carries a row's old number through the sorting. */
static void sort(struct holdings *h, const uint32_t *row_of)
{
    own(free) uint32_t *moved = mem_new((h->n + 1) * sizeof *moved);
    size_t kept = 0, n = h->n;
    for (size_t i = 0; i < n; i++)
        h->rows[i].pages.file = i;
    for (size_t i = 0; i < n; i++)
        if (h->rows[i].mapped_bytes || h->rows[i].has_mapped)
            h->rows[kept++] = h->rows[i];
    h->n = kept;
    if (kept)
        qsort(h->rows, kept, sizeof *h->rows, by_size);
    for (size_t i = 0; i < kept; i++) {
        moved[h->rows[i].pages.file] = (uint32_t)i;
        h->rows[i].pages = (struct page_count){0};
    }
    for (size_t i = 0; i < h->n_stretches; i++)
        h->stretches[i].holding = moved[row_of[h->stretches[i].holding]];
    if (h->n_stretches)
        qsort(h->stretches, h->n_stretches, sizeof *h->stretches, by_holding);
}

bool holdings_take(struct holdings *h, struct reader *maps, struct err *e)
{
    struct maps_reading r = {0};
    struct err failed = {0};
    struct view line;
    for (size_t i = 0; i < MAP_KIND_COUNT; i++)
        row_add(&r.fresh, (struct holding){.kind = (enum map_kind)i, .is_rest = true});
    while (reader_line(maps, &line, &failed))
        take_line(&r, line);
    if (failed.kind || !r.fresh.n_stretches) { /* a process that has ended shows an empty list */
        rows_free(&r.fresh);
        return failed.kind ? err_set(e, failed.kind, "%s", failed.text) : err_set(e, ERR_NOT_FOUND, "nothing is mapped");
    }
    inherit_all(h, &r.fresh);
    own(free) uint32_t *row_of = mem_new(r.fresh.n * sizeof *row_of);
    choose_names(&r.fresh, row_of);
    sort(&r.fresh, row_of);
    rows_free(h);
    *h = r.fresh;
    return true;
}

bool holdings_read(struct holdings *h, const struct host *host, int32_t pid, struct err *e)
{
    char path[320];
    snprintf(path, sizeof path, "%s/proc/%" PRId32 "/maps", host->root, pid);
    own(reader) struct reader r;
    return reader_open(&r, path, e) && holdings_take(h, &r, e);
}
