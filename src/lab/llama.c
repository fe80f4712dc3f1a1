/*
 * A model of the llama architecture from a GGUF file. Settings and shapes must agree with each other before
 * anything is computed: every matrix has the rows and columns that its neighbours expect.
 */
#include "base/mem.h"
#include "lab/gguf.h"
#include "lab/model_inside.h"

#include <inttypes.h>
#include <math.h>

struct loading {
    struct model *m;
    const struct gguf *g;
    uint64_t step_bytes;
};

/* Settings. */

static bool setting(const struct gguf *g, struct view key, uint64_t most, uint32_t *out, struct err *e)
{
    uint64_t n;
    if (!gguf_uint(g, key, &n))
        return err_set(e, ERR_MALFORMED, "setting '%s' is missing, or not one whole number", key.at);
    if (!n || n > most)
        return err_set(e, ERR_MALFORMED, "setting '%s' is %" PRIu64 "; 1 to %" PRIu64 " can be", key.at, n, most);
    *out = (uint32_t)n;
    return true;
}

/* Or what it is when nobody says. */
static bool setting_or(const struct gguf *g, struct view key, uint64_t most, uint32_t usual, uint32_t *out, struct err *e)
{
    *out = usual;
    return !gguf_value(g, key) || setting(g, key, most, out, e);
}

#define KEY(name) VIEW("llama." name)

static bool refuse_what_we_lack(const struct gguf *g, struct err *e)
{
    struct view text = VIEW("(none)");
    uint64_t n;
    gguf_text(g, VIEW("general.architecture"), &text);
    if (!view_same(text, VIEW("llama")))
        return err_set(e, ERR_UNSUPPORTED, "its architecture is '%.*s'; only 'llama' can be run", text.n < 40 ? (int)text.n : 40, text.at);
    if (gguf_uint(g, KEY("expert_count"), &n) && n)
        return err_set(e, ERR_UNSUPPORTED, "it is a mixture of %" PRIu64 " experts, which we cannot run", n);
    if (gguf_text(g, KEY("rope.scaling.type"), &text) && !view_same(text, VIEW("none")) && !view_same(text, VIEW("linear")))
        return err_set(e, ERR_UNSUPPORTED, "its positions are scaled by '%.*s'; only 'linear' is known", text.n < 40 ? (int)text.n : 40, text.at);
    return true;
}

static bool read_heads(struct model *m, const struct gguf *g, struct err *e)
{
    struct model_facts *f = &m->facts;
    uint32_t key, value, rotated;
    if (!setting(g, KEY("attention.head_count"), f->width, &f->heads, e) ||
        !setting_or(g, KEY("attention.head_count_kv"), f->heads, f->heads, &f->kv_heads, e) ||
        !setting_or(g, KEY("attention.key_length"), f->width, f->width / f->heads, &key, e) ||
        !setting_or(g, KEY("attention.value_length"), f->width, key, &value, e) ||
        !setting_or(g, KEY("rope.dimension_count"), key, key, &rotated, e))
        return false;
    if (f->heads % f->kv_heads || value != key || rotated % 2)
        return err_set(e, ERR_UNSUPPORTED, "%u heads, %u of them with keys, of %u and %u values, %u rotated: we cannot run such a model",
                       f->heads, f->kv_heads, key, value, rotated);
    m->head_size = key;
    m->rotated = rotated;
    return true;
}

static bool read_settings(struct model *m, const struct gguf *g, struct err *e)
{
    enum { WIDEST = 1 << 20, LONGEST = 1 << 24 };
    struct model_facts *f = &m->facts;
    double epsilon = 1e-5;
    if (!refuse_what_we_lack(g, e) || !setting(g, KEY("embedding_length"), WIDEST, &f->width, e) ||
        !setting(g, KEY("block_count"), gguf_tensor_count(g), &f->layers, e) ||
        !setting(g, KEY("feed_forward_length"), WIDEST, &f->hidden, e) || !setting(g, KEY("context_length"), LONGEST, &f->context, e) ||
        !read_heads(m, g, e))
        return false;
    gguf_double(g, KEY("attention.layer_norm_rms_epsilon"), &epsilon);
    if (!(epsilon > 0 && epsilon < 1))
        return err_set(e, ERR_MALFORMED, "setting 'llama.attention.layer_norm_rms_epsilon' is %g", epsilon);
    m->epsilon = (float)epsilon;
    m->is_rms = true;
    return true;
}

