#include "lab/kernels.h"
#include "base/mem.h"

#include <math.h>
#include <stdio.h>
#include <sys/mman.h>

const char *const kernel_mode_names[KERNEL_MODE_COUNT + 1] = {"basic", "deep", "enhanced", NULL};

static const struct kernel *const tables[] = {product_kernels, row_kernels};

const struct kernel *kernel_at(size_t i)
{
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
        for (const struct kernel *k = tables[t]; k->name; k++)
            if (i-- == 0)
                return k;
    return NULL;
}

const size_t *kernel_sizes(const struct kernel *k, enum kernel_mode mode)
{
    static const size_t none[] = {0};
    return mode < k->from ? none : k->sizes[mode];
}

/* Memory. */

bool kernel_room(struct kernel_run *r, unsigned i, size_t bytes, struct err *e)
{
    size_t all = bytes ? bytes : 1;
    void *at = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        return err_os(e, "%zu bytes for %s", bytes, r->kernel->name);
    madvise(at, all, MADV_NOHUGEPAGE); /* as the roof was measured, and as most programs have it */
    r->room[i] = at;
    r->room_bytes[i] = all;
    return true;
}

bool kernel_matmul_rooms(struct kernel_run *r)
{
    unsigned n = team_size(r->team);
    r->matmul_rooms = mem_new(n * sizeof(struct matmul_room *));
    for (unsigned i = 0; i < n; i++)
        r->matmul_rooms[i] = matmul_room_new();
    return true;
}

static void run_done(struct kernel_run *r)
{
    if (r->kernel->done)
        r->kernel->done(r);
    for (unsigned i = 0; i < KERNEL_ROOMS; i++)
        if (r->room[i])
            munmap(r->room[i], r->room_bytes[i]);
    for (unsigned i = 0; r->matmul_rooms && i < team_size(r->team); i++)
        matmul_room_free(r->matmul_rooms[i]);
    free(r->matmul_rooms);
    quantised_done(&r->x.q8);
}

/* A number from its place: every run, and every worker, sees the same. */
float kernel_number(uint64_t i)
{
    uint64_t z = (i + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (float)((double)((z ^ z >> 31) >> 40) * 0x1p-23 - 1);
}

/* Measuring. */

static void worker_of(void *arg, unsigned worker, unsigned workers)
{
    struct kernel_run *r = arg;
    r->kernel->work(r, worker, workers);
}

static void one_call(void *arg)
{
    struct kernel_run *r = arg;
    team_run(r->team, worker_of, r);
}

static void describe(struct kernel_result *out, const struct kernel_run *r)
{
    const struct kernel *k = r->kernel;
    *out = (struct kernel_result){.threads = team_size(r->team), .size = r->size, .beyond = k->beyond, .peak = k->peak};
    snprintf(out->name, sizeof out->name, "%s", k->name);
    snprintf(out->level, sizeof out->level, "%s", k->self ? "plug-in" : r->ops->name);
    if (k->shape)
        k->shape(r, out->shape, sizeof out->shape);
    else
        snprintf(out->shape, sizeof out->shape, "%zu", r->size);
}

static bool measure_prepared(struct kernel_result *out, struct kernel_run *r, const struct timing_plan *p, struct err *e)
{
    struct timing_plan plan = *p;
    plan.on_the_wall = team_size(r->team) > 1;
    describe(out, r);
    out->amount = r->kernel->amount(r);
    if (!timing_of(&out->timing, &plan, one_call, r, e))
        return false;
    if (r->kernel->check) {
        out->check.is_checked = true;
        r->kernel->check(r, &out->check);
    }
    return true;
}

bool kernel_measure(struct kernel_result *out, const struct kernel_case *c, const struct timing_plan *p, struct err *e)
{
    struct kernel_run *r = mem_new(sizeof *r);
    *r = (struct kernel_run){.kernel = c->kernel, .ops = c->ops, .team = c->team, .size = c->size};
    bool ok = c->kernel->prepare(r, e) && measure_prepared(out, r, p, e);
    run_done(r);
    free(r);
    return ok || err_in(e, "%s, size %zu", c->kernel->name, c->size);
}

void kernel_result_done(struct kernel_result *r) { timing_done(&r->timing); }

bool kernel_is_right(const struct kernel_result *r)
{
    const struct kernel_check *c = &r->check;
    return !c->is_checked || (c->worst <= c->tolerance && !isnan(c->checksum) == !isnan(c->want));
}

struct limit kernel_limit(const struct kernel_result *r, const struct roof *roof)
{
    struct work w = {
        .flops = r->amount.flops, .bytes = r->amount.bytes, .working_set = r->amount.working_set,
        .level = *r->peak ? r->peak : r->level, .beyond = r->beyond, .threads = r->threads,
    };
    return w.bytes > 0 || w.flops > 0 ? roof_limit(roof, &w) : (struct limit){NAN, ""};
}
