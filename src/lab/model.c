#include "lab/model.h"
#include "base/mem.h"
#include "lab/gguf.h"
#include "lab/model_inside.h"

#include <inferom.h>
#include <sys/mman.h>

/* Making ready. */

static size_t most_columns(const struct model *m)
{
    size_t most = model_q_width(m);
    most = m->facts.width > most ? m->facts.width : most;
    most = m->facts.hidden > most ? m->facts.hidden : most;
    return (most + WEIGHT_BLOCK - 1) / WEIGHT_BLOCK * WEIGHT_BLOCK;
}

static float *rows_of(size_t n) { return mem_new(PASS_TOKENS * n * sizeof(float)); }

static void room_init(struct model *m, unsigned workers)
{
    struct pass_room *r = &m->room;
    size_t width = m->facts.width, hidden = m->facts.hidden;
    r->x = rows_of(width);
    r->normed = rows_of(width);
    r->delta = rows_of(width);
    r->q = rows_of(model_q_width(m));
    r->mixed = rows_of(model_q_width(m));
    r->k = rows_of(model_kv_width(m));
    r->v = rows_of(model_kv_width(m));
    r->gate = rows_of(hidden);
    r->up = rows_of(hidden);
    r->cosine = rows_of(m->rotated / 2);
    r->sine = rows_of(m->rotated / 2);
    for (size_t i = 0; i < PASS_TOKENS; i++)
        quantised_init(&r->q8[i], most_columns(m));
    r->products = mem_new(workers * sizeof *r->products);
    r->scores = mem_new(workers * sizeof *r->scores);
    for (unsigned i = 0; i < workers; i++)
        r->products[i] = matmul_room_new();
}

static void room_done(struct pass_room *r, unsigned workers)
{
    float *const all[] = {r->x, r->normed, r->delta, r->q, r->mixed, r->k, r->v, r->gate, r->up, r->cosine, r->sine};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
    for (size_t i = 0; i < PASS_TOKENS; i++)
        quantised_done(&r->q8[i]);
    for (unsigned i = 0; i < workers; i++) {
        matmul_room_free(r->products[i]);
        free(r->scores[i]);
    }
    free(r->products);
    free(r->scores);
}

bool model_ready(struct model *m, unsigned threads, struct err *e)
{
    unsigned workers = threads ? threads : 1;
    m->ops = ops_best();
    if (!team_new(&m->team, workers, e))
        return false;
    m->facts.threads = workers;
    room_init(m, workers);
    return true;
}

/* Opening. */

static bool is_preset(const char *name)
{
    for (const char *const *p = model_preset_names(); *p; p++)
        if (!strcmp(*p, name))
            return true;
    return false;
}

bool model_open(const char *preset_or_file, const struct model_plan *p, struct model **out, struct err *e)
{
    if (is_preset(preset_or_file) || !strpbrk(preset_or_file, "./"))
        return model_preset(preset_or_file, p, out, e);
    return model_load(preset_or_file, p, out, e);
}

bool model_load(const char *path, const struct model_plan *p, struct model **out, struct err *e)
{
    INFEROM_SCOPE("load");
    INFEROM_PHASE("load.weights");
    struct gguf *g = NULL;
    if (!gguf_open(path, &g, e))
        return false;
    if (!model_of_gguf(g, p, out, e))
        return err_in(e, "%s", path);
    gguf_bring(g); /* loading is part of loading, not of the first prompt */
    return true;
}

void model_free(struct model *m)
{
    if (!m)
        return;
    if (m->team) {
        room_done(&m->room, team_size(m->team));
        team_free(m->team);
    }
    pthread_mutex_destroy(&m->lock);
    if (m->memory)
        munmap(m->memory, m->memory_bytes);
    free(m->layers);
    free(m->frequencies);
    free(m->name);
    vocabulary_free(m->words);
    gguf_free(m->file);
    free(m);
}

/* Asking. */

const struct model_facts *model_facts(const struct model *m) { return &m->facts; }

void model_tokenize(const struct model *m, struct view text, struct tokens *out)
{
    INFEROM_SCOPE("text");
    INFEROM_PHASE("tokenize");
    vocabulary_tokenize(m->words, text, out);
}

struct view model_piece(const struct model *m, uint32_t token) { return token < m->words->n ? m->words->piece[token] : VIEW(""); }

bool model_ends(const struct model *m, uint32_t token) { return m->words->is_end && token < m->words->n && m->words->is_end[token]; }
