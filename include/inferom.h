/*
 * inferom.h - mark what a program is doing, and know what each part costs
 *
 *     #include <inferom.h>
 *
 *     void decode(struct model *m)
 *     {
 *         INFEROM_SCOPE("decode");             // ends with the block, however it is left
 *         if (!m->ready)
 *             return;                          // ... here too
 *         for (int layer = 0; layer < m->layers; layer++) {
 *             INFEROM_SCOPE("attention");      // scopes nest; each thread has its own
 *             attend(m, layer);
 *         }
 *         INFEROM_COUNT("tokens", 1);
 *     }
 *
 *     cc app.c $(pkg-config --cflags --libs inferom)
 *     INFEROM_SCOPES=on ./a.out                // a table on stderr, and a.out.PID.inferom
 *
 * Nothing is recorded until somebody asks: the environment, 'inferom record', or
 * inferom_enable(). Until then a scope is one load and one branch. Compiled with
 * -DINFEROM_DISABLE there is nothing left of it, and no library is needed.
 *
 * Threads:  every function may be called from any thread. A scope ends on the thread it began on.
 * Fails:    what does not fit is counted and shown, never waited for. Functions that write say
 *           0, or a negative errno.
 * Owns:     names are borrowed and must stay (literals do); those given to functions that say
 *           so are copied.
 *
 * Needs GCC or Clang; C99 and later, C++11 and later. docs/guide/scopes.md is the long story.
 */
#ifndef INFEROM_H
#define INFEROM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define INFEROM_VERSION_MAJOR 0
#define INFEROM_VERSION_MINOR 1
#define INFEROM_VERSION_PATCH 0
#define INFEROM_VERSION "0.1.0"

/* One number to compare: 10203 is 1.2.3. */
#define INFEROM_VERSION_NUMBER (INFEROM_VERSION_MAJOR * 10000 + INFEROM_VERSION_MINOR * 100 + INFEROM_VERSION_PATCH)

#define INFEROM_API __attribute__((visibility("default")))

/* What is known of one scope, over all threads. Times are nanoseconds. */
typedef struct inferom_row {
    const char *name;
    uint64_t calls;                 /* that ended; each one is counted */
    uint64_t timed;                 /* of them, those whose length was measured: docs/guide/scopes.md, "Short scopes" */
    uint64_t cut;                   /* left by longjmp: counted in calls, their length is not known */
    uint64_t left_out;              /* warm-up; not in calls */
    double total_ns;                /* inside of it; a scope within itself counts once */
    double self_ns;                 /* inside of it and of no scope within */
    double min_ns, mean_ns, max_ns; /* of one call; NAN when none was timed */
    double p50_ns, p90_ns, p99_ns;  /* within 3.2 % */
    double deviation_ns;
    int64_t allocations, bytes;     /* by itself, as the heap agent counted or inferom_allocated() was told; -1: nobody did */
} inferom_row;

/* Who called a scope, or whom it called; name NULL: nobody, a thread began with it. */
typedef struct inferom_edge {
    const char *name;
    uint64_t calls;
} inferom_edge;

enum inferom_order { INFEROM_BY_SELF, INFEROM_BY_TOTAL, INFEROM_BY_CALLS, INFEROM_BY_NAME };

/* Somebody whom threads work for: a request, a chat, a batch. */
typedef struct inferom_request inferom_request;

#ifndef INFEROM_DISABLE

INFEROM_API const char *inferom_version(void); /* "0.1.0"; never freed */

/* A place in the program that has a name. Made by the macros; the library's from then on. */
typedef struct inferom_site {
    const char *name, *function, *file;
    uint32_t line, kind;
    struct inferom_site *next, *same; /* the library's */
    uint32_t state, id;
    uint64_t reserved[2];
} inferom_site;

/* An open scope, on the stack of whoever opened it. */
typedef struct inferom_scope {
    void *node; /* the library's; NULL: not recorded */
} inferom_scope;

extern INFEROM_API uint32_t inferom_is_on; /* 0: off. Read it if you like; inferom_enable() sets it */

INFEROM_API void inferom_enter(inferom_scope *scope, inferom_site *site);
INFEROM_API void inferom_enter_here(inferom_scope *scope, inferom_site *site); /* by the function that has the scope */
INFEROM_API void inferom_leave(inferom_scope *scope);
INFEROM_API void inferom_phase_site(inferom_site *site);
INFEROM_API void inferom_count_site(inferom_site *site, double amount);
INFEROM_API void inferom_gauge_site(inferom_site *site, double value);

