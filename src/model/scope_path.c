#include "model/scope_path.h"

#define BETWEEN " > "
#define NOT_BETWEEN " >\xc2\xa0"

static const char *find(struct view text, struct view what) { return text.n ? memmem(text.at, text.n, what.at, what.n) : NULL; }

static void add_replaced(struct buf *out, struct view name, struct view what, struct view by)
{
    for (const char *sign; (sign = find(name, what));) {
        buf_add(out, name.at, (size_t)(sign - name.at));
        buf_add(out, by.at, by.n);
        name = view_between(sign + what.n, name.at + name.n);
    }
    buf_add(out, name.at, name.n);
}

void scope_path_join(struct buf *out, const struct view *names, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (i)
            buf_puts(out, BETWEEN);
        add_replaced(out, names[i], VIEW(BETWEEN), VIEW(NOT_BETWEEN));
    }
}

bool scope_path_next(struct view *path, struct buf *room, struct view *out_name)
{
    if (!path->n)
        return false;
    const char *sign = find(*path, VIEW(BETWEEN)), *end = path->at + path->n;
    buf_clear(room);
    add_replaced(room, view_between(path->at, sign ? sign : end), VIEW(NOT_BETWEEN), VIEW(BETWEEN));
    *out_name = buf_view(room);
    *path = sign ? view_between(sign + sizeof BETWEEN - 1, end) : (struct view){end, 0};
    return true;
}

struct view scope_path_of(const struct profile *p, labels_id labels)
{
    const struct label *l = profile_label(p, labels, VIEW(SCOPE_PATH_KEY));
    return l ? profile_string(p, l->text) : (struct view){0};
}
