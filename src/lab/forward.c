/*
 * One pass through the model. All workers of the team run the same code, each on its share: rows of a
 * matrix, heads of the attention, tokens of a norm. A number is always computed by one worker, in one
 * order, so the result does not depend on how many there are. Where one needs what another made there is
 * a barrier.
 *
 * Every step is a scope of the client library, on every worker; waiting is one, too.
 */
#include "base/mem.h"
#include "lab/model_inside.h"

#include <inferom.h>
#include <math.h>

enum { ROWS_TOGETHER = 16 }; /* of a matrix, for all tokens before the next: they stay in the cache */

struct part {
    struct pass *p;
    struct model *m;
    struct pass_room *r;
    unsigned worker, workers;
};

static void meet(const struct part *t)
{
    if (t->workers < 2)
        return;
    INFEROM_SCOPE("wait");
    team_barrier(t->m->team);
}

/* Tokens are dealt out in turn. */
#define FOR_MY_TOKENS(i, t) for (size_t i = (t)->worker; i < (t)->p->n; i += (t)->workers)

/* Layers. Sites live as long as the program: the library keeps them. */

enum { LAYER_SITES = 128 };
static inferom_site layer_sites[LAYER_SITES];
static char layer_names[LAYER_SITES][32];
static pthread_once_t layers_are_named = PTHREAD_ONCE_INIT;

static void name_layers(void)
{
    for (int i = 0; i < LAYER_SITES; i++) {
        snprintf(layer_names[i], sizeof layer_names[i], i + 1 < LAYER_SITES ? "layer %d" : "layer %d and more", i);
        layer_sites[i] = (inferom_site){.name = layer_names[i], .function = "layer", .file = __FILE__, .line = __LINE__};
    }
}

/* Matrices. */

static struct share my_rows(const struct part *t, const struct weights *w)
{
    return team_share(w->rows, ROWS_TOGETHER, t->worker, t->workers);
}

static void multiply_rows(const struct part *t, const struct weights *w, const float *in, float *out, struct share s)
{
    for (size_t from = s.from; from < s.to; from += ROWS_TOGETHER) {
        size_t to = t->p->n == 1 || from + ROWS_TOGETHER > s.to ? s.to : from + ROWS_TOGETHER;
        for (size_t i = 0; i < t->p->n; i++) {
            struct activations x = {.f32 = in + i * w->columns, .q8 = t->r->q8[i]};
            ops_matvec(t->m->ops, out + i * w->rows, w, &x, from, to);
        }
        if (to == s.to)
            break;
    }
}

static void multiply_tokens(const struct part *t, const struct weights *w, const float *in, float *out, struct share s)
{
    struct matmul product = {
        .m = t->p->n, .n = s.to - s.from, .k = w->columns, .a = in, .a_stride = w->columns,
        .b = weights_row(w, s.from), .b_type = w->type, .b_is_rows = true, .b_stride = w->columns,
        .c = out + s.from, .c_stride = w->rows,
    };
    t->m->ops->matmul(&product, t->r->products[t->worker]);
}

/*
 * out = in * W (+ bias), my rows of W for all tokens. Quantised weights take quantised activations, so that a
 * token's numbers are the same whether it is fed or decoded. Plain weights are multiplied by whole matrices
 * when tokens are fed.
 */
static void project(const struct part *t, const struct weights *w, const float *bias, const float *in, float *out)
{
    struct share s = my_rows(t, w);
    if (s.from == s.to)
        return;
    if (t->p->is_decode || weight_is_quantised(w->type))
        multiply_rows(t, w, in, out, s);
    else
        multiply_tokens(t, w, in, out, s);
    for (size_t i = 0; bias && i < t->p->n; i++) {
        float *y = out + i * w->rows + s.from;
        t->m->ops->add(y, y, bias + s.from, s.to - s.from);
    }
}

/* The same, added to the stream. */
static void project_onto(const struct part *t, const struct weights *w, const float *bias, const float *in)
{
    project(t, w, bias, in, t->r->delta);
    struct share s = my_rows(t, w);
    for (size_t i = 0; i < t->p->n; i++) {
        float *x = t->r->x + i * w->rows + s.from;
        t->m->ops->add(x, x, t->r->delta + i * w->rows + s.from, s.to - s.from);
    }
}

/* For quantised weights the activations are, too: by token, once all of a token is there. */
static void quantise(const struct part *t, const struct weights *w, const float *in)
{
    if (!weight_is_quantised(w->type))
        return;
    FOR_MY_TOKENS(i, t)
        t->m->ops->quantise(&t->r->q8[i], in + i * w->columns, w->columns);
    meet(t);
}