/* Tensors. */

static const struct gguf_tensor *vector_named(const struct gguf *g, struct view name, size_t n, struct err *e)
{
    const struct gguf_tensor *t = gguf_tensor(g, name);
    if (!t || (t->type->number == TENSOR_F32 && t->elements == n))
        return t;
    err_set(e, ERR_MALFORMED, "tensor '%s' has %" PRIu64 " values of type %s; %zu of type f32 are expected", name.at, t->elements, t->type->name, n);
    return NULL;
}

static bool take_vector(struct loading *l, const char *name, size_t n, bool is_needed, const float **out, struct err *e)
{
    struct err why = {0};
    const struct gguf_tensor *t = vector_named(l->g, view_of(name), n, &why);
    if (!t && why.kind) {
        if (e)
            *e = why;
        return false;
    }
    if (!t)
        return !is_needed || err_set(e, ERR_MALFORMED, "tensor '%s' is missing", name);
    *out = t->data;
    l->step_bytes += t->bytes;
    return true;
}

static bool type_of(const struct gguf_tensor *t, enum weight_type *out)
{
    static const struct {
        uint32_t number;
        enum weight_type type;
    } rows[] = {
        {TENSOR_F32, WEIGHT_F32}, {TENSOR_F16, WEIGHT_F16}, {TENSOR_BF16, WEIGHT_BF16}, {TENSOR_Q8_0, WEIGHT_Q8_0}, {TENSOR_Q4_0, WEIGHT_Q4_0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].number == t->type->number) {
            *out = rows[i].type;
            return true;
        }
    return false;
}

static bool take_matrix(struct loading *l, const char *name, size_t rows, size_t columns, struct weights *out, struct err *e)
{
    const struct gguf_tensor *t = gguf_tensor(l->g, view_of(name));
    if (!t)
        return err_set(e, ERR_MALFORMED, "tensor '%s' is missing", name);
    if (t->n_dims != 2 || t->dims[0] != columns || t->dims[1] != rows)
        return err_set(e, ERR_MALFORMED, "tensor '%s' is %" PRIu64 " x %" PRIu64 "; %zu x %zu is expected", name, t->dims[1],
                       t->dims[0], rows, columns);
    *out = (struct weights){.rows = rows, .columns = columns, .at = t->data};
    if (!type_of(t, &out->type))
        return err_set(e, ERR_UNSUPPORTED, "tensor '%s' is of type %s; f32, f16, bf16, q8_0 and q4_0 can be computed with", name, t->type->name);
    l->step_bytes += t->bytes;
    return true;
}

static bool take_layer(struct loading *l, uint32_t i, struct err *e)
{
    struct layer *y = &l->m->layers[i];
    size_t width = l->m->facts.width, hidden = l->m->facts.hidden, q = model_q_width(l->m), kv = model_kv_width(l->m);
    const struct {
        const char *name;
        size_t rows, columns;
        struct weights *to;
    } matrices[] = {
        {"attn_q", q, width, &y->q},       {"attn_k", kv, width, &y->k},         {"attn_v", kv, width, &y->v},
        {"attn_output", width, q, &y->out}, {"ffn_gate", hidden, width, &y->gate}, {"ffn_up", hidden, width, &y->up},
        {"ffn_down", width, hidden, &y->down},
    };
    const struct {
        const char *name;
        size_t n;
        bool is_needed;
        const float **to;
    } vectors[] = {
        {"attn_norm.weight", width, true, &y->attention_norm}, {"ffn_norm.weight", width, true, &y->feed_norm},
        {"attn_q.bias", q, false, &y->q_bias},                 {"attn_k.bias", kv, false, &y->k_bias},
        {"attn_v.bias", kv, false, &y->v_bias},                {"attn_output.bias", width, false, &y->out_bias},
    };
    char name[64];
    for (size_t k = 0; k < sizeof matrices / sizeof *matrices; k++) {
        snprintf(name, sizeof name, "blk.%u.%s.weight", i, matrices[k].name);
        if (!take_matrix(l, name, matrices[k].rows, matrices[k].columns, matrices[k].to, e))
            return false;
    }
    for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++) {
        snprintf(name, sizeof name, "blk.%u.%s", i, vectors[k].name);
        if (!take_vector(l, name, vectors[k].n, vectors[k].is_needed, vectors[k].to, e))
            return false;
    }
    return true;
}

