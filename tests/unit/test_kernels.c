/* Every kernel of the lab, at every level that runs here and with three threads, is right; and a wrong one is found out. */
#include "lab/kernels.h"
#include "numbers.h"

static const struct timing_plan brief = {.samples = 1, .sample_ns = 1000, .warm_up_ns = 1};

/* How often a kernel is really run. */
static const struct kernel *inner;
static uint64_t runs;

static void work_counted(struct kernel_run *r, unsigned worker, unsigned workers)
{
    if (worker == 0)
        runs++;
    inner->work(r, worker, workers);
}

static void check_kernel(const struct kernel *k, const struct ops *o, struct team *team, size_t size)
{
    struct kernel counting = *k;
    struct kernel_result r;
    struct err e = {0};
    counting.work = work_counted;
    inner = k;
    runs = 0;
    struct kernel_case c = {&counting, o, team, size};
    if (k->can && !k->can(k, o))
        return;
    CHECK(kernel_measure(&r, &c, &brief, &e));
    if (!kernel_is_right(&r))
        printf("%s %s, %s, %u threads: error %g, sum %g, want %g\n", r.name, r.shape, r.level, r.threads, r.check.worst, r.check.checksum, r.check.want);
    CHECK(kernel_is_right(&r) && r.check.is_checked);
    CHECK(r.check.tolerance <= 1e-5);
    CHECK_EQ(runs, r.timing.calls + r.timing.warm_up_calls);
    kernel_result_done(&r);
}

static void check_all(const struct ops *o, unsigned threads)
{
    own(team) struct team *team = NULL;
    struct err e = {0};
    const struct kernel *k;
    CHECK(team_new(&team, threads, &e));
    for (size_t i = 0; (k = kernel_at(i)); i++)
        check_kernel(k, o, team, kernel_sizes(k, KERNELS_ENHANCED)[0] < 128 ? 64 : 128);
}

/* What one call is said to be. */
static void check_amounts(void)
{
    struct kernel_run r = {.kernel = kernel_at(0), .size = 512};
    struct kernel_amount a = r.kernel->amount(&r);
    CHECK_STR(r.kernel->name, "matmul f32");
    CHECK(a.flops == 2.0 * 512 * 512 * 512);
    CHECK(a.bytes == 3.0 * 512 * 512 * 4);
    const struct kernel *k;
    for (size_t i = 0; (k = kernel_at(i)); i++)
        if (!strcmp(k->name, "add")) {
            r = (struct kernel_run){.kernel = k, .size = 1000};
            a = k->amount(&r);
            CHECK(a.flops == 1000 && a.bytes == 12000 && a.elements == 1000);
        }
}

/* A kernel that spoils one number. */
static void work_spoiled(struct kernel_run *r, unsigned worker, unsigned workers)
{
    inner->work(r, worker, workers);
    if (worker == 0)
        ((float *)r->room[1])[3] += 0.01f; /* of a row or element kernel: the answer */
}

static void check_a_wrong_one_is_found(void)
{
    own(team) struct team *team = NULL;
    struct err e = {0};
    struct kernel_result r;
    const struct kernel *k;
    CHECK(team_new(&team, 1, &e));
    for (size_t i = 0; (k = kernel_at(i)); i++) {
        if (strcmp(k->name, "gelu") != 0 && strcmp(k->name, "softmax") != 0)
            continue;
        struct kernel spoiled = *k;
        spoiled.work = work_spoiled;
        inner = k;
        CHECK(kernel_measure(&r, &(struct kernel_case){&spoiled, ops_best(), team, 128}, &brief, &e));
        CHECK(!kernel_is_right(&r));
        kernel_result_done(&r);
    }
}

int main(void)
{
    const struct ops *o;
    for (size_t i = 0; (o = ops_at(i)); i++) {
        check_all(o, 1);
        check_all(o, 3);
    }
    check_amounts();
    check_a_wrong_one_is_found();
    return CHECK_DONE();
}
