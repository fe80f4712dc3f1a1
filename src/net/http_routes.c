#include "net/http_routes.h"

static bool is_path_of(const struct http_route *r, const char *path)
{
    struct view pattern = view_of(r->path);
    if (!view_ends(pattern, VIEW("*")))
        return !strcmp(r->path, path);
    return view_starts(view_of(path), (struct view){pattern.at, pattern.n - 1});
}

static bool is_method_of(const struct http_route *r, const char *method)
{
    return !strcmp(r->method, method) || (!strcmp(method, "HEAD") && !strcmp(r->method, "GET"));
}

static void add_method(char allow[HTTP_ALLOW_BYTES], const char *method)
{
    size_t n = strlen(allow);
    if (!strstr(allow, method))
        snprintf(allow + n, HTTP_ALLOW_BYTES - n, "%s%s", n ? ", " : "", method);
}

const struct http_route *http_route_for(const struct http_route *routes, const char *method, const char *path,
                                        char allow[HTTP_ALLOW_BYTES])
{
    *allow = 0;
    for (const struct http_route *r = routes; r->method; r++) {
        if (!is_path_of(r, path))
            continue;
        if (is_method_of(r, method))
            return r;
        add_method(allow, r->method);
    }
    return NULL;
}
