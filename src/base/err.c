#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct err_row {
    int exit, http;
    const char *meaning;
} rows[ERR_KIND_COUNT] = {
    [ERR_NONE] = {0, 200, "done"},
#define ERROR(name, exit, http, meaning) [ERR_##name] = {exit, http, meaning},
#include "base/errors.def"
#undef ERROR
};

int err_exit_status(enum err_kind kind) { return rows[kind].exit; }
int err_http_status(enum err_kind kind) { return rows[kind].http; }
const char *err_meaning(enum err_kind kind) { return rows[kind].meaning; }

bool (err_set)(struct err *e, enum err_kind kind, const char *fmt, ...)
{
    if (!e)
        return false;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(e->text, sizeof e->text, fmt, ap);
    va_end(ap);
    e->kind = kind;
    e->hint[0] = '\0';
    return false;
}

static enum err_kind kind_of_errno(int os)
{
    switch (os) {
    case ENOENT: case ENOTDIR: case ESRCH: return ERR_NOT_FOUND;
    case EPERM: case EACCES: case EROFS: return ERR_DENIED;
    case ENOSYS: case EOPNOTSUPP: return ERR_UNSUPPORTED;
    default: return ERR_IO;
    }
}

bool (err_os)(struct err *e, const char *fmt, ...)
{
    int os = errno;
    if (!e)
        return false;
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(e->text, sizeof e->text, fmt, ap);
    va_end(ap);
    if (n >= 0 && (size_t)n < sizeof e->text)
        snprintf(e->text + n, sizeof e->text - (size_t)n, ": %s", strerror(os));
    e->kind = kind_of_errno(os);
    e->hint[0] = '\0';
    return false;
}

/* What does not fit is cut at the end: the culprit stands in front. */
static size_t append(char *text, size_t size, size_t used, const char *more)
{
    for (; used + 1 < size && *more; more++)
        text[used++] = *more;
    text[used < size ? used : size - 1] = '\0';
    return used;
}

bool (err_in)(struct err *e, const char *fmt, ...)
{
    if (!e)
        return false;
    char inner[sizeof e->text];
    memcpy(inner, e->text, sizeof inner);
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(e->text, sizeof e->text, fmt, ap);
    va_end(ap);
    size_t used = n < 0 ? 0 : (size_t)n;
    used = append(e->text, sizeof e->text, used, ": ");
    append(e->text, sizeof e->text, used, inner);
    return false;
}

bool (err_hint)(struct err *e, const char *fmt, ...)
{
    if (!e)
        return false;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(e->hint, sizeof e->hint, fmt, ap);
    va_end(ap);
    return false;
}
