#include "base/clock.h"
#include "base/json.h"
#include "base/progress.h"
#include "base/text.h"
#include "lab/model_run.h"
#include "lab/safetensors.h"
#include "verbs/model_answer.h"
#include "verbs/model_options.h"
#include "verbs/verb.h"

#include <errno.h>
#include <inferom.h>
#include <time.h>

struct lab_model {
    struct model_settings model;
    uint64_t tokens, prompt_tokens;
    const char *prompt, *output;
    bool facts, json, md;
};

#define S struct lab_model
static const struct option lab_model_options[] = {
    NUMBER('n', "tokens", S, tokens, "N", "tokens to make, as far as the context goes", 0, 1000000),
    TEXT('p', "prompt", S, prompt, "TEXT", "what to feed first"),
    NUMBER(0, "prompt-tokens", S, prompt_tokens, "N", "feed the prompt again and again, to N tokens; 0 feeds it once", 0, 1000000),
    MODEL_OPTIONS(S),
    TEXT('o', "output", S, output, "FILE", "write the scopes and phases of the run as a capture file"),
    FLAG(0, "facts", S, facts, "only say what the model is; of .safetensors files, too"),
    FLAG(0, "json", S, json, "print JSON"),
    FLAG(0, "md", S, md, "print Markdown"),
    OPTIONS_END
};
#undef S

/* Facts. */

static bool safetensors_facts(const char *path, bool json, struct sink *out, struct err *e)
{
    own(safetensors) struct safetensors s = {0};
    if (!safetensors_open(path, &s, e))
        return false;
    if (json) {
        struct json_writer w;
        json_to_pretty(&w, out);
        json_open(&w, '{');
        json_key(&w, "name"), json_text(&w, view_of(path));
        json_key(&w, "tensors"), json_uint(&w, s.n);
        json_key(&w, "parameters"), json_uint(&w, s.parameters);
        json_key(&w, "precision"), json_text(&w, view_of(safetensors_usual_type(&s)));
        json_key(&w, "weight_bytes"), json_uint(&w, s.data_bytes);
        json_close(&w, '}');
        return true;
    }
    char parameters[32], bytes[32];
    text_count(parameters, (int64_t)s.parameters);
    text_bytes(bytes, (double)s.data_bytes);
    sink_puts(out, "file     ");
    text_safe(out, view_of(path), 0);
    sink_printf(out, "\nweights  %s parameters in %zu tensors, mostly %s, %s\n", parameters, s.n, safetensors_usual_type(&s), bytes);
    return true;
}

static void print_facts(const struct model_facts *m, bool json, struct sink *out)
{
    struct json_writer w;
    if (!json) {
        model_facts_print(m, out);
        return;
    }
    json_to_pretty(&w, out);
    model_facts_json(m, &w);
}

/* Running. */

static double process_cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void keep_piece(void *self, struct view piece) { buf_add(((struct buf **)self)[0], piece.at, piece.n); }
static void show_progress(void *self, uint64_t done) { progress_at(((struct progress **)self)[1], done); }

/* The prompt, and again and again the prompt, until there are enough tokens; `room` at most. */
static bool make_prompt(struct model *m, const struct lab_model *s, size_t room, struct tokens *out, struct err *e)
{
    size_t most = s->prompt_tokens ? (size_t)s->prompt_tokens : SIZE_MAX;
    size_t begun;
    model_chat_begin(m, out);
    do {
        begun = out->n;
        model_tokenize(m, view_of(s->prompt), out);
    } while (s->prompt_tokens && out->n < most && out->n > begun);
    if (out->n > most)
        out->n = most;
    if (!out->n)
        return err_set(e, ERR_USAGE, "--prompt: there must be something to continue");
    if (out->n > room)
        return err_set(e, ERR_USAGE, "a prompt of %zu tokens does not fit into a context of %zu", out->n, room);
    return true;
}

static size_t context_of(const struct model_facts *m, const struct session_plan *p)
{
    size_t usual = m->context < SESSION_CONTEXT_USUAL ? m->context : SESSION_CONTEXT_USUAL;
    return p->context && p->context < m->context ? p->context : p->context ? m->context : usual;
}

