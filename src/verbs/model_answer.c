#include "verbs/model_answer.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"

#include <inferom.h>
#include <inttypes.h>

/* Scopes of the steps of a pass (src/lab/forward.c); what is in none of them is not accounted for. */
static const char *const steps[] = {"embed", "norm", "qkv", "attention", "attention_out", "feed_forward", "head", "wait"};

static inferom_row *scopes(size_t *out_n)
{
    size_t n = inferom_top(NULL, 0, INFEROM_BY_SELF);
    inferom_row *rows = mem_new((n + 1) * sizeof *rows);
    size_t now = inferom_top(rows, n, INFEROM_BY_SELF);
    *out_n = now < n ? now : n;
    return rows;
}

static bool is_step(const char *name)
{
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (!strcmp(steps[i], name))
            return true;
    return false;
}

static double covered(const inferom_row *rows, size_t n, double *out_forward_ns)
{
    double forward = 0, inside = 0;
    for (size_t i = 0; i < n; i++) {
        forward += !strcmp(rows[i].name, "forward") ? rows[i].total_ns : 0;
        inside += is_step(rows[i].name) ? rows[i].self_ns : 0;
    }
    *out_forward_ns = forward;
    return forward > 0 ? inside / forward : UNKNOWN;
}

double model_covered_share(void)
{
    size_t n;
    double forward_ns;
    own(free) inferom_row *rows = scopes(&n);
    return covered(rows, n, &forward_ns);
}

/* For people. */

static void count(struct sink *out, const char *before, uint64_t n, const char *after)
{
    char text[32];
    text_count(text, (int64_t)n);
    sink_printf(out, "%s%s%s", before, text, after);
}

static void bytes(struct sink *out, uint64_t n, const char *after)
{
    char text[32];
    text_bytes(text, (double)n);
    sink_printf(out, "%s%s", text, after);
}

void model_facts_print(const struct model_facts *m, struct sink *out)
{
    sink_puts(out, "model    ");
    text_safe(out, view_of(m->name), 60);
    sink_printf(out, ": %s, %s", m->architecture, m->precision);
    count(out, ", ", m->parameters, " parameters\n");
    sink_printf(out, "shape    %u layers of %u, feed-forward %u, %u heads", m->layers, m->width, m->hidden, m->heads);
    if (m->kv_heads != m->heads)
        sink_printf(out, " on %u of keys", m->kv_heads);
    count(out, ", context ", m->context, "");
    count(out, ", vocabulary ", m->vocabulary, "\n");
    sink_puts(out, "weights  ");
    bytes(out, m->weight_bytes, ", of which a decode step reads ");
    bytes(out, m->step_bytes, "\n");
}

static double per_second(double n, double ns) { return ns > 0 ? n / ns * 1e9 : UNKNOWN; }

static void phase_row(struct table *t, const char *name, const struct model_phase *p, bool has_tokens)
{
    table_text(t, view_of(name));
    table_number(t, has_tokens ? (double)p->tokens : UNKNOWN);
    table_number(t, p->wall_ns);
    table_number(t, has_tokens ? per_second((double)p->tokens, p->wall_ns) : UNKNOWN);
    table_number(t, p->cpu_ns);
    table_number(t, has_tokens ? per_second((double)p->tokens, p->cpu_ns) : UNKNOWN);
}

static struct table *phases_table(const struct model_answer *a)
{
    static const struct column columns[] = {
        {"Phase", "phase", COLUMN_TEXT},       {"Tokens", "tokens", COLUMN_COUNT}, {"Wall", "wall_ns", COLUMN_NS},
        {"Tokens/s", "per_s", COLUMN_FIXED, 1}, {"CPU", "cpu_ns", COLUMN_NS},      {"Tokens/CPU-s", "per_cpu_s", COLUMN_FIXED, 1},
    };
    struct table *t = table_new(columns, sizeof columns / sizeof *columns);
    phase_row(t, "load", &a->load, false);
    phase_row(t, "prefill", &a->run->prefill, true);
    phase_row(t, "decode", &a->run->decode, true);
    return t;
}

static void print_step(const struct model_run *r, struct sink *out)
{
    char p50[32], p90[32], p99[32];
    if (!r->decode.tokens)
        return;
    text_ns(p50, r->step_p50_ns);
    text_ns(p90, r->step_p90_ns);
    text_ns(p99, r->step_p99_ns);
    sink_printf(out, "a decode step takes %s (P90 %s, P99 %s)", p50, p90, p99);
}