/*
 * Scopes without macros, for other languages: the name is copied the first time it is seen.
 *
 *     uint64_t s = inferom_begin("decode");
 *     inferom_end(s);                          // and whatever was begun inside it and never ended
 */
INFEROM_API uint64_t inferom_begin(const char *name);
INFEROM_API void inferom_end(uint64_t scope); /* 0 does nothing */
INFEROM_API void inferom_phase(const char *name); /* NULL ends the phase */
INFEROM_API void inferom_count(const char *name, double amount);
INFEROM_API void inferom_gauge(const char *name, double value);

/*
 * Requests. One handle travels with the work; every thread says when it works for whom.
 *
 *     inferom_request *r = inferom_request_new("chat-42");   // the id is copied
 *     { INFEROM_REQUEST(r); decode(m); }                     // on any thread, any number of times
 */
INFEROM_API inferom_request *inferom_request_new(const char *id); /* NULL when off, or when there are too many */
INFEROM_API inferom_request *inferom_request_enter(inferom_request *r); /* returns whom the thread worked for */
INFEROM_API void inferom_request_leave(inferom_request *before);

/* Memory: an arena, a pool or a device tells what it gave to the calling thread. */
INFEROM_API void inferom_allocated(size_t bytes);

/* The innermost scope of the calling thread, for who samples inside the process: a number per thread and path; 0: none. */
INFEROM_API uint32_t inferom_scope_here(void);

/* When to record. */
INFEROM_API int inferom_enable(int on);      /* returns what it was */
INFEROM_API void inferom_reset(void);        /* forget everything so far; open scopes stay open */
INFEROM_API int inferom_warmup(const char *name, uint32_t calls); /* leave out the next so many, and all inside them */
INFEROM_API void inferom_after_longjmp(void); /* right behind a setjmp() that returned again: ends what was jumped over */

/* Results, at any time. */
INFEROM_API size_t inferom_top(inferom_row *rows, size_t most, enum inferom_order order); /* returns how many there are */
INFEROM_API size_t inferom_callers(const char *name, inferom_edge *edges, size_t most);
INFEROM_API size_t inferom_callees(const char *name, inferom_edge *edges, size_t most);
INFEROM_API double inferom_metric(const char *name); /* a counter's sum, a gauge's last value; NAN: there is none */
INFEROM_API size_t inferom_report(char *text, size_t bytes); /* like snprintf(): returns how long it is */
INFEROM_API int inferom_print(int fd);
INFEROM_API int inferom_write(const char *path); /* a capture file, for 'inferom report' and all the others */

#define INFEROM_JOIN2_(a, b) a##b
#define INFEROM_JOIN_(a, b) INFEROM_JOIN2_(a, b)
#define INFEROM_SITE_(var, text) static inferom_site var = {text, __func__, __FILE__, __LINE__, 0, NULL, NULL, 0, 0, {0, 0}}
#define INFEROM_ON_() __builtin_expect((long)__atomic_load_n(&inferom_is_on, __ATOMIC_RELAXED), 0L)

/*
 * The quick way, for a call that is only counted: most calls of a short scope. The library says which one may come next, on
 * which thread; whatever is not as it expects goes to the library. Its own, from the first letter to the last.
 */
struct inferom_node_ {
    const inferom_site *site;
    struct inferom_node_ *then; /* what came behind it the last time */
    uint64_t *left;             /* for others to see: skip */
    uint32_t skip, is_warming, epoch, depth;
};

struct inferom_open_ {
    const inferom_scope *scope;
    struct inferom_node_ *node;
    uintptr_t stack;
};

struct inferom_thread_ {
    struct inferom_open_ *top;
    struct inferom_node_ *expected; /* may be entered the quick way */
    const inferom_scope *leaf_scope; /* was; NULL: none is open */
    struct inferom_node_ *leaf;
    uintptr_t leaf_stack;
};

extern INFEROM_API __thread struct inferom_thread_ *inferom_thread __attribute__((tls_model("initial-exec")));

#if defined(__x86_64__) || defined(__aarch64__)
#define INFEROM_HAS_QUICK_WAY_
#endif

/* Where the stack of the function ends that this becomes a part of. */
static inline __attribute__((always_inline)) uintptr_t inferom_stack_(void)
{
    uintptr_t sp = 0;
#if defined(__x86_64__)
    __asm__ volatile("mov %%rsp, %0" : "=r"(sp));
#elif defined(__aarch64__)
    __asm__ volatile("mov %0, sp" : "=r"(sp));
#endif
    return sp;
}

