/*
 * Blocks of threads. A block outlives its thread: what was measured counts. When many threads have come and gone, a
 * new one takes over the block of one that ended and adds to its numbers; so a server that makes a thread for each
 * connection needs memory for BLOCKS_APART of them, and every sum stays right.
 */
#include "client.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { ARENA_BYTES = 1 << 16 };

static struct scopes_node no_numbers;
static struct scopes_thread no_thread;
struct node nobody = {.last_child = &nobody, .then = &nobody, .w = &no_numbers, .left = &no_numbers.left};
struct block no_block = {.top = &no_block.open[0], .expected = &nobody, .node = &nobody, .w = &no_thread,
                         .open = {{.node = &nobody, .stack = ON_NO_STACK}}};
__thread struct inferom_thread_ *inferom_thread __attribute__((tls_model("initial-exec"))) = (struct inferom_thread_ *)(void *)&no_block;
struct block *blocks;
uint32_t epoch = 1;

static pthread_key_t key;
static bool has_key;
static uint32_t block_count, thread_numbers;

uint32_t this_tid(void) { return (uint32_t)syscall(SYS_gettid); }

static __thread uint32_t times_away __attribute__((tls_model("initial-exec")));

void heap_looks_away(void)
{
    if (times_away++ == 0 && inferom_heap_look_away)
        inferom_heap_look_away();
}

void heap_looks_again(void)
{
    if (--times_away == 0 && inferom_heap_look_again)
        inferom_heap_look_again();
}

void *pages(size_t bytes, int flags, int fd)
{
    heap_looks_away();
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, fd, 0);
    heap_looks_again();
    return p == MAP_FAILED ? NULL : p;
}

void *own_pages(size_t bytes) { return pages(bytes, MAP_PRIVATE | MAP_ANONYMOUS, -1); }

void *block_memory(struct block *b, size_t bytes)
{
    bytes = (bytes + 63) & ~(size_t)63;
    if (bytes > ARENA_BYTES / 4)
        return own_pages(bytes);
    if ((size_t)(b->arena_end - b->arena) < bytes) {
        uint8_t *more = own_pages(ARENA_BYTES);
        if (!more)
            return NULL;
        b->arena = more;
        b->arena_end = more + ARENA_BYTES;
    }
    void *p = b->arena;
    b->arena += bytes;
    return p;
}

static void learn_stack(struct block *b)
{
    pthread_attr_t a;
    void *low = NULL;
    size_t bytes = 0;
    heap_looks_away();
    if (pthread_getattr_np(pthread_self(), &a) == 0) { /* else what longjmp jumped over is found a little later */
        if (pthread_attr_getstack(&a, &low, &bytes) != 0)
            bytes = 0;
        pthread_attr_destroy(&a);
    }
    heap_looks_again();
    b->stack_low = bytes ? (uintptr_t)low : 0;
    b->stack_high = b->stack_low + bytes;
}

/* The heap agent may be here, too. What the thread allocated before its first scope is no scope's. */
static void learn_heap(struct block *b)
{
    b->heap = inferom_heap_counters ? inferom_heap_counters() : NULL;
    if (!b->heap)
        return;
    b->knows_memory = 1;
    b->heap_allocations = b->heap->allocations;
    b->heap_bytes = b->heap->bytes;
    if (b->heap_allocations)
        PUT(process->memory_is_told, 1);
}

