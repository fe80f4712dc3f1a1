#include "symbols/name_table.h"
#include "base/mem.h"
#include "symbols/demangle.h"

void name_table_init(struct name_table *t)
{
    *t = (struct name_table){0};
    intern_init(&t->texts);
    buf_init(&t->scratch, DEMANGLED_MOST);
}

void name_table_done(struct name_table *t)
{
    intern_done(&t->texts);
    buf_done(&t->scratch);
    free(t->shown);
    *t = (struct name_table){0};
}

struct view name_table_keep(struct name_table *t, struct view text)
{
    uint32_t row = intern(&t->texts, text);
    return t->texts.rows[row];
}

/* Link-time optimisation makes local names unique with ".llvm." and a number; nobody wrote that. */
static struct view without_number(struct view name)
{
    const char *at = name.n ? memmem(name.at, name.n, ".llvm.", 6) : NULL;
    return at && at > name.at ? view_between(name.at, at) : name;
}

struct view name_table_demangled(struct name_table *t, struct view mangled)
{
    uint32_t row = intern(&t->texts, without_number(mangled));
    size_t known = t->cap_shown;
    GROW(t->shown, t->cap_shown, (size_t)row + 1);
    if (t->cap_shown > known)
        memset(t->shown + known, 0, (t->cap_shown - known) * sizeof *t->shown);
    if (!t->shown[row]) {
        buf_clear(&t->scratch);
        bool is_mangled = demangle(t->texts.rows[row].at, &t->scratch);
        t->shown[row] = is_mangled ? intern(&t->texts, buf_view(&t->scratch)) : row;
    }
    return t->texts.rows[t->shown[row]];
}

size_t name_table_bytes(const struct name_table *t)
{
    return t->texts.texts.held_bytes + t->texts.cap * sizeof *t->texts.rows + t->cap_shown * sizeof *t->shown +
           (t->texts.map.mask + 1) * sizeof *t->texts.map.slots + t->scratch.cap;
}