#define INFEROM_IN_THIS_ORDER_() __atomic_signal_fence(__ATOMIC_SEQ_CST)

/* 1: it is open, and nobody else needs to know. `not_own`: 1 when the function that has the scope only calls us. */
static inline __attribute__((always_inline)) int inferom_enter_quick_(inferom_scope *scope, const inferom_site *site, uint32_t on, uintptr_t not_own)
{
#ifdef INFEROM_HAS_QUICK_WAY_
    struct inferom_thread_ *t = inferom_thread;
    struct inferom_node_ *n = t->expected;
    uint32_t skip = n->skip;
    uintptr_t stack = inferom_stack_() | not_own;
    if (n->site != site || !skip || n->epoch != on || n->is_warming || t->leaf_scope ||
        ((uintptr_t)scope >= t->top->stack && (stack != t->top->stack || scope == t->top->scope)))
        return 0;
    n->skip = skip - 1;
    __atomic_store_n(n->left, skip - 1, __ATOMIC_RELAXED);
    scope->node = t;
    do { /* again, when a signal handler did the same in between */
        t->leaf = n;
        t->leaf_stack = stack;
        INFEROM_IN_THIS_ORDER_();
        t->leaf_scope = scope;
        INFEROM_IN_THIS_ORDER_();
    } while (__builtin_expect(t->leaf != n, 0));
    return 1;
#else
    (void)scope; (void)site; (void)on; (void)not_own;
    return 0;
#endif
}

/*
 * What a block keeps of its scope is a pointer to it, NULL when it was switched off: nobody else knows where that pointer is, so it stays in a
 * register, and a scope that is off writes and reads nothing. (A copy of it with a name of its own would make gcc warn, beside setjmp().)
 */
static inline __attribute__((always_inline)) void inferom_leave_(inferom_scope *const *open)
{
    if (__builtin_expect(*open == NULL, 1))
        return;
#ifdef INFEROM_HAS_QUICK_WAY_
    struct inferom_thread_ *t = inferom_thread;
    if (t->leaf_scope == *open) {
        t->expected = t->leaf->then;
        INFEROM_IN_THIS_ORDER_();
        t->leaf_scope = NULL;
        return;
    }
#endif
    if ((*open)->node)
        inferom_leave(*open);
}

static inline __attribute__((always_inline)) inferom_scope *inferom_enter_(inferom_scope *scope, inferom_site *site)
{
    uint32_t on = (uint32_t)INFEROM_ON_();
    if (!on)
        return NULL;
    if (!inferom_enter_quick_(scope, site, on, 0))
        inferom_enter_here(scope, site);
    return scope;
}

struct inferom_for_ {
    inferom_request *before;
    uint32_t is_entered;
};

static inline void inferom_request_leave_(struct inferom_for_ *f)
{
    if (f->is_entered)
        inferom_request_leave(f->before);
}

static inline struct inferom_for_ inferom_request_enter_(inferom_request *r)
{
    struct inferom_for_ f = {NULL, 0};
    if (r) {
        f.before = inferom_request_enter(r);
        f.is_entered = 1;
    }
    return f;
}

/* __COUNTER__ and not __LINE__: a macro of yours may open two scopes on one line. */
#define INFEROM_SCOPE(name) INFEROM_SCOPE_(name, __COUNTER__)
#define INFEROM_SCOPE_(name, n) INFEROM_SCOPE2_(name, INFEROM_JOIN_(inferom_site_, n), INFEROM_JOIN_(inferom_scope_, n))
#define INFEROM_FUNCTION() INFEROM_SCOPE(NULL) /* named after the function */

#ifdef __cplusplus
#define INFEROM_SCOPE2_(name, site, var) \
    INFEROM_SITE_(site, name);           \
    inferom_scope var;                   \
    inferom::scope INFEROM_JOIN_(var, _open)(&var, &site)
#else
#define INFEROM_SCOPE2_(name, site, var) \
    INFEROM_SITE_(site, name);           \
    inferom_scope var;                   \
    __attribute__((cleanup(inferom_leave_), unused)) inferom_scope *const INFEROM_JOIN_(var, _open) = inferom_enter_(&var, &site)
#endif

/* The phase that was on ends, the next begins at the same instant. It ends with the scope around it, too. */
#define INFEROM_PHASE(name)                     \
    do {                                        \
        INFEROM_SITE_(inferom_site_, name);     \
        if (INFEROM_ON_())                      \
            inferom_phase_site(&inferom_site_); \
    } while (0)