static void normalise_one(const struct model *m, float *y, const float *x, const float *weight, const float *bias)
{
    if (m->is_rms)
        m->ops->rmsnorm(y, x, weight, m->facts.width, m->epsilon);
    else
        m->ops->layernorm(y, x, weight, bias, m->facts.width, m->epsilon);
}

/* Into r->normed; also quantised, if what reads it wants that. */
static void normalise(const struct part *t, const float *weight, const float *bias, bool is_quantised)
{
    INFEROM_SCOPE("norm");
    size_t width = t->m->facts.width;
    FOR_MY_TOKENS(i, t) {
        float *y = t->r->normed + i * width;
        normalise_one(t->m, y, t->r->x + i * width, weight, bias);
        if (is_quantised)
            t->m->ops->quantise(&t->r->q8[i], y, width);
    }
    meet(t);
}

/* Embedding, and where in the text it is. */

static void embed(const struct part *t)
{
    INFEROM_SCOPE("embed");
    const struct model *m = t->m;
    size_t width = m->facts.width, half = m->rotated / 2;
    FOR_MY_TOKENS(i, t) {
        size_t position = t->p->position + i;
        float *x = t->r->x + i * width;
        m->ops->unpack[m->embedding.type](x, weights_row(&m->embedding, t->p->tokens[i]), width);
        if (m->positions.at) {
            float *place = t->r->normed + i * width;
            m->ops->unpack[m->positions.type](place, weights_row(&m->positions, position), width);
            m->ops->add(x, x, place, width);
        }
        for (size_t k = 0; k < half; k++) {
            double angle = (double)position * m->frequencies[k];
            t->r->cosine[i * half + k] = (float)cos(angle);
            t->r->sine[i * half + k] = (float)sin(angle);
        }
    }
    meet(t);
}

/* Attention. */

static void rotate(const struct part *t, size_t token, float *head)
{
    size_t half = t->m->rotated / 2;
    if (half)
        t->m->ops->rope_pairs(head, head, t->r->cosine + token * half, t->r->sine + token * half, t->m->rotated);
}

static void keep_keys(const struct part *t, size_t layer, size_t head)
{
    const struct model *m = t->m;
    size_t n = m->head_size, width = model_kv_width(m);
    for (size_t i = 0; i < t->p->n; i++) {
        size_t at = cache_at(m, layer, head, t->p->position + i);
        float *key = t->p->cache->keys + at;
        memcpy(key, t->r->k + i * width + head * n, n * sizeof *key);
        rotate(t, i, key);
        memcpy(t->p->cache->values + at, t->r->v + i * width + head * n, n * sizeof *key);
    }
}

/* Positions of a block that have been seen. */
static size_t seen_in(size_t seen, size_t block) { return seen - block < CACHE_BLOCK ? seen - block : CACHE_BLOCK; }

/* What one head of one token takes from all tokens so far. */
static void attend_one(const struct part *t, size_t layer, size_t kv_head, size_t token, float *q, float *out)
{
    const struct ops *o = t->m->ops;
    const struct cache *c = t->p->cache;
    size_t n = t->m->head_size, seen = t->p->position + token + 1;
    float *scores = t->r->scores[t->worker];
    rotate(t, token, q);
    o->scale(q, q, 1.0f / sqrtf((float)n), n);
    struct activations x = {.f32 = q};
    for (size_t b = 0; b < seen; b += CACHE_BLOCK)
        o->matvec[WEIGHT_F32](scores + b, c->keys + cache_at(t->m, layer, kv_head, b), &x, seen_in(seen, b), n);
    o->softmax(scores, scores, seen);
    memset(out, 0, n * sizeof *out);
    for (size_t b = 0; b < seen; b += CACHE_BLOCK)
        o->mix(out, c->values + cache_at(t->m, layer, kv_head, b), scores + b, seen_in(seen, b), n);
}

static void attend(const struct part *t, size_t layer)
{
    INFEROM_SCOPE("attention");
    const struct model *m = t->m;
    size_t group = m->facts.heads / m->facts.kv_heads, n = m->head_size, width = model_q_width(m);
    struct share mine = team_share(m->facts.kv_heads, 1, t->worker, t->workers);
    for (size_t head = mine.from; head < mine.to; head++) {
        keep_keys(t, layer, head);
        for (size_t i = 0; i < t->p->n; i++)
            for (size_t h = head * group; h < (head + 1) * group; h++)
                attend_one(t, layer, head, i, t->r->q + i * width + h * n, t->r->mixed + i * width + h * n);
    }
    meet(t);
}