/* The words and the matrix that says them must be as many; an output of its own is not needed. */
static bool take_ends(struct loading *l, struct err *e)
{
    struct model *m = l->m;
    size_t width = m->facts.width, words = m->words->n;
    if (!take_matrix(l, "token_embd.weight", words, width, &m->embedding, e) ||
        !take_vector(l, "output_norm.weight", width, true, &m->final_norm, e))
        return false;
    if (!gguf_tensor(l->g, VIEW("output.weight"))) {
        m->head = m->embedding; /* read as a whole, too */
        return true;
    }
    l->step_bytes -= (words - 1) * weight_bytes(m->embedding.type, width); /* a step reads one row */
    return take_matrix(l, "output.weight", words, width, &m->head, e);
}

/* Positions. */

static bool read_frequencies(struct loading *l, struct err *e)
{
    struct model *m = l->m;
    size_t half = m->rotated / 2;
    double base = 10000, scale = 1;
    const float *factors = NULL;
    gguf_double(l->g, KEY("rope.freq_base"), &base);
    gguf_double(l->g, KEY("rope.scaling.factor"), &scale);
    if (!(base > 1) || !isfinite(base) || !(scale > 0) || !isfinite(scale))
        return err_set(e, ERR_MALFORMED, "rotations of base %g, scaled by %g", base, scale);
    if (!take_vector(l, "rope_freqs.weight", half, false, &factors, e))
        return false;
    m->frequencies = mem_new(half * sizeof *m->frequencies);
    for (size_t i = 0; i < half; i++)
        m->frequencies[i] = pow(base, -2.0 * (double)i / (double)m->rotated) / scale / (factors ? (double)factors[i] : 1);
    return true;
}

static void count(struct loading *l)
{
    struct model_facts *f = &l->m->facts;
    for (size_t i = 0; i < gguf_tensor_count(l->g); i++) {
        const struct gguf_tensor *t = gguf_tensor_at(l->g, i);
        f->parameters += view_same(t->name, VIEW("rope_freqs.weight")) ? 0 : t->elements;
        f->weight_bytes += t->bytes;
    }
    f->step_bytes = l->step_bytes;
    f->precision = weight_type_names[l->m->layers[0].up.type];
    f->vocabulary = l->m->words->n;
    f->architecture = "llama";
    f->name = l->m->name;
}

bool model_of_gguf(struct gguf *g, const struct model_plan *p, struct model **out, struct err *e)
{
    own(model) struct model *m = mem_new(sizeof *m);
    struct loading l = {.m = m, .g = g};
    struct view name = VIEW("unnamed");
    pthread_mutex_init(&m->lock, NULL);
    m->file = g;
    if (!read_settings(m, g, e) || !vocabulary_read(g, &m->words, e))
        return false;
    gguf_text(g, VIEW("general.name"), &name);
    m->name = mem_text(name.at, name.n);
    m->layers = mem_new(m->facts.layers * sizeof *m->layers);
    if (!take_ends(&l, e) || !read_frequencies(&l, e))
        return false;
    for (uint32_t i = 0; i < m->facts.layers; i++)
        if (!take_layer(&l, i, e))
            return false;
    count(&l);
    if (!model_ready(m, p->threads, e))
        return false;
    *out = take(m);
    return true;
}
