/*
 * model_options.h - the options that everything with a reference model has: which one, how, and how it speaks
 *
 *     struct chat_settings { struct model_settings model; ... };
 *     static const struct option options[] = { MODEL_OPTIONS(struct chat_settings), ..., OPTIONS_END };
 */
#pragma once
#include "base/option.h"
#include "lab/model.h"

struct model_settings {
    uint64_t seed, threads, top_k, context;
    const char *temperature, *precision;
};

#define MODEL_DEFAULTS {.seed = 1, .threads = 1, .temperature = "0"}

#define MODEL_OPTIONS(S)                                                                                                   \
    NUMBER('s', "seed", S, model.seed, "N", "of a preset's weights, and of the dice", 0, 0),                               \
    NUMBER('t', "threads", S, model.threads, "N", "threads that compute", 1, 256),                                         \
    TEXT(0, "temperature", S, model.temperature, "T", "0 always takes the likeliest token; 1 as the model thinks"),        \
    NUMBER(0, "top-k", S, model.top_k, "N", "with a temperature: only among the N likeliest; 0 is all", 0, 1000000),       \
    NUMBER(0, "context", S, model.context, "N", "tokens to have room for; 0 is the model's own, up to 4096", 0, 16777216), \
    TEXT(0, "precision", S, model.precision, "TYPE", "of a preset's weights: f32, f16, bf16, q8_0 or q4_0")

bool model_settings_read(const struct model_settings *s, struct model_plan *out_model, struct session_plan *out_session, struct err *e) MUST_CHECK;