#define INFEROM_PHASE_END()      \
    do {                         \
        if (INFEROM_ON_())       \
            inferom_phase(NULL); \
    } while (0)

/* A counter adds up, over all threads; a gauge is what was said last. */
#define INFEROM_COUNT(name, amount)                               \
    do {                                                          \
        INFEROM_SITE_(inferom_site_, name);                       \
        if (INFEROM_ON_())                                        \
            inferom_count_site(&inferom_site_, (double)(amount)); \
    } while (0)
#define INFEROM_GAUGE(name, value)                               \
    do {                                                         \
        INFEROM_SITE_(inferom_site_, name);                      \
        if (INFEROM_ON_())                                       \
            inferom_gauge_site(&inferom_site_, (double)(value)); \
    } while (0)

/* From here to the end of the block this thread works for r; NULL is nobody in particular. */
#define INFEROM_REQUEST(r) INFEROM_REQUEST_(r, __COUNTER__)
#define INFEROM_REQUEST_(r, n)                                                                 \
    __attribute__((cleanup(inferom_request_leave_), unused)) struct inferom_for_ INFEROM_JOIN_( \
        inferom_for_, n) = inferom_request_enter_(r)

#ifdef __cplusplus
}

namespace inferom
{
/* What INFEROM_SCOPE makes in C++: exceptions end it, like everything else with a destructor. */
class scope
{
  public:
    scope(inferom_scope *place, inferom_site *site) : open(NULL)
    {
        uint32_t on = (uint32_t)INFEROM_ON_();
        if (!on)
            return;
        open = place;
        if (!inferom_enter_quick_(place, site, on, 1))
            inferom_enter(place, site);
    }
    ~scope() { inferom_leave_(&open); }
    scope(const scope &) = delete;
    scope &operator=(const scope &) = delete;

  private:
    inferom_scope *open;
};
} // namespace inferom
#endif

#else /* INFEROM_DISABLE: the same words, and nothing behind them */

#define INFEROM_SCOPE(name)
#define INFEROM_FUNCTION()
#define INFEROM_PHASE(name) ((void)0)
#define INFEROM_PHASE_END() ((void)0)
#define INFEROM_COUNT(name, amount) ((void)0)
#define INFEROM_GAUGE(name, value) ((void)0)
#define INFEROM_REQUEST(r)

static inline const char *inferom_version(void) { return INFEROM_VERSION; }
static inline uint64_t inferom_begin(const char *name) { (void)name; return 0; }
static inline void inferom_end(uint64_t scope) { (void)scope; }
static inline void inferom_phase(const char *name) { (void)name; }
static inline void inferom_count(const char *name, double amount) { (void)name; (void)amount; }
static inline void inferom_gauge(const char *name, double value) { (void)name; (void)value; }
static inline inferom_request *inferom_request_new(const char *id) { (void)id; return NULL; }
static inline inferom_request *inferom_request_enter(inferom_request *r) { (void)r; return NULL; }
static inline void inferom_request_leave(inferom_request *before) { (void)before; }
static inline void inferom_allocated(size_t bytes) { (void)bytes; }
static inline uint32_t inferom_scope_here(void) { return 0; }
static inline int inferom_enable(int on) { (void)on; return 0; }
static inline void inferom_reset(void) {}
static inline int inferom_warmup(const char *name, uint32_t calls) { (void)name; (void)calls; return 0; }
static inline void inferom_after_longjmp(void) {}
static inline size_t inferom_top(inferom_row *rows, size_t most, enum inferom_order order)
{
    (void)rows; (void)most; (void)order;
    return 0;
}
static inline size_t inferom_callers(const char *name, inferom_edge *edges, size_t most)
{
    (void)name; (void)edges; (void)most;
    return 0;
}
static inline size_t inferom_callees(const char *name, inferom_edge *edges, size_t most)
{
    (void)name; (void)edges; (void)most;
    return 0;
}
static inline double inferom_metric(const char *name) { (void)name; return __builtin_nan(""); }
static inline size_t inferom_report(char *text, size_t bytes)
{
    if (bytes)
        *text = 0;
    return 0;
}
static inline int inferom_print(int fd) { (void)fd; return 0; }
static inline int inferom_write(const char *path) { (void)path; return -38; } /* -ENOSYS: nothing is recorded */

#ifdef __cplusplus
}
#endif
#endif

#endif
