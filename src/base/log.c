#include "base/log.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

const char *const log_level_names[LOG_LEVEL_COUNT + 1] = {"error", "warn", "info", "debug", NULL};

static _Atomic int chosen = LOG_WARN;

void log_set_level(enum log_level level) { atomic_store(&chosen, (int)level); }

void log_line(enum log_level level, const char *fmt, ...)
{
    if ((int)level > atomic_load(&chosen))
        return;
    char line[1024];
    int n = snprintf(line, sizeof line, "inferom: %s: ", log_level_names[level]);
    va_list ap;
    va_start(ap, fmt);
    int m = vsnprintf(line + n, sizeof line - (size_t)n - 1, fmt, ap);
    va_end(ap);
    size_t len = (size_t)n + (m < 0 ? 0 : (size_t)m);
    if (len > sizeof line - 2)
        len = sizeof line - 2;
    for (size_t i = 0; i < len; i++) /* names come from other people's files: they must not move the cursor */
        if ((unsigned char)line[i] < ' ' || line[i] == 0x7f)
            line[i] = '?';
    line[len++] = '\n';
    ssize_t ignored = write(STDERR_FILENO, line, len);
    (void)ignored; /* there is nowhere left to complain to */
}
