/*
 * The lab's kernels beside their peers, taking turns in one process, by the CPU clock of the thread.
 *
 *     bench_lab blas LIBRARY N ROUNDS     our f32 product and that of an OpenBLAS, n x n x n, one thread
 *     bench_lab hand N ROUNDS             the lab's own GFLOPS and those of a loop timed by hand
 *     bench_lab rows TYPE N ROUNDS        rows times a vector and plain reading, bytes per second
 *
 * Prints a line per round: ours, theirs.
 */
#include "base/clock.h"
#include "base/mem.h"
#include "lab/kernels.h"
#include "lab/roof_loops.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

static double cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Calls for about 50 ms, after one that does not count. */
static double seconds_a_call(void (*call)(void *), void *arg)
{
    double from, took = 0;
    unsigned calls = 0;
    call(arg);
    from = cpu_ns();
    while (took < 50e6) {
        call(arg);
        calls++;
        took = cpu_ns() - from;
    }
    return took / calls / 1e9;
}

static float *numbers(size_t n)
{
    float *x = mem_new(n * sizeof *x);
    for (size_t i = 0; i < n; i++)
        x[i] = kernel_number(i);
    return x;
}

typedef void sgemm(int order, int ta, int tb, int m, int n, int k, float alpha, const float *a, int lda, const float *b, int ldb,
                   float beta, float *c, int ldc);

struct product {
    struct matmul m;
    struct matmul_room *room;
    sgemm *theirs;
};

static void our_product(void *arg)
{
    struct product *p = arg;
    ops_best()->matmul(&p->m, p->room);
}

static void their_product(void *arg)
{
    enum { ROW_MAJOR = 101, AS_IT_IS = 111 };
    struct product *p = arg;
    int n = (int)p->m.n;
    p->theirs(ROW_MAJOR, AS_IT_IS, AS_IT_IS, n, n, n, 1, p->m.a, n, p->m.b, n, 0, p->m.c, n);
}

static struct product product_of(size_t n)
{
    return (struct product){
        .m = {.m = n, .n = n, .k = n, .a = numbers(n * n), .a_stride = n, .b = numbers(n * n), .b_stride = n, .c = numbers(n * n), .c_stride = n},
        .room = matmul_room_new(),
    };
}

static int beside_blas(const char *library, size_t n, int rounds)
{
    void *object = dlopen(library, RTLD_NOW);
    struct product p = product_of(n);
    double flops = 2.0 * (double)n * (double)n * (double)n / 1e9;
    if (!object || !(p.theirs = (sgemm *)dlsym(object, "cblas_sgemm")))
        return fprintf(stderr, "%s\n", dlerror()), 1;
    void (*threads)(int) = (void (*)(int))dlsym(object, "openblas_set_num_threads");
    if (threads)
        threads(1);
    for (int i = 0; i < rounds; i++)
        printf("%g %g\n", flops / seconds_a_call(our_product, &p), flops / seconds_a_call(their_product, &p));
    return 0;
}

static int beside_hand(size_t n, int rounds)
{
    struct team *team = NULL;
    struct err e = {0};
    struct kernel_result r;
    struct product p = product_of(n);
    double flops = 2.0 * (double)n * (double)n * (double)n / 1e9;
    struct timing_plan plan = {.samples = 15, .sample_ns = 3000000, .warm_up_ns = 10000000};
    if (!team_new(&team, 1, &e))
        return 1;
    for (int i = 0; i < rounds; i++) {
        if (!kernel_measure(&r, &(struct kernel_case){kernel_at(0), ops_best(), team, n}, &plan, &e))
            return 1;
        printf("%g %g\n", r.amount.flops / r.timing.median_ns, flops / seconds_a_call(our_product, &p));
        kernel_result_done(&r);
    }
    team_free(team);
    return 0;
}

struct rows {
    struct weights w;
    struct activations x;
    float *y;
    const struct roof_loops *loops;
    volatile float sum;
};

static void our_rows(void *arg)
{
    struct rows *r = arg;
    ops_matvec(ops_best(), r->y, &r->w, &r->x, 0, r->w.rows);
}

static void plain_reading(void *arg)
{
    struct rows *r = arg;
    size_t n = r->w.rows * weight_bytes(r->w.type, r->w.columns) / sizeof(float) / ROOF_GRAIN * ROOF_GRAIN;
    r->sum = r->loops->read(r->w.at, n);
}

static int beside_reading(const char *type, size_t columns, int rounds)
{
    enum { BYTES = 192 << 20 };
    enum weight_type t = 0;
    while (t < WEIGHT_TYPE_COUNT && strcmp(weight_type_names[t], type) != 0)
        t++;
    if (t == WEIGHT_TYPE_COUNT)
        return 2;
    char *at = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise(at, BYTES, MADV_NOHUGEPAGE);
    memset(at, 0, BYTES); /* numbers that are zero: of what they are, reading them does not depend */
    size_t n_rows = BYTES / weight_bytes(t, columns);
    struct rows r = {.w = {t, n_rows, columns, at}, .x = {.f32 = numbers(columns)}, .y = numbers(n_rows), .loops = roof_loops_named("avx2")};
    if (!r.loops)
        r.loops = roof_loops_named(ops_best()->name);
    quantised_init(&r.x.q8, columns);
    if (weight_is_quantised(t))
        ops_best()->quantise(&r.x.q8, r.x.f32, columns);
    double bytes = (double)(n_rows * weight_bytes(t, columns)) / 1e9;
    for (int i = 0; i < rounds; i++)
        printf("%g %g\n", bytes / seconds_a_call(our_rows, &r), bytes / seconds_a_call(plain_reading, &r));
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 5 && !strcmp(argv[1], "blas"))
        return beside_blas(argv[2], (size_t)atol(argv[3]), atoi(argv[4]));
    if (argc == 4 && !strcmp(argv[1], "hand"))
        return beside_hand((size_t)atol(argv[2]), atoi(argv[3]));
    if (argc == 5 && !strcmp(argv[1], "rows"))
        return beside_reading(argv[2], (size_t)atol(argv[3]), atoi(argv[4]));
    return 2;
}
