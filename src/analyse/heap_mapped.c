#include "analyse/heap_mapped.h"
#include "analyse/heap.h"
#include "analyse/sampling.h"
#include "base/idmap.h"
#include "base/mem.h"

static bool same_row(const void *rows, uint32_t i, const void *key)
{
    const struct heap_mapped_row *a = (const struct heap_mapped_row *)rows + i, *b = key;
    return a->node == b->node && a->kind.i == b->kind.i && a->path.i == b->path.i && a->is_weights == b->is_weights;
}

static struct heap_mapped_row *row_for(struct heap_mapped *m, struct idmap *map, struct heap_mapped_row key)
{
    uint32_t words[] = {key.node, key.kind.i, key.path.i, key.is_weights};
    uint64_t h = idmap_hash(map, words, sizeof words);
    uint32_t found = idmap_find(map, h, same_row, m->rows, &key);
    if (found == IDMAP_NONE) {
        GROW(m->rows, m->cap, m->n + 1);
        found = (uint32_t)m->n++;
        m->rows[found] = key;
        idmap_add(map, h, found);
    }
    return &m->rows[found];
}

static str_id label_text(const struct profile *p, labels_id labels, const char *key)
{
    const struct label *l = profile_label(p, labels, view_of(key));
    return l ? l->text : (str_id){0};
}

static int most_live_first(const void *pa, const void *pb)
{
    const struct heap_mapped_row *a = pa, *b = pb;
    if (a->live_bytes != b->live_bytes)
        return a->live_bytes < b->live_bytes ? 1 : -1;
    if (a->mapped_bytes != b->mapped_bytes)
        return a->mapped_bytes < b->mapped_bytes ? 1 : -1;
    if (a->path.i != b->path.i)
        return a->path.i < b->path.i ? -1 : 1;
    return (a->node > b->node) - (a->node < b->node);
}

static void add_rows(struct heap_mapped *m, const struct profile *p, const struct sample_set *set, const uint32_t *node_of)
{
    size_t bytes = measure_named(p, set, VIEW("mapped_space")), objects = measure_named(p, set, VIEW("mapped_objects"));
    struct idmap map;
    idmap_init(&map);
    for (size_t i = 0; i < set->n; i++) {
        labels_id labels = set->contexts ? profile_context(p, set->contexts[i])->labels : (labels_id){0};
        const struct label *weights = profile_label(p, labels, VIEW("weights"));
        struct heap_mapped_row *to = row_for(m, &map, (struct heap_mapped_row){
            .node = node_of[set->stacks[i].i], .kind = label_text(p, labels, "map_kind"), .path = label_text(p, labels, "path"),
            .is_weights = weights && weights->number});
        int64_t change = set->values[bytes][i];
        to->live_bytes = heap_sum(to->live_bytes, change);
        to->mapped_bytes = heap_sum(to->mapped_bytes, change > 0 ? change : 0);
        to->live_count = heap_sum(to->live_count, objects < set->n_measures ? set->values[objects][i] : 0);
    }
    idmap_done(&map);
}

bool heap_mapped_of(struct heap_mapped *m, const struct profile *p)
{
    const struct sample_set *set = set_named(p, VIEW("mappings"));
    *m = (struct heap_mapped){0};
    if (!set || measure_named(p, set, VIEW("mapped_space")) == set->n_measures)
        return false;
    own(free) uint32_t *node_of = NULL;
    m->tree = call_tree_with_ends(p, set, measure_named(p, set, VIEW("mapped_space")), false, &node_of);
    add_rows(m, p, set, node_of);
    qsort(m->rows, m->n, sizeof *m->rows, most_live_first);
    return true;
}

void heap_mapped_done(struct heap_mapped *m)
{
    call_tree_done(&m->tree);
    free(m->rows);
    *m = (struct heap_mapped){0};
}
