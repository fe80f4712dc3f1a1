/*
 * Models whose weights come from a seed. Everything about them follows from a row of the table.
 *
 * The generator: value i of tensor t is the (i mod 4)th 16-bit part u of splitmix64 started at seed + t * 2^40 + i / 4
 * (one step), as (u + 0.5 - 32768) / 32768 * spread. So any number can be computed without those before it, and the
 * weights are the same however many threads make them. Matrices have the spread sqrt(3 / columns), which keeps
 * the size of what goes through them; embeddings and positions sqrt(3); biases 0.02; norms are 1, their biases 0.
 */
#include "base/mem.h"
#include "base/text.h"
#include "lab/model_inside.h"
#include "lab/sampler.h"

#include <inferom.h>
#include <math.h>
#include <sys/mman.h>

static const struct preset {
    const char *name;
    uint32_t width, layers, heads, kv_heads, hidden, context, vocabulary;
    bool is_llama;
    enum weight_type type; /* of matrices; norms and biases are f32 */
} presets[] = {
    {"small", 128, 2, 4, 4, 512, 64, 256, false, WEIGHT_F32},
    {"medium", 256, 4, 8, 8, 1024, 128, 512, false, WEIGHT_F32},
    {"large", 512, 8, 8, 8, 2048, 512, 8192, false, WEIGHT_F16},
    {"huge", 768, 12, 12, 12, 2048, 1024, 10240, true, WEIGHT_F16},
};
enum { PRESETS = sizeof presets / sizeof *presets };

#define ROPE_BASE 10000.0
#define EPSILON 1e-5f
#define BIAS_SPREAD 0.02f

const char *const *model_preset_names(void)
{
    static const char *names[PRESETS + 1];
    for (size_t i = 0; i < PRESETS; i++)
        names[i] = presets[i].name;
    return names;
}

/* What there is to make. */

struct made {
    enum weight_type type;
    size_t rows, columns, offset;
    float middle, spread;
    const void **at; /* where its place is wanted */
};

struct plan {
    const struct preset *from;
    enum weight_type type;
    struct made *made;
    size_t n, cap, bytes;
    uint64_t parameters, step_bytes;
};

static void plan_add(struct plan *p, struct made m)
{
    enum { LINE = 64 };
    size_t bytes = m.rows * weight_bytes(m.type, m.columns);
    GROW(p->made, p->cap, p->n + 1);
    m.offset = p->bytes;
    p->made[p->n++] = m;
    p->bytes += (bytes + LINE - 1) / LINE * LINE;
    p->parameters += m.rows * m.columns;
    p->step_bytes += bytes;
}

static void matrix(struct plan *p, struct weights *w, size_t rows, size_t columns, float spread)
{
    *w = (struct weights){.type = p->type, .rows = rows, .columns = columns};
    plan_add(p, (struct made){.type = p->type, .rows = rows, .columns = columns, .spread = spread, .at = &w->at});
}

static void projection(struct plan *p, struct weights *w, size_t rows, size_t columns)
{
    matrix(p, w, rows, columns, sqrtf(3.0f / (float)columns));
}

static void vector(struct plan *p, const float **at, size_t n, float middle, float spread)
{
    plan_add(p, (struct made){.type = WEIGHT_F32, .rows = 1, .columns = n, .middle = middle, .spread = spread, .at = (const void **)at});
}

/* A table of which a step reads one row. */
static void lookup(struct plan *p, struct weights *w, size_t rows, size_t columns)
{
    matrix(p, w, rows, columns, sqrtf(3.0f));
    p->step_bytes -= (rows - 1) * weight_bytes(p->type, columns);
}

static void norm(struct plan *p, const float **weight, const float **bias)
{
    vector(p, weight, p->from->width, 1, 0);
    if (!p->from->is_llama)
        vector(p, bias, p->from->width, 0, 0);
}

static void bias_for(struct plan *p, const float **at, size_t n)
{
    if (!p->from->is_llama)
        vector(p, at, n, 0, BIAS_SPREAD);
}

static void plan_layer(struct plan *p, struct layer *l)
{
    size_t width = p->from->width, kv = width / p->from->heads * p->from->kv_heads, hidden = p->from->hidden;
    norm(p, &l->attention_norm, &l->attention_norm_bias);
    projection(p, &l->q, width, width);
    bias_for(p, &l->q_bias, width);
    projection(p, &l->k, kv, width);
    bias_for(p, &l->k_bias, kv);
    projection(p, &l->v, kv, width);
    bias_for(p, &l->v_bias, kv);
    projection(p, &l->out, width, width);
    bias_for(p, &l->out_bias, width);
    norm(p, &l->feed_norm, &l->feed_norm_bias);
    if (p->from->is_llama)
        projection(p, &l->gate, hidden, width);
    projection(p, &l->up, hidden, width);
    bias_for(p, &l->up_bias, hidden);
    projection(p, &l->down, width, hidden);
    bias_for(p, &l->down_bias, width);
}

static void plan_model(struct plan *p, struct model *m)
{
    const struct preset *f = p->from;
    lookup(p, &m->embedding, f->vocabulary, f->width);
    if (!f->is_llama)
        lookup(p, &m->positions, f->context, f->width);
    for (size_t i = 0; i < f->layers; i++)
        plan_layer(p, &m->layers[i]);
    norm(p, &m->final_norm, &m->final_norm_bias);
    projection(p, &m->head, f->vocabulary, f->width);
}

