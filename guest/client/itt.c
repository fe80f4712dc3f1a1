/*
 * Tasks, frames and counters of programs that carry ITT, as oneDNN, OpenVINO, TBB and PyTorch do. Its calls do nothing until a
 * collector gives them functions. The collector is a library that an environment variable names:
 *
 *     INTEL_LIBITTNOTIFY64=/usr/local/lib/libinferom.so INFEROM_SCOPES=on python3 generate.py
 *
 * The first call of a program comes here with a table: names of functions, and where to put ours. Tasks become scopes by
 * their name, frames scopes by the name of their domain; counters are counters, or gauges when they are set; pause and
 * resume switch recording. Everything else stays unheard.
 *
 * Names and layouts are ITT's own (version 3).
 */
#include "client.h"
#include "ranges.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct itt_api {
    const char *name;
    void **function;
    void *first, *nothing; /* what is there until somebody asks; what to put there when there is no function */
    int group;
};

struct itt_global {
    unsigned char magic[8];
    unsigned long major, minor, build;
    volatile long is_initialized, has_mutex, counter;
    pthread_mutex_t mutex;
    void *library, *error_handler;
    const char **path;
    struct itt_api *api; /* ends with a name NULL */
};

static const unsigned char magic[8] = {0xed, 0xab, 0xab, 0xec, 0x0d, 0xee, 0xda, 0x30};

/* The program looks at the flags, and at the name perhaps. What is behind `next` is ours. */
struct itt_domain {
    volatile int is_on;
    const char *name;
    void *wide;
    int extra1;
    void *extra2;
    struct itt_domain *next;
    uint64_t frame; /* that is open */
};

/* A handle of a name is one of our sites: both begin with the text. */
struct itt_string {
    const char *name;
};
_Static_assert(offsetof(inferom_site, name) == 0, "as ITT has it");

struct itt_id {
    unsigned long long part[3];
};

enum itt_type { ITT_UNKNOWN, ITT_U64, ITT_S64, ITT_U32, ITT_S32, ITT_U16, ITT_S16, ITT_FLOAT, ITT_DOUBLE };

