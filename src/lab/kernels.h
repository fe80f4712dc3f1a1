/*
 * kernels.h - the building blocks of inference, each as something that can be measured
 *
 * A kernel is a row of a table: how it is prepared for a size, what is timed, how much arithmetic and how many bytes one
 * call is, and how its answer is checked. Kernels are run at a level (ops.h) by a team of threads:
 *
 *     struct kernel_result r;
 *     struct kernel_case c = {.kernel = kernel_at(0), .ops = ops_best(), .size = 512, .team = team};
 *     if (!kernel_measure(&r, &c, &plan, e))
 *         return false;
 *     r.flops / r.timing.median_ns            GFLOPS of exactly the calls that were timed
 *     kernel_result_done(&r);
 *
 * The check runs once, after the timing and on its outputs: each number (of large products: a hundred of them) against
 * double precision, and the sum of all against what it must be.
 *
 * A new one is a row in kernels_products.c or kernels_rows.c; or in somebody else's shared object (plugin.h).
 */
#pragma once
#include "lab/ops.h"
#include "lab/roof.h"
#include "lab/team.h"
#include "lab/timing.h"

enum kernel_mode { KERNELS_BASIC, KERNELS_DEEP, KERNELS_ENHANCED, KERNEL_MODE_COUNT };
enum { KERNEL_SIZES_MOST = 8 };

struct kernel_run;

/* One call. */
struct kernel_amount {
    double flops;          /* 0: not counted */
    double bytes;          /* read and written, each once */
    double elements;       /* of the result */
    uint64_t working_set;
};

struct kernel_check {
    double checksum, want; /* sums of all results: ours, and in double precision */
    double worst;          /* the largest error, relative to the size of the numbers */
    double tolerance;
    bool is_checked;       /* a plug-in may have no check */
};

struct kernel {
    const char *name;      /* "matmul f32" */
    const char *what;      /* one line */
    const char *peak;      /* whose arithmetic limits it: "" that of the level; "int8", "bf16" */
    const char *beyond;    /* whose bandwidth limits it beyond the caches: "read", "copy", "triad" */
    enum kernel_mode from; /* the first mode that has it */
    size_t sizes[KERNEL_MODE_COUNT][KERNEL_SIZES_MOST]; /* 0 ends; of a mode without: none */
    size_t scalar_most;    /* larger ones take the plain level too long; 0: none does */
    bool scales;           /* worth trying with more threads */
    int type;              /* for the functions below: enum weight_type, or which of several */

    bool (*can)(const struct kernel *k, const struct ops *o); /* NULL: every level can */
    bool (*prepare)(struct kernel_run *r, struct err *e);
    void (*work)(struct kernel_run *r, unsigned worker, unsigned workers);
    struct kernel_amount (*amount)(const struct kernel_run *r);
    void (*check)(struct kernel_run *r, struct kernel_check *out);
    void (*done)(struct kernel_run *r); /* NULL: rooms are all there is */
    void (*shape)(const struct kernel_run *r, char *out, size_t size); /* "512 x 512 x 512" */
    const void *self; /* of a plug-in */
};

enum { KERNEL_ROOMS = 6 };

/* A kernel, prepared: its memory and what it is told. */
struct kernel_run {
    const struct kernel *kernel;
    const struct ops *ops;
    struct team *team;
    size_t size;
    size_t rows;                    /* of kernels that work row by row */
    void *room[KERNEL_ROOMS];       /* what they hold is the kernel's business */
    size_t room_bytes[KERNEL_ROOMS];
    struct activations x;
    struct weights w;
    struct matmul_room **matmul_rooms; /* one per worker */
    double partial[TEAM_MOST];
    void *plugin;
};

/* Memory for a kernel, zeroed, in ordinary pages; it goes with the run. */
bool kernel_room(struct kernel_run *r, unsigned i, size_t bytes, struct err *e) MUST_CHECK;
bool kernel_matmul_rooms(struct kernel_run *r);
float kernel_number(uint64_t i); /* always the same ones, between -1 and 1 */

struct kernel_case {
    const struct kernel *kernel;
    const struct ops *ops;
    struct team *team;
    size_t size;
};

struct kernel_result {
    char name[64], shape[64], level[16];
    unsigned threads;
    size_t size;
    struct timing timing;
    struct kernel_amount amount;
    struct kernel_check check;
    const char *beyond, *peak;
};
void kernel_result_done(struct kernel_result *r);

bool kernel_measure(struct kernel_result *out, const struct kernel_case *c, const struct timing_plan *p, struct err *e) MUST_CHECK;
bool kernel_is_right(const struct kernel_result *r); /* or was not checked */
struct limit kernel_limit(const struct kernel_result *r, const struct roof *roof);

const struct kernel *kernel_at(size_t i); /* of all that are built in; NULL past the end */
const size_t *kernel_sizes(const struct kernel *k, enum kernel_mode mode); /* ends with 0 */

extern const char *const kernel_mode_names[KERNEL_MODE_COUNT + 1];

/* The tables; each ends with a row without a name. */
extern const struct kernel product_kernels[], row_kernels[];
