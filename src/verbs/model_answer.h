/*
 * model_answer.h - what a run of the reference model showed, for people and for programs
 */
#pragma once
#include "base/sink.h"
#include "lab/model_run.h"
#include "render/table.h"

struct model_answer {
    const struct model_facts *model;
    const struct model_run *run;
    struct model_phase load;
    uint64_t seed;
    double temperature;
    struct view prompt, said; /* may hold anything */
};

/* The facts alone, or of everything that was measured; scopes come from the client library. */
void model_facts_print(const struct model_facts *m, struct sink *out);
void model_answer_print(const struct model_answer *a, const struct table_style *style, struct sink *out);
void model_answer_markdown(const struct model_answer *a, struct sink *out);
void model_answer_json(const struct model_answer *a, struct sink *out);

struct json_writer;
void model_facts_json(const struct model_facts *m, struct json_writer *w); /* an object */

/* Of the time of all passes through the model, the part that is in a scope with a name; NAN: nothing was recorded. */
double model_covered_share(void);
