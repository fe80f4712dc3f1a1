#include "formats/id_table.h"
#include "base/mem.h"

#include <inttypes.h>
#include <stdlib.h>

void id_table_init(struct id_table *t) { idmap_init(&t->map); }

void id_table_done(struct id_table *t)
{
    free(t->ids);
    idmap_done(&t->map);
}

static bool same_id(const void *ids, uint32_t row, const void *key)
{
    return ((const uint64_t *)ids)[row] == *(const uint64_t *)key;
}

uint32_t id_table_find(const struct id_table *t, uint64_t id)
{
    if (id - 1 < t->n && t->ids[id - 1] == id)
        return (uint32_t)(id - 1);
    return idmap_find(&t->map, idmap_hash(&t->map, &id, sizeof id), same_id, t->ids, &id);
}

bool id_table_add(struct id_table *t, uint64_t id, const char *what, struct err *e)
{
    if (!id)
        return err_set(e, ERR_MALFORMED, "%s number %zu has no id", what, t->n + 1);
    if (id_table_find(t, id) != IDMAP_NONE)
        return err_set(e, ERR_MALFORMED, "%s %" PRIu64 " is there twice", what, id);
    if (t->n == IDMAP_NONE)
        return err_set(e, ERR_LIMIT, "more than 4 294 967 295 of %s", what);
    GROW(t->ids, t->cap, t->n + 1);
    t->ids[t->n] = id;
    if (id - 1 != t->n)
        idmap_add(&t->map, idmap_hash(&t->map, &id, sizeof id), (uint32_t)t->n);
    t->n++;
    return true;
}