static struct block *take_over(void)
{
    for (struct block *b = GET_LINK(blocks); b; b = b->next) {
        uint32_t free = 0;
        if (__atomic_compare_exchange_n(&b->is_taken, &free, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            return b;
    }
    return NULL;
}

/* A row for this thread in memory of this process. */
static bool tell_thread(struct block *b)
{
    b->number = __atomic_add_fetch(&thread_numbers, 1, __ATOMIC_RELAXED);
    b->piece = NULL;
    b->item_pieces = 0;
    struct scopes_thread *w = item_new(b, SCOPES_THREAD, sizeof *w);
    if (!w)
        return false;
    w->tid = this_tid();
    w->events_epoch = GET(epoch);
    b->w = w;
    item_done(b);
    process_begins(b);
    return true;
}

static struct block *make(void)
{
    struct block *b = own_pages(sizeof *b);
    if (!b || !tell_thread(b)) {
        if (b)
            munmap(b, sizeof *b);
        return NULL;
    }
    b->is_taken = 1;
    b->random = this_tid() * 2654435761u | 1;
    b->serial = (uint64_t)this_tid() << 24;
    b->root.last_child = &nobody;
    b->root.w = &b->root_row;
    b->open[0] = (struct open){.node = &b->root, .stack = ON_NO_STACK};
    b->top = b->open;
    b->node = &b->root;
    b->expected = &nobody;
    return b;
}

static void publish(struct block *b)
{
    struct block *first = GET(blocks);
    do
        b->next = first;
    while (!__atomic_compare_exchange_n(&blocks, &first, b, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED));
    __atomic_fetch_add(&block_count, 1, __ATOMIC_RELAXED);
}

static void learn_name(struct block *b)
{
    if (!b->is_named && prctl(PR_GET_NAME, b->w->name, 0, 0, 0) != 0)
        b->w->name[0] = 0;
}

void thread_is_called(struct block *b, const char *name)
{
    size_t n = strnlen(name, sizeof b->w->name - 1);
    memcpy(b->w->name, name, n);
    b->w->name[n] = 0;
    b->is_named = 1;
}

/* The name is asked for again at the end: threads are named after they begin. */
static void thread_ends(void *arg)
{
    struct block *b = arg;
    if (!b || b != mine())
        return;
    scopes_end_all(b);
    learn_name(b);
    b->heap = NULL;
    my_block_is(&no_block);
    __atomic_store_n(&b->is_taken, 0, __ATOMIC_RELEASE);
}

struct block *block_of_this_thread(void)
{
    if (mine())
        return mine();
    struct block *b = GET(block_count) >= BLOCKS_APART ? take_over() : NULL;
    bool is_new = !b;
    if (is_new && !(b = make()))
        return NULL;
    PUT(b->w->tid, this_tid());
    PUT(b->w->threads, b->w->threads + 1);
    b->is_named = 0;
    learn_name(b);
    learn_stack(b);
    learn_heap(b);
    if (is_new)
        publish(b);
    my_block_is(b);
    if (has_key)
        pthread_setspecific(key, b);
    return b;
}

/* Nobody is in the middle of anything while the process is copied. */
static void before_fork(void)
{
    results_lock();
    sites_lock();
}

static void fork_is_over(void)
{
    sites_unlock();
    results_unlock();
}

/*
 * The other threads are not in the child, and what was counted so far is the parent's, who goes on counting there. The one
 * thread that is left gets rows of its own for whatever it knows; then it is as it was, with nothing counted.
 */
static bool begin_anew(struct block *b)
{
    memset(b->events, 0, sizeof b->events);
    memset(b->ring, 0, sizeof b->ring);
    b->next_event = NULL;
    b->record_head = b->record_room = 0;
    b->metrics = NULL;
    b->told = NULL;
    b->nodes = 0;
    uint64_t threads = b->w->threads ? 1 : 0;
    if (!tell_thread(b))
        return false;
    b->w->threads = (uint32_t)threads;
    learn_name(b);
    sites_tell_again(b);
    b->request_number = request_number(b, b->request);
    bool ok = true;
    for (struct node *n = b->root.children; n && ok;) { /* callers first */
        ok = node_tell(b, n);
        struct node *down = n->children;
        while (!down && n != &b->root && !n->next)
            n = n->parent;
        n = down ? down : n->next;
    }
    return ok;
}

static void child_begins(void)
{
    struct block *b = mine();
    process_forked(); /* first: what follows must not be written into the parent's row */
    epoch_next();
    blocks = b;
    block_count = b ? 1 : 0;
    fork_is_over();
    if (!b)
        return;
    b->next = NULL;
    if (begin_anew(b))
        scopes_forget(b);
    else
        my_block_is(&no_block); /* there is no memory: nothing is recorded, and above all not in the parent's rows */
}

void threads_start(void)
{
    has_key = pthread_key_create(&key, thread_ends) == 0;
    pthread_atfork(before_fork, fork_is_over, child_begins);
}
