#include "lab/ops.h"
#include "base/mem.h"
#include "lab/ops_levels.h"
#include "lab/team.h"

#include <math.h>

const char *const ops_level_names[] = {"scalar", "avx2", "avx512", "neon", NULL};

static const struct ops *(*const levels[])(void) = {ops_scalar, ops_avx2, ops_avx512, ops_neon, NULL};

const struct ops *ops_at(size_t i)
{
    for (size_t l = 0; levels[l]; l++) {
        const struct ops *o = levels[l]();
        if (o && i-- == 0)
            return o;
    }
    return NULL;
}

const struct ops *ops_named(const char *level)
{
    const struct ops *o;
    for (size_t i = 0; (o = ops_at(i)); i++)
        if (!strcmp(o->name, level))
            return o;
    return NULL;
}

const struct ops *ops_best(void)
{
    const struct ops *best = ops_scalar(), *o;
    for (size_t i = 0; (o = ops_at(i)); i++)
        best = o;
    return best;
}

void quantised_init(struct quantised *q, size_t n)
{
    size_t blocks = n / WEIGHT_BLOCK;
    *q = (struct quantised){
        .at = mem_new(n + !n),
        .scale = mem_new((blocks + !blocks) * sizeof *q->scale),
        .sum = mem_new((blocks + !blocks) * sizeof *q->sum),
    };
}

void quantised_done(struct quantised *q)
{
    free(q->at);
    free(q->scale);
    free(q->sum);
}

void ops_matvec(const struct ops *o, float *y, const struct weights *w, const struct activations *x, size_t from, size_t to)
{
    if (from < to)
        o->matvec[w->type](y + from, weights_row(w, from), x, to - from, w->columns);
}

/* Columns are shared out where there are enough of them: then nobody lays out the same part of B twice. */
struct matmul matmul_part(const struct matmul *all, unsigned worker, unsigned workers)
{
    enum { GRAIN = 32 }; /* no tile of any level is wider */
    struct matmul part = *all;
    part.m_of_all = all->m;
    if (all->n >= (size_t)GRAIN * workers || all->n >= all->m) {
        struct share s = team_share(all->n, GRAIN, worker, workers);
        part.n = s.to - s.from;
        part.c += s.from;
        size_t ahead = all->b_is_rows ? s.from * all->b_stride : s.from;
        part.b = (const char *)all->b + weight_bytes(all->b_type, ahead);
    } else {
        struct share s = team_share(all->m, GRAIN, worker, workers);
        part.m = s.to - s.from;
        part.c += s.from * all->c_stride;
        part.a += s.from * all->a_stride;
    }
    return part;
}

void rope_angles(float *cosine, float *sine, size_t n, double position, double base)
{
    for (size_t i = 0; i < n / 2; i++) {
        double angle = position * pow(base, -2.0 * (double)i / (double)n);
        cosine[i] = (float)cos(angle);
        sine[i] = (float)sin(angle);
    }
}