/* Making it. */

struct making {
    const struct plan *plan;
    char *memory;
    uint64_t seed;
};

static void draw_row(float *out, size_t n, uint64_t seed, size_t first, float middle, float spread)
{
    for (size_t i = 0; i < n;) {
        uint64_t state = seed + (first + i) / 4;
        uint64_t bits = splitmix64(&state);
        for (size_t part = (first + i) % 4; part < 4 && i < n; part++, i++) {
            float u = (float)(uint16_t)(bits >> 16 * part);
            out[i] = middle + (u + 0.5f - 32768.0f) * 0x1p-15f * spread;
        }
    }
}

static void make_tensor(const struct making *k, size_t t, unsigned worker, unsigned workers)
{
    const struct made *m = &k->plan->made[t];
    struct share mine = team_share(m->rows, 1, worker, workers);
    own(free) float *row = mem_new(m->columns * sizeof *row);
    size_t row_bytes = weight_bytes(m->type, m->columns);
    for (size_t r = mine.from; r < mine.to; r++) {
        draw_row(row, m->columns, k->seed + ((uint64_t)t << 40), r * m->columns, m->middle, m->spread);
        weight_pack(m->type, k->memory + m->offset + r * row_bytes, row, m->columns);
    }
}

static void make_part(void *arg, unsigned worker, unsigned workers)
{
    const struct making *k = arg;
    for (size_t t = 0; t < k->plan->n; t++)
        make_tensor(k, t, worker, workers);
}

static bool make_weights(struct model *m, struct plan *p, uint64_t seed, struct err *e)
{
    INFEROM_SCOPE("load");
    INFEROM_PHASE("load.weights");
    void *memory = mmap(NULL, p->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return err_os(e, "no memory for the %zu bytes of weights", p->bytes);
    madvise(memory, p->bytes, MADV_HUGEPAGE); /* fewer steps to find a page; only a wish */
    m->memory = memory;
    m->memory_bytes = p->bytes;
    for (size_t i = 0; i < p->n; i++)
        *p->made[i].at = m->memory ? (char *)m->memory + p->made[i].offset : NULL;
    team_run(m->team, make_part, &(struct making){p, memory, seed});
    return mprotect(memory, p->bytes, PROT_READ) == 0 || err_os(e, "weights");
}

/* Opening. */

static const struct preset *preset_named(const char *name, struct err *e)
{
    for (size_t i = 0; i < PRESETS; i++)
        if (!strcmp(presets[i].name, name))
            return &presets[i];
    const char *near = text_nearest(name, model_preset_names());
    err_set(e, ERR_NOT_FOUND, "there is no model '%s'; there are small, medium, large and huge, and any .gguf file", name);
    if (near)
        err_hint(e, "did you mean '%s'?", near);
    return NULL;
}

static bool precision_named(const char *name, const struct preset *f, enum weight_type *out, struct err *e)
{
    *out = f->type;
    if (!name)
        return true;
    for (int i = 0; i < WEIGHT_TYPE_COUNT; i++)
        if (!strcmp(weight_type_names[i], name)) {
            *out = (enum weight_type)i;
            return true;
        }
    return err_set(e, ERR_USAGE, "weights cannot be '%s'; they can be f32, f16, bf16, q8_0 or q4_0", name);
}

static struct model *shape_of(const struct preset *f, enum weight_type type)
{
    struct model *m = mem_new(sizeof *m);
    pthread_mutex_init(&m->lock, NULL);
    m->name = mem_text(f->name, strlen(f->name));
    m->facts = (struct model_facts){
        .name = m->name, .architecture = f->is_llama ? "llama" : "inferom", .precision = weight_type_names[type],
        .vocabulary = f->vocabulary, .context = f->context, .layers = f->layers, .width = f->width, .hidden = f->hidden,
        .heads = f->heads, .kv_heads = f->kv_heads,
    };
    m->layers = mem_new(f->layers * sizeof *m->layers);
    m->head_size = f->width / f->heads;
    m->rotated = f->is_llama ? m->head_size : 0;
    m->epsilon = EPSILON;
    m->is_rms = f->is_llama;
    m->frequencies = mem_new(m->rotated / 2 * sizeof *m->frequencies);
    for (size_t i = 0; i < m->rotated / 2; i++)
        m->frequencies[i] = pow(ROPE_BASE, -2.0 * (double)i / (double)m->rotated);
    m->words = vocabulary_made_up(f->vocabulary);
    return m;
}

bool model_preset(const char *name, const struct model_plan *p, struct model **out, struct err *e)
{
    struct plan plan = {.from = preset_named(name, e)};
    if (!plan.from || !precision_named(p->precision, plan.from, &plan.type, e))
        return false;
    own(model) struct model *m = shape_of(plan.from, plan.type);
    plan_model(&plan, m);
    m->facts.parameters = plan.parameters;
    m->facts.weight_bytes = plan.bytes;
    m->facts.step_bytes = plan.step_bytes;
    bool ok = model_ready(m, p->threads, e) && make_weights(m, &plan, p->seed, e);
    free(plan.made);
    if (ok)
        *out = take(m);
    return ok;
}