static void print_run(const struct call *c, const struct model_answer *a)
{
    const struct lab_model *s = c->settings;
    if (s->json)
        model_answer_json(a, c->out);
    else if (s->md)
        model_answer_markdown(a, c->out);
    else
        model_answer_print(a, &(struct table_style){c->look.width, c->look.colour}, c->out);
}

static bool write_capture(const char *path, struct err *e)
{
    int error = path ? inferom_write(path) : 0;
    errno = -error;
    return !error || err_os(e, "%s", path);
}

static bool run_model(const struct call *c, struct model *m, const struct session_plan *session, const struct model_answer *known, struct err *e)
{
    const struct lab_model *s = c->settings;
    own(tokens) struct tokens prompt = {0};
    own(buf) struct buf said;
    buf_init(&said, (size_t)64 << 20);
    if (!make_prompt(m, s, context_of(model_facts(m), session), &prompt, e))
        return false;
    struct progress progress = progress_begin("decoding", s->tokens);
    void *both[] = {&said, &progress};
    struct model_run run;
    struct model_answer a = *known;
    struct model_run_plan plan = {
        .session = *session, .prompt = prompt.at, .n_prompt = prompt.n, .tokens = (size_t)s->tokens,
        .wants_roof = a.model->step_bytes >= MODEL_ROOF_BYTES,
        .said = keep_piece, .progress = show_progress, .self = both, .stop = c->stop,
    };
    bool ok = model_run(m, &plan, &run, e);
    progress_end(&progress);
    if (!ok)
        return false;
    a.run = &run;
    a.said = buf_view(&said);
    print_run(c, &a);
    if (!write_capture(s->output, e))
        return false;
    return !run.is_stopped || err_set(e, ERR_INTERRUPTED, "stopped after %zu of %zu tokens", run.made, plan.tokens);
}

static bool lab_model(const struct call *c, struct err *e)
{
    const struct lab_model *s = c->settings;
    const char *name = c->n_args ? c->args[0] : "medium";
    struct model_plan plan;
    struct session_plan session;
    if (s->md && (s->json || s->facts))
        return err_set(e, ERR_USAGE, "--md goes with neither --json nor --facts");
    if (s->facts && view_ends(view_of(name), VIEW(".safetensors")))
        return safetensors_facts(name, s->json, c->out, e);
    if (!model_settings_read(&s->model, &plan, &session, e))
        return false;
    inferom_enable(1);
    double wall = (double)clock_monotonic_ns(), cpu = process_cpu_ns();
    own(model) struct model *m = NULL;
    if (!model_open(name, &plan, &m, e))
        return false;
    struct model_answer a = {
        .model = model_facts(m), .load = {0, (double)clock_monotonic_ns() - wall, process_cpu_ns() - cpu},
        .seed = s->model.seed, .temperature = session.temperature, .prompt = view_of(s->prompt),
    };
    if (!s->facts)
        return run_model(c, m, &session, &a, e);
    print_facts(a.model, s->json, c->out);
    return true;
}

const struct verb verb_lab_model = {
    .name = "lab model",
    .args = "[MODEL]",
    .most_args = 1,
    .what = "run the reference model: tokens per second, scopes, bandwidth",
    .about = "MODEL is a preset (small, medium, large, huge: 0.5, 3.5, 34 and 101 million parameters) or a .gguf file of the llama "
             "architecture with f32, f16, bf16, q8_0 or q4_0 weights. Presets make their weights from --seed and talk nonsense; what they "
             "do is what every model of their shape does. The same seed gives the same text and checksum on any number of threads.\n"
             "\n"
             "Prefill and decode are timed by the clock on the wall and by the CPU clock; on a busy machine believe the second. "
             "How fast one thread reads memory is measured in turns with decoding, so the share of that roof is of the same moment. Ctrl-C "
             "ends the run and prints what there is. docs/guide/model.md explains the architecture and the arithmetic.",
    .example = "inferom lab model small --tokens 16",
    .options = lab_model_options,
    .defaults = &(const struct lab_model){.model = MODEL_DEFAULTS, .tokens = 64, .prompt = "Once upon a time"},
    .settings_size = sizeof(struct lab_model),
    .watches_stop = true,
    .run = lab_model,
};