static void print_roof(const struct model_answer *a, struct sink *out)
{
    const struct model_run *r = a->run;
    double gb = (double)a->model->step_bytes * per_second((double)r->decode.tokens, r->decode.cpu_ns) / 1e9;
    if (!r->decode.tokens)
        return;
    sink_printf(out, ", and reads %.1f GB of weights per CPU second\n", gb);
    if (!r->pairs) {
        sink_puts(out, "(so few weights stay in the caches: memory is no measure for them)\n");
        return;
    }
    sink_printf(out, "one thread reads memory at %.1f GB per CPU second here; decoding reaches %.0f %% of that [%.0f..%.0f, %u pairs]\n",
                r->roof_bytes_per_s / 1e9, 100 * r->share, 100 * r->share_low, 100 * r->share_high, r->pairs);
}

/* NULL: nothing was recorded. */
static struct table *scopes_table(double *out_covered)
{
    static const struct column columns[] = {
        {"Scope", "scope", COLUMN_CODE}, {"Calls", "calls", COLUMN_COUNT}, {"Self", "self_ns", COLUMN_NS},
        {"of forward", "share", COLUMN_SHARE}, {"Total", "total_ns", COLUMN_NS}, {"Median", "p50_ns", COLUMN_NS},
    };
    size_t n;
    double forward_ns;
    own(free) inferom_row *rows = scopes(&n);
    *out_covered = covered(rows, n, &forward_ns);
    if (!(forward_ns > 0))
        return NULL;
    struct table *t = table_new(columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < n; i++) {
        table_text(t, view_of(rows[i].name));
        table_number(t, (double)rows[i].calls);
        table_number(t, rows[i].self_ns);
        table_number(t, is_step(rows[i].name) ? rows[i].self_ns / forward_ns : UNKNOWN);
        table_number(t, rows[i].total_ns);
        table_number(t, rows[i].p50_ns);
    }
    return t;
}

static void print_covered(double share, struct sink *out)
{
    sink_printf(out, "\nthe steps cover %.1f %% of the time of all passes\n", 100 * share);
}

static void print_said(const struct model_answer *a, struct sink *out)
{
    enum { COLUMNS = 200 };
    sink_puts(out, "\nsaid     ");
    text_safe(out, a->said, COLUMNS);
    sink_printf(out, "\nchecksum %016" PRIx64 " of %zu tokens, %016" PRIx64 " of the last logits\n", a->run->checksum, a->run->made,
                a->run->logits_checksum);
    if (a->run->is_full)
        sink_puts(out, "(the context is full)\n");
}

void model_answer_print(const struct model_answer *a, const struct table_style *style, struct sink *out)
{
    double share;
    own(table) struct table *phases = phases_table(a);
    own(table) struct table *scoped = scopes_table(&share);
    model_facts_print(a->model, out);
    sink_printf(out, "threads  %u\n\n", a->model->threads);
    table_print(phases, style, out);
    sink_char(out, '\n');
    print_step(a->run, out);
    print_roof(a, out);
    if (scoped) {
        sink_char(out, '\n');
        table_print(scoped, style, out);
        print_covered(share, out);
    }
    print_said(a, out);
}

/* For documents. */

static struct table *facts_table(const struct model_answer *a)
{
    static const struct column columns[] = {{"Model", "fact", COLUMN_TEXT}, {"", "value", COLUMN_TEXT}};
    struct table *t = table_new(columns, 2);
    const struct {
        const char *name;
        uint64_t n;
    } numbers[] = {
        {"parameters", a->model->parameters}, {"layers", a->model->layers}, {"width", a->model->width}, {"heads", a->model->heads},
        {"context", a->model->context}, {"vocabulary", a->model->vocabulary}, {"bytes a decode step reads", a->model->step_bytes},
        {"threads", a->model->threads}, {"seed", a->seed},
    };
    char text[64];
    table_text(t, VIEW("name"));
    table_text(t, view_of(a->model->name));
    table_text(t, VIEW("architecture, precision"));
    snprintf(text, sizeof text, "%s, %s", a->model->architecture, a->model->precision);
    table_text(t, view_of(text));
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        text_count(text, (int64_t)numbers[i].n);
        table_text(t, view_of(numbers[i].name));
        table_text(t, view_of(text));
    }
    snprintf(text, sizeof text, "%016" PRIx64 " of %zu tokens", a->run->checksum, a->run->made);
    table_text(t, VIEW("checksum"));
    table_text(t, view_of(text));
    table_text(t, VIEW("said"));
    table_text(t, a->said);
    return t;
}

void model_answer_markdown(const struct model_answer *a, struct sink *out)
{
    double share;
    own(table) struct table *facts = facts_table(a);
    own(table) struct table *phases = phases_table(a);
    own(table) struct table *scoped = scopes_table(&share);
    sink_puts(out, "# A run of the reference model\n\n");
    table_markdown(facts, out);
    sink_puts(out, "\n## Phases\n\n");
    table_markdown(phases, out);
    sink_char(out, '\n');
    print_step(a->run, out);
    print_roof(a, out);
    if (!scoped)
        return;
    sink_puts(out, "\n## Scopes\n\n");
    table_markdown(scoped, out);
    print_covered(share, out);
}