struct itt_counter {
    const char *name;
    enum itt_type type;
    struct itt_counter *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the two lists */
static struct itt_domain *domains;
static struct itt_counter *counters;

/* Names. */

static struct itt_domain *domain_find(const char *name)
{
    struct itt_domain *d = domains;
    while (d && strcmp(d->name, name) != 0)
        d = d->next;
    return d;
}

static struct itt_domain *domain_create(const char *name)
{
    if (!name)
        return NULL;
    heap_looks_away();
    pthread_mutex_lock(&lock);
    struct itt_domain *d = domain_find(name);
    if (!d && (d = calloc(1, sizeof *d))) {
        d->is_on = 1;
        d->name = strdup(name);
        d->next = domains;
        if (d->name)
            domains = d;
    }
    pthread_mutex_unlock(&lock);
    heap_looks_again();
    return d && d->name ? d : NULL;
}

/* Asked for again with every task, by some. */
static const inferom_site *string_create(const char *name)
{
    struct block *b = name ? block_of_this_thread() : NULL;
    if (!b || b->busy)
        return NULL;
    b->busy = 1;
    const inferom_site *s = site_named(name, SITE_SCOPE);
    b->busy = 0;
    return s;
}

/* Tasks and frames. */

static void task_begin(const struct itt_domain *d, struct itt_id id, struct itt_id parent, const struct itt_string *name)
{
    (void)d, (void)id, (void)parent;
    range_push(name ? name->name : NULL);
}

static void task_end(const struct itt_domain *d)
{
    (void)d;
    range_pop();
}

static void frame_begin(struct itt_domain *d, const struct itt_id *id)
{
    (void)id;
    if (d)
        d->frame = inferom_begin(d->name);
}

static void frame_end(struct itt_domain *d, const struct itt_id *id)
{
    (void)id;
    if (d)
        inferom_end(d->frame);
}

/* Counters. */

static struct itt_counter *counter_typed(const char *name, const char *domain, int type)
{
    (void)domain;
    if (!name)
        return NULL;
    heap_looks_away();
    pthread_mutex_lock(&lock);
    struct itt_counter *c = counters;
    while (c && (strcmp(c->name, name) != 0 || c->type != (enum itt_type)type))
        c = c->next;
    if (!c && (c = calloc(1, sizeof *c))) {
        *c = (struct itt_counter){.name = strdup(name), .type = (enum itt_type)type, .next = counters};
        if (c->name)
            counters = c;
    }
    pthread_mutex_unlock(&lock);
    heap_looks_again();
    return c && c->name ? c : NULL;
}

static struct itt_counter *counter_create(const char *name, const char *domain) { return counter_typed(name, domain, ITT_U64); }

static void counter_inc_delta(const struct itt_counter *c, unsigned long long amount)
{
    if (c)
        inferom_count(c->name, (double)amount);
}

static void counter_inc(const struct itt_counter *c) { counter_inc_delta(c, 1); }

static double value_of(enum itt_type type, const void *at)
{
    union {
        uint64_t u64; int64_t s64; uint32_t u32; int32_t s32; uint16_t u16; int16_t s16; float f; double d;
    } v = {0};
    static const size_t sizes[] = {[ITT_U64] = 8, [ITT_S64] = 8, [ITT_U32] = 4, [ITT_S32] = 4, [ITT_U16] = 2, [ITT_S16] = 2, [ITT_FLOAT] = 4, [ITT_DOUBLE] = 8};
    memcpy(&v, at, sizes[type]);
    switch (type) {
    case ITT_U64: return (double)v.u64;
    case ITT_S64: return (double)v.s64;
    case ITT_U32: return v.u32;
    case ITT_S32: return v.s32;
    case ITT_U16: return v.u16;
    case ITT_S16: return v.s16;
    case ITT_FLOAT: return (double)v.f;
    default: return v.d;
    }
}

static void counter_set(const struct itt_counter *c, const void *value)
{
    if (c && value && c->type > ITT_UNKNOWN && c->type <= ITT_DOUBLE)
        inferom_gauge(c->name, value_of(c->type, value));
}

/* Threads, and the whole. */

static void thread_set_name(const char *name)
{
    struct block *b = GET(inferom_is_on) && name ? block_of_this_thread() : NULL;
    if (b)
        thread_is_called(b, name);
}

static void pause_all(void) { inferom_enable(0); }
static void resume_all(void) { inferom_enable(1); }

static const struct hook {
    const char *name;
    void (*function)(void);
} hooks[] = {
    {"__itt_domain_create", (void (*)(void))domain_create},
    {"__itt_string_handle_create", (void (*)(void))string_create},
    {"__itt_task_begin", (void (*)(void))task_begin},
    {"__itt_task_end", (void (*)(void))task_end},
    {"__itt_frame_begin_v3", (void (*)(void))frame_begin},
    {"__itt_frame_end_v3", (void (*)(void))frame_end},
    {"__itt_counter_create", (void (*)(void))counter_create},
    {"__itt_counter_create_typed", (void (*)(void))counter_typed},
    {"__itt_counter_inc", (void (*)(void))counter_inc},
    {"__itt_counter_inc_delta", (void (*)(void))counter_inc_delta},
    {"__itt_counter_set_value", (void (*)(void))counter_set},
    {"__itt_thread_set_name", (void (*)(void))thread_set_name},
    {"__itt_pause", pause_all},
    {"__itt_resume", resume_all},
};

static void *hook_named(const char *name, void *otherwise)
{
    for (size_t i = 0; i < sizeof hooks / sizeof *hooks; i++)
        if (!strcmp(hooks[i].name, name)) {
            memcpy(&otherwise, &hooks[i].function, sizeof otherwise);
            break;
        }
    return otherwise;
}

INFEROM_API void __itt_api_init(struct itt_global *global, int groups);

/* A table of another kind is left as it is: then its calls do nothing. */
void __itt_api_init(struct itt_global *global, int groups)
{
    (void)groups;
    if (!global || memcmp(global->magic, magic, sizeof magic) != 0)
        return;
    for (struct itt_api *api = global->api; api && api->name; api++)
        if (api->function)
            *api->function = hook_named(api->name, api->nothing);
}
