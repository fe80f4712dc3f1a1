/*
 * Sites: places that have a name. A site of a macro is a static variable of the program; one of a
 * name that is given at run time is made here, found again by its text in a table that only grows.
 * Sites of the same name and kind are one scope: `same` leads to the first of them.
 */
#include "client.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES = 8192, WARMUPS = 32, NAME_BYTES = 1024 };
enum { SITE_NEW, SITE_KNOWN };

static inferom_site *all;
static inferom_site *by_name[NAMES]; /* the first of each name and kind */
static inferom_site *by_number[SCOPES_SITES_MOST];
static uint32_t metric_ids, numbers;

const char *site_name(const inferom_site *s)
{
    const char *name = s->name ? s->name : s->function;
    return name && *name ? name : "(no name)";
}

inferom_site *sites(void) { return GET_LINK(all); }

static uint32_t hash_of(const char *name, uint32_t kind)
{
    uint32_t h = 2166136261u ^ kind;
    for (; *name; name++)
        h = (h ^ (uint8_t)*name) * 16777619u;
    return h ^ h >> 15;
}

/* The slot of this name, or the empty one where it belongs; NULL: the table is full. */
static inferom_site **slot_of(const char *name, uint32_t kind)
{
    uint32_t h = hash_of(name, kind);
    for (uint32_t i = 0; i < NAMES; i++) {
        inferom_site **slot = &by_name[(h + i) % NAMES], *s = GET_LINK(*slot);
        if (!s || (s->kind == kind && !strcmp(site_name(s), name)))
            return slot;
    }
    return NULL;
}

inferom_site *site_first(const inferom_site *s) { return s->same; }

/* Those with a number are the first of their name. It is kept where the program sees it as reserved. */
uint32_t site_number(const inferom_site *s) { return (uint32_t)s->same->reserved[0]; }
inferom_site *site_at(uint32_t number) { return number < SCOPES_SITES_MOST ? GET_LINK(by_number[number]) : NULL; }

/* Into the items of the thread that met it. */
static void tell(struct block *b, const inferom_site *s)
{
    size_t name_bytes = strnlen(site_name(s), NAME_BYTES), file_bytes = s->file ? strnlen(s->file, NAME_BYTES) : 0;
    struct scopes_site *item = b ? item_new(b, SCOPES_SITE, sizeof *item + name_bytes + file_bytes) : NULL;
    if (!item)
        return;
    item->number = site_number(s);
    item->kind = s->kind;
    item->line = s->line;
    item->id = s->id;
    item->name_bytes = (uint32_t)name_bytes;
    item->file_bytes = (uint32_t)file_bytes;
    memcpy(item + 1, site_name(s), name_bytes);
    if (file_bytes)
        memcpy((char *)(item + 1) + name_bytes, s->file, file_bytes);
    item_done(b);
}

void sites_tell_again(struct block *b)
{
    for (uint32_t i = 1; i <= numbers && i < SCOPES_SITES_MOST; i++)
        tell(b, by_number[i]);
}

static void give_number(inferom_site *s)
{
    if (numbers + 1 >= SCOPES_SITES_MOST)
        return;
    s->reserved[0] = ++numbers;
    PUT_LINK(by_number[numbers], s);
    tell(mine(), s);
}

/* Calls to leave out, by name: for scopes that are not there yet, and for those that are. */
static struct warmup {
    char name[NAME_BYTES];
    uint32_t left, is_used;
} warmups[WARMUPS];

static struct warmup *warmup_of(const char *name)
{
    for (size_t i = 0; i < WARMUPS && GET_LINK(warmups[i].is_used); i++)
        if (!strcmp(warmups[i].name, name))
            return &warmups[i];
    return NULL;
}

bool site_takes_warmup(inferom_site *s)
{
    struct warmup *w = warmup_of(site_name(s));
    for (uint32_t left = w ? GET(w->left) : 0; left;)
        if (__atomic_compare_exchange_n(&w->left, &left, left - 1, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            return true;
    return false;
}

static void look_again(struct node *n, const char *name)
{
    if (n->site && !strcmp(site_name(n->site), name))
        __atomic_fetch_or(&n->is_warming, WARMING, __ATOMIC_RELAXED);
    for (struct node *child = GET_LINK(n->children); child; child = GET_LINK(child->next))
        look_again(child, name);
}

static int warmup_set(const char *name, size_t n, uint32_t calls)
{
    static uint32_t used;
    char text[NAME_BYTES];
    if (!n || n >= sizeof text)
        return -22; /* EINVAL */
    memcpy(text, name, n);
    text[n] = 0;
    struct warmup *w = warmup_of(text);
    if (!w) {
        uint32_t i = __atomic_fetch_add(&used, 1, __ATOMIC_RELAXED);
        if (i >= WARMUPS)
            return -28; /* ENOSPC */
        w = &warmups[i];
        memcpy(w->name, text, n + 1);
        PUT(w->left, calls);
        PUT_LINK(w->is_used, 1);
    }
    PUT(w->left, calls);
    for (struct block *b = GET_LINK(blocks); b; b = b->next)
        look_again(&b->root, text);
    return 0;
}

int inferom_warmup(const char *name, uint32_t calls) { return name ? warmup_set(name, strlen(name), calls) : -22; }

void warmup_from_text(const char *text)
{
    while (text && *text) {
        const char *comma = strchr(text, ','), *end = comma ? comma : text + strlen(text);
        const char *equals = end;
        while (equals > text && *equals != '=')
            equals--;
        if (equals > text)
            warmup_set(text, (size_t)(equals - text), (uint32_t)strtoul(equals + 1, NULL, 10));
        text = comma ? comma + 1 : NULL;
    }
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the table; held over fork(), so that no child waits for ever */

void sites_lock(void) { pthread_mutex_lock(&lock); }
void sites_unlock(void) { pthread_mutex_unlock(&lock); }

static void enter_table(inferom_site *s)
{
    inferom_site **slot = slot_of(site_name(s), s->kind);
    s->same = slot && *slot ? *slot : s;
    if (s->same != s || !slot)
        return;
    if (s->kind == SITE_COUNTER || s->kind == SITE_GAUGE)
        s->id = metric_ids++;
    PUT_LINK(*slot, s);
    give_number(s);
}

/* Once for each site. A signal handler never comes here in the middle of it: the block is busy then. */
void site_register(inferom_site *s, enum site_kind kind)
{
    if (GET_LINK(s->state) == SITE_KNOWN)
        return;
    sites_lock();
    if (s->state != SITE_KNOWN) {
        s->kind = kind;
        enter_table(s);
        s->next = all;
        PUT_LINK(all, s);
        PUT_LINK(s->state, SITE_KNOWN);
    }
    sites_unlock();
}

inferom_site *site_named(const char *name, enum site_kind kind)
{
    char text[NAME_BYTES];
    if (!*name)
        name = "(no name)";
    size_t n = strnlen(name, sizeof text - 1);
    memcpy(text, name, n);
    text[n] = 0;
    inferom_site **slot = slot_of(text, kind), *s = slot ? GET_LINK(*slot) : NULL;
    if (s || !slot)
        return s;
    struct block *b = block_of_this_thread();
    s = b ? block_memory(b, sizeof *s + n + 1) : NULL;
    if (!s)
        return NULL;
    memcpy(s + 1, text, n + 1);
    s->name = (const char *)(s + 1);
    site_register(s, kind);
    return s->same;
}