/* For programs. */

static void number(struct json_writer *w, const char *key, double n)
{
    json_key(w, key);
    json_double(w, n);
}

static void whole(struct json_writer *w, const char *key, uint64_t n)
{
    json_key(w, key);
    json_uint(w, n);
}

static void text(struct json_writer *w, const char *key, struct view v)
{
    json_key(w, key);
    json_text(w, v);
}

static void hex(struct json_writer *w, const char *key, uint64_t n)
{
    char digits[20];
    snprintf(digits, sizeof digits, "%016" PRIx64, n);
    text(w, key, view_of(digits));
}

void model_facts_json(const struct model_facts *m, struct json_writer *w)
{
    json_open(w, '{');
    text(w, "name", view_of(m->name));
    text(w, "architecture", view_of(m->architecture));
    text(w, "precision", view_of(m->precision));
    whole(w, "parameters", m->parameters);
    whole(w, "layers", m->layers);
    whole(w, "width", m->width);
    whole(w, "hidden", m->hidden);
    whole(w, "heads", m->heads);
    whole(w, "kv_heads", m->kv_heads);
    whole(w, "context", m->context);
    whole(w, "vocabulary", m->vocabulary);
    whole(w, "weight_bytes", m->weight_bytes);
    whole(w, "step_bytes", m->step_bytes);
    whole(w, "threads", m->threads);
    json_close(w, '}');
}

static void phase_json(struct json_writer *w, const char *key, const struct model_phase *p)
{
    json_key(w, key);
    json_open(w, '{');
    whole(w, "tokens", p->tokens);
    number(w, "wall_ns", p->wall_ns);
    number(w, "cpu_ns", p->cpu_ns);
    number(w, "tokens_per_s", per_second((double)p->tokens, p->wall_ns));
    number(w, "tokens_per_cpu_s", per_second((double)p->tokens, p->cpu_ns));
    json_close(w, '}');
}

static void steps_json(struct json_writer *w, const struct model_run *r)
{
    json_key(w, "step_ns");
    json_open(w, '{');
    number(w, "least", r->step_least_ns);
    number(w, "p50", r->step_p50_ns);
    number(w, "p90", r->step_p90_ns);
    number(w, "p99", r->step_p99_ns);
    number(w, "most", r->step_most_ns);
    json_close(w, '}');
}

static void roof_json(struct json_writer *w, const struct model_answer *a)
{
    const struct model_run *r = a->run;
    json_key(w, "roof");
    json_open(w, '{');
    number(w, "read_bytes_per_cpu_s", r->roof_bytes_per_s);
    number(w, "decode_bytes_per_cpu_s", (double)a->model->step_bytes * per_second((double)r->decode.tokens, r->decode.cpu_ns));
    number(w, "share", r->share);
    number(w, "share_low", r->share_low);
    number(w, "share_high", r->share_high);
    whole(w, "pairs", r->pairs);
    json_close(w, '}');
}

static void scopes_json(struct json_writer *w)
{
    size_t n;
    double forward_ns;
    own(free) inferom_row *rows = scopes(&n);
    number(w, "covered_share", covered(rows, n, &forward_ns));
    json_key(w, "scopes");
    json_open(w, '[');
    for (size_t i = 0; i < n; i++) {
        json_open(w, '{');
        text(w, "scope", view_of(rows[i].name));
        whole(w, "calls", rows[i].calls);
        number(w, "self_ns", rows[i].self_ns);
        number(w, "total_ns", rows[i].total_ns);
        number(w, "p50_ns", rows[i].p50_ns);
        json_close(w, '}');
    }
    json_close(w, ']');
}

void model_answer_json(const struct model_answer *a, struct sink *out)
{
    struct json_writer w;
    json_to_pretty(&w, out);
    json_open(&w, '{');
    json_key(&w, "model");
    model_facts_json(a->model, &w);
    whole(&w, "seed", a->seed);
    number(&w, "temperature", a->temperature);
    text(&w, "prompt", a->prompt);
    phase_json(&w, "load", &a->load);
    phase_json(&w, "prefill", &a->run->prefill);
    phase_json(&w, "decode", &a->run->decode);
    number(&w, "sample_ns", a->run->sample_ns);
    steps_json(&w, a->run);
    whole(&w, "cache_bytes", a->run->cache_bytes);
    number(&w, "cache_bytes_per_token", a->run->bytes_per_token);
    roof_json(&w, a);
    scopes_json(&w);
    text(&w, "text", a->said);
    whole(&w, "tokens", a->run->made);
    hex(&w, "checksum", a->run->checksum);
    hex(&w, "logits_checksum", a->run->logits_checksum);
    json_key(&w, "stopped");
    json_bool(&w, a->run->is_stopped);
    json_key(&w, "context_full");
    json_bool(&w, a->run->is_full);
    json_close(&w, '}');
}
