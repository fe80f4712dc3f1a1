#include "symbols/source_path.h"

#define PATH_MOST ((size_t)4096)

/* Where the last part of path[0..n) begins, or n when it cannot be taken back. */
static size_t last_part(const char *path, size_t n)
{
    size_t from = n;
    while (from && path[from - 1] != '/')
        from--;
    struct view part = {path + from, n - from};
    return part.n && !view_same(part, VIEW("..")) ? from : n;
}

size_t source_path_tidy(char *path, size_t n)
{
    bool is_absolute = n && path[0] == '/';
    size_t root = is_absolute ? 1 : 0, to = root;
    for (size_t at = root; at < n;) {
        size_t end = at;
        while (end < n && path[end] != '/')
            end++;
        struct view part = {path + at, end - at};
        size_t before = last_part(path, to);
        at = end + 1;
        if (!part.n || view_same(part, VIEW(".")))
            continue;
        if (view_same(part, VIEW("..")) && (before < to || is_absolute)) {
            to = before < to && before > root ? before - 1 : root;
            continue;
        }
        if (to > root)
            path[to++] = '/';
        memmove(path + to, part.at, part.n);
        to += part.n;
    }
    return to;
}

struct view source_path_kept(struct name_table *names, const char *folder, const char *file)
{
    if (!file)
        return VIEW("");
    char path[PATH_MOST];
    bool is_relative = file[0] != '/' && folder && folder[0];
    int n = snprintf(path, sizeof path, "%s%s%s", is_relative ? folder : "", is_relative ? "/" : "", file);
    if (n < 0 || (size_t)n >= sizeof path)
        return name_table_keep(names, view_of(file));
    return name_table_keep(names, (struct view){path, source_path_tidy(path, (size_t)n)});
}
