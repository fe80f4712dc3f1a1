/*
 * model.h - a small language model that really runs: the lab's reference for inference
 *
 * A model is weights and a vocabulary; it is made once, never changes and is shared. A session is
 * one conversation with it: its own cache of keys and values, its own place in the context, its own
 * dice. Any number of sessions may be open at once.
 *
 *     preset (weights from a seed) ─┐
 *                                   ├─> model ──> session: feed, next, next, next ...
 *     GGUF file (mapped, not read) ─┘        └──> session
 *
 * Use:
 *     own(model) struct model *m = NULL;
 *     if (!model_open("small", &(struct model_plan){.seed = 1, .threads = 2}, &m, e))
 *         return false;
 *     own(tokens) struct tokens said = {0};
 *     model_tokenize(m, VIEW("Hello"), &said);
 *     own(session) struct session *s = session_new(m, &(struct session_plan){.seed = 7});
 *     if (!session_feed(s, said.at, said.n, e))
 *         return false;
 *     for (uint32_t t; session_room(s) && session_next(s, &t, e) && !model_ends(m, t);)
 *         put(model_piece(m, t));
 *
 * The same model, seed and words give the same tokens on any number of threads: a sum is always
 * made by one thread, in one order.
 *
 * Owns:     a model its weights, its threads and every piece it hands out; a session its cache.
 *           Free the sessions before their model.
 * Threads:  a model's own functions may be called from anywhere. A session belongs to one thread
 *           at a time; sessions of one model may be used by different threads, and wait for each
 *           other because they share the model's team of threads.
 * Fails:    opening a model says why in `e`; a session fails only when its context is full (ERR_LIMIT)
 *           or a token is none of the vocabulary (ERR_USAGE).
 */
#pragma once
#include "base/err.h"
#include "base/own.h"
#include "base/view.h"
#include <stddef.h>
#include <stdint.h>

struct model;
struct session;

/* How to make a model; all zero is fine. */
struct model_plan {
    uint64_t seed;    /* of a preset's weights; a file has its own */
    unsigned threads; /* 0: one */
    const char *precision; /* of a preset's weights, "f32" or "q8_0", ...; NULL: its usual one */
};

/* What is known of a model; numbers are computed from its tensors, never typed in. */
struct model_facts {
    const char *name;         /* "small", or what the file calls itself; may hold anything */
    const char *architecture; /* "inferom" (docs/guide/model.md) or "llama" */
    const char *precision;    /* of the weights: "f32", "f16", "q8_0", "q4_0" */
    uint32_t vocabulary, context, layers, width, hidden, heads, kv_heads;
    uint64_t parameters;
    uint64_t weight_bytes; /* of all weights */
    uint64_t step_bytes;   /* of the weights that one decode step reads: what bandwidth is judged by */
    unsigned threads;
};

/* Life. */
bool model_open(const char *preset_or_file, const struct model_plan *p, struct model **out, struct err *e) MUST_CHECK;
bool model_preset(const char *name, const struct model_plan *p, struct model **out, struct err *e) MUST_CHECK;
bool model_load(const char *path, const struct model_plan *p, struct model **out, struct err *e) MUST_CHECK;
void model_free(struct model *m);
DEFINE_OWN(model, struct model *)

const struct model_facts *model_facts(const struct model *m);
const char *const *model_preset_names(void); /* NULL-terminated, smallest first */

/* Text. Tokens are numbers below facts.vocabulary. */
struct tokens {
    uint32_t *at;
    size_t n, cap;
};
void tokens_add(struct tokens *t, uint32_t token);
void tokens_done(struct tokens *t);
DEFINE_OWN_IN_PLACE(tokens, struct tokens)

/* Appends; the pieces put together are the text again (SentencePiece puts a blank in front). Never a mark, whatever the text says. */
void model_tokenize(const struct model *m, struct view text, struct tokens *out);
struct view model_piece(const struct model *m, uint32_t token); /* bytes, not always whole characters; "" of a mark */
bool model_ends(const struct model *m, uint32_t token);         /* whether the model says with it that it is done */

/* A conversation in the form the model was made for: what a role said, and the beginning of the answer. */
void model_chat_begin(const struct model *m, struct tokens *out); /* once, in front */
void model_chat_turn(const struct model *m, const char *role, struct view text, struct tokens *out);
void model_chat_answer(const struct model *m, struct tokens *out);
void model_chat_answered(const struct model *m, struct tokens *out); /* closes an answer before the next turn */

/* How a session picks the next token; all zero is greedy, with the model's whole context. */
struct session_plan {
    uint64_t seed;
    double temperature; /* 0: always the likeliest */
    uint32_t top_k;     /* with a temperature: only among so many; 0: all */
    uint32_t context;   /* tokens to have room for; 0: the model's, SESSION_CONTEXT_USUAL at most */
};
#define SESSION_CONTEXT_USUAL 4096

struct session_counts {
    uint64_t prefill_tokens, prefill_ns; /* fed */
    uint64_t decode_tokens, decode_ns;   /* evaluated one at a time, to have the next */
    uint64_t sampled_tokens, sample_ns;
};

struct session *session_new(struct model *m, const struct session_plan *p);
void session_free(struct session *s);
DEFINE_OWN(session, struct session *)

/* Evaluates tokens (prefill). n 0 does nothing. */
bool session_feed(struct session *s, const uint32_t *tokens, size_t n, struct err *e) MUST_CHECK;

/* Picks the next token; evaluates the one picked before (one decode step) if it was not fed yet. Something must have been fed. */
bool session_next(struct session *s, uint32_t *out_token, struct err *e) MUST_CHECK;

void session_reset(struct session *s, uint64_t seed); /* forgets the conversation; the counts go on */
void session_cut(struct session *s, size_t position); /* forgets what came after so many tokens */

size_t session_position(const struct session *s); /* tokens so far, the one picked last included */
size_t session_room(const struct session *s);     /* tokens that still fit */
const struct session_counts *session_counts(const struct session *s);
size_t session_cache_bytes(const struct session *s);

/* What the model thinks of each token of the vocabulary, after the last one that was evaluated; NULL before any. */
const float *session_logits(const struct session *s);
