#include "capture/environment.h"
#include "base/mem.h"

static void append(struct environment *env, char *row)
{
    GROW(env->rows, env->cap, env->n + 2);
    env->rows[env->n++] = row;
    env->rows[env->n] = NULL;
}

void environment_init(struct environment *env, char *const *from)
{
    *env = (struct environment){0};
    for (; *from; from++)
        append(env, mem_text(*from, strlen(*from)));
}

void environment_done(struct environment *env)
{
    for (size_t i = 0; i < env->n; i++)
        free(env->rows[i]);
    free(env->rows);
}

static char **find(const struct environment *env, const char *name)
{
    size_t n = strlen(name);
    for (size_t i = 0; i < env->n; i++)
        if (!strncmp(env->rows[i], name, n) && env->rows[i][n] == '=')
            return &env->rows[i];
    return NULL;
}

const char *environment_get(const struct environment *env, const char *name)
{
    char **row = find(env, name);
    return row ? *row + strlen(name) + 1 : NULL;
}

void environment_set(struct environment *env, const char *name, const char *value)
{
    size_t size = strlen(name) + strlen(value) + 2;
    char *text = mem_new(size);
    snprintf(text, size, "%s=%s", name, value);
    char **row = find(env, name);
    if (!row) {
        append(env, text);
        return;
    }
    free(*row);
    *row = text;
}