static void project_heads(const struct part *t, const struct layer *l)
{
    INFEROM_SCOPE("qkv");
    project(t, &l->q, l->q_bias, t->r->normed, t->r->q);
    project(t, &l->k, l->k_bias, t->r->normed, t->r->k);
    project(t, &l->v, l->v_bias, t->r->normed, t->r->v);
    meet(t);
}

static void project_attention(const struct part *t, const struct layer *l)
{
    INFEROM_SCOPE("attention_out");
    quantise(t, &l->out, t->r->mixed);
    project_onto(t, &l->out, l->out_bias, t->r->mixed);
    meet(t);
}

/* Feed forward. */

static void activate(const struct part *t, const struct layer *l)
{
    struct share s = my_rows(t, &l->up);
    const struct ops *o = t->m->ops;
    for (size_t i = 0; i < t->p->n; i++) {
        float *up = t->r->up + i * l->up.rows + s.from, *gate = t->r->gate + i * l->up.rows + s.from;
        if (!l->gate.at) {
            o->gelu(up, up, s.to - s.from);
            continue;
        }
        o->silu(gate, gate, s.to - s.from);
        o->mul(up, up, gate, s.to - s.from);
    }
}

static void feed_forward(const struct part *t, const struct layer *l)
{
    INFEROM_SCOPE("feed_forward");
    if (l->gate.at)
        project(t, &l->gate, NULL, t->r->normed, t->r->gate);
    project(t, &l->up, l->up_bias, t->r->normed, t->r->up);
    activate(t, l);
    meet(t);
    quantise(t, &l->down, t->r->up);
    project_onto(t, &l->down, l->down_bias, t->r->up);
    meet(t);
}

static bool any_quantised(const struct weights *a, const struct weights *b, const struct weights *c)
{
    return weight_is_quantised(a->type) || weight_is_quantised(b->type) || (c->at && weight_is_quantised(c->type));
}

static void pass_layer(const struct part *t, size_t i)
{
    const struct layer *l = &t->m->layers[i];
    inferom_scope scope;
    __attribute__((cleanup(inferom_leave_), unused)) inferom_scope *const open = inferom_enter_(&scope, &layer_sites[i < LAYER_SITES ? i : LAYER_SITES - 1]);
    normalise(t, l->attention_norm, l->attention_norm_bias, any_quantised(&l->q, &l->k, &l->v));
    project_heads(t, l);
    attend(t, i);
    project_attention(t, l);
    normalise(t, l->feed_norm, l->feed_norm_bias, any_quantised(&l->up, &l->up, &l->gate));
    feed_forward(t, l);
}

/* Only the last token's; the others were only fed. */
static void pass_head(const struct part *t)
{
    INFEROM_SCOPE("head");
    const struct model *m = t->m;
    float *last = t->r->normed;
    if (!t->worker) {
        normalise_one(m, last, t->r->x + (t->p->n - 1) * m->facts.width, m->final_norm, m->final_norm_bias);
        if (weight_is_quantised(m->head.type))
            m->ops->quantise(&t->r->q8[0], last, m->facts.width);
    }
    meet(t);
    struct share s = my_rows(t, &m->head);
    struct activations x = {.f32 = last, .q8 = t->r->q8[0]};
    ops_matvec(m->ops, t->p->logits, &m->head, &x, s.from, s.to);
}

static void pass_part(void *arg, unsigned worker, unsigned workers)
{
    struct pass *p = arg;
    const struct part t = {.p = p, .m = p->model, .r = &p->model->room, .worker = worker, .workers = workers};
    INFEROM_REQUEST(worker ? p->request : NULL);
    INFEROM_SCOPE("forward");
    if (p->is_decode)
        INFEROM_PHASE("decode");
    else
        INFEROM_PHASE("prefill");
    embed(&t);
    for (size_t i = 0; i < t.m->facts.layers; i++)
        pass_layer(&t, i);
    if (p->logits)
        pass_head(&t);
}

void pass_run(struct pass *p)
{
    struct pass_room *r = &p->model->room;
    unsigned workers = team_size(p->model->team);
    pthread_once(&layers_are_named, name_layers);
    p->request = INFEROM_ON_() ? inferom_request_enter(NULL) : NULL; /* this thread knows; the others have to be told */
    for (unsigned i = 0; i < workers && r->n_scores < p->cache->context; i++) {
        free(r->scores[i]);
        r->scores[i] = mem_new(p->cache->context * sizeof *r->scores[i]);
    }
    if (r->n_scores < p->cache->context)
        r->n_scores = p->cache->context;
    team_run(p->model->team, pass_part, p);
}
