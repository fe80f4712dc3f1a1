#include "base/mem.h"
#include "base/outfile.h"
#include "base/progress.h"
#include "base/reader.h"
#include "base/text.h"
#include "lab/plugin.h"
#include "verbs/lab_kernels_show.h"
#include "verbs/lab_roof.h"

struct lab_kernels {
    bool basic, deep, enhanced, json, md;
    uint64_t count, threads;
    const char *level, *output, *roof;
    struct option_list only, plugin;
};

#define S struct lab_kernels
static const struct option lab_kernels_options[] = {
    FLAG(0, "basic", S, basic, "the most important ones, at the best level: some seconds; this is the default"),
    FLAG(0, "deep", S, deep, "all of them, at every level this processor has: a minute"),
    FLAG(0, "enhanced", S, enhanced, "the same with more and larger sizes, and with more threads: some minutes"),
    LIST(0, "only", S, only, "PATTERN", "kernels whose name matches (* and ? stand for anything); may be repeated"),
    TEXT('l', "level", S, level, "LEVEL", "only this SIMD level: scalar, avx2, avx512 or neon"),
    NUMBER('t', "threads", S, threads, "N", "share each kernel between so many threads", 1, TEAM_MOST),
    NUMBER('n', "count", S, count, "N", "samples of each kernel", 1, TIMING_SAMPLES_MOST),
    TEXT(0, "roof", S, roof, "FILE", "hold them against these figures, as 'lab machine --json' prints them"),
    LIST(0, "plugin", S, plugin, "FILE.so", "kernels of your own as well; may be repeated (inferom/lab_plugin.h)"),
    TEXT('o', "output", S, output, "FILE", "write the results there too: .inferom (a capture), .md or .json"),
    FLAG(0, "json", S, json, "print JSON"),
    FLAG(0, "md", S, md, "print Markdown"),
    OPTIONS_END
};
#undef S

/* One measurement that is to be made. */
struct planned {
    const struct kernel *kernel;
    const struct ops *ops;
    size_t size;
    unsigned threads;
};

struct lab {
    const struct call *c;
    const struct lab_kernels *s;
    enum kernel_mode mode;
    struct roof roof;
    struct plugin *plugins[OPTION_LIST_MOST];
    size_t n_plugins;
    struct planned *plan;
    size_t n_plan, cap_plan;
    struct kernel_result *results;
    size_t n_results;
    struct kernel_recording recording;
    struct outfile file;
    bool has_file;
};

static void lab_done(struct lab *l)
{
    for (size_t i = 0; i < l->n_results; i++)
        kernel_result_done(&l->results[i]);
    free(l->results);
    free(l->plan);
    kernel_recording_done(&l->recording);
    if (l->has_file)
        outfile_done(&l->file);
    for (size_t i = 0; i < l->n_plugins; i++)
        plugin_free(l->plugins[i]);
}
DEFINE_OWN_IN_PLACE(lab, struct lab)

/* What is asked for. */

static bool read_mode(struct lab *l, struct err *e)
{
    const struct lab_kernels *s = l->s;
    if (s->basic + s->deep + s->enhanced > 1)
        return err_set(e, ERR_USAGE, "one of --basic, --deep and --enhanced");
    if (s->json && s->md)
        return err_set(e, ERR_USAGE, "either --json or --md");
    l->mode = s->enhanced ? KERNELS_ENHANCED : s->deep ? KERNELS_DEEP : KERNELS_BASIC;
    return true;
}

static bool check_level(const char *level, struct err *e)
{
    if (!*level || ops_named(level))
        return true;
    for (size_t i = 0; ops_level_names[i]; i++)
        if (!strcmp(ops_level_names[i], level))
            return err_set(e, ERR_UNSUPPORTED, "--level: this processor has no %s", level);
    err_set(e, ERR_USAGE, "--level: '%s' is not one of scalar, avx2, avx512, neon", level);
    const char *nearest = text_nearest(level, ops_level_names);
    return nearest ? err_hint(e, "did you mean '%s'?", nearest) : false;
}

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n > m && !strcmp(text + n - m, end);
}

static bool check_output(const char *path, struct err *e)
{
    if (!*path || ends_with(path, ".inferom") || ends_with(path, ".md") || ends_with(path, ".json"))
        return true;
    return err_set(e, ERR_USAGE, "--output: '%s' ends neither with .inferom nor with .md or .json", path);
}

static bool load_plugins(struct lab *l, struct err *e)
{
    for (; l->n_plugins < l->s->plugin.n; l->n_plugins++)
        if (!plugin_load(&l->plugins[l->n_plugins], l->s->plugin.at[l->n_plugins], e))
            return err_in(e, "--plugin");
    return true;
}

/* The plan. */

static bool is_wanted(const struct lab *l, const struct kernel *k)
{
    for (size_t i = 0; i < l->s->only.n; i++)
        if (text_matches(view_of(k->name), l->s->only.at[i]))
            return true;
    return !l->s->only.n;
}

static void plan_case(struct lab *l, const struct kernel *k, const struct ops *o, size_t size, unsigned threads)
{
    bool is_too_slow = !strcmp(o->name, "scalar") && k->scalar_most && size > k->scalar_most;
    if (is_too_slow || (k->can && !k->can(k, o)))
        return;
    GROW(l->plan, l->cap_plan, l->n_plan + 1);
    l->plan[l->n_plan++] = (struct planned){k, o, size, threads};
}

static void plan_level(struct lab *l, const struct kernel *k, const struct ops *o, unsigned threads)
{
    for (const size_t *size = kernel_sizes(k, l->mode); *size; size++)
        plan_case(l, k, o, *size, threads);
}

/* The levels asked for; a plug-in has none. */
static void plan_kernel(struct lab *l, const struct kernel *k)
{
    const struct lab_kernels *s = l->s;
    unsigned threads = s->threads ? (unsigned)s->threads : 1;
    if (!is_wanted(l, k))
        return;
    if (k->self)
        plan_level(l, k, ops_best(), 1);
    else if (*s->level)
        plan_level(l, k, ops_named(s->level), threads);
    else if (l->mode == KERNELS_BASIC)
        plan_level(l, k, ops_best(), threads);
    else
        for (size_t i = 0; ops_at(i); i++)
            plan_level(l, k, ops_at(i), threads);
}

/* Two threads, four, eight and so on up to all: at the largest size of the deep mode. */
static void plan_scaling(struct lab *l, const struct kernel *k)
{
    unsigned all = team_processors();
    size_t size = 0;
    if (!k->scales || !is_wanted(l, k))
        return;
    for (const size_t *at = kernel_sizes(k, KERNELS_DEEP); *at; at++)
        size = *at;
    for (unsigned threads = 2; threads < 2 * all; threads *= 2)
        plan_case(l, k, *l->s->level ? ops_named(l->s->level) : ops_best(), size, threads < all ? threads : all);
}

static bool make_plan(struct lab *l, struct err *e)
{
    const struct kernel *k;
    for (size_t p = 0; p < l->n_plugins; p++)
        for (size_t i = 0; (k = plugin_kernel_at(l->plugins[p], i)); i++)
            plan_kernel(l, k);
    for (size_t i = 0; (k = kernel_at(i)); i++)
        plan_kernel(l, k);
    for (size_t i = 0; l->mode == KERNELS_ENHANCED && !l->s->threads && (k = kernel_at(i)); i++)
        plan_scaling(l, k);
    return l->n_plan || err_set(e, ERR_NOT_FOUND, "no kernel of this mode is asked for");
}

/* Measuring. */

static bool read_roof(struct lab *l, struct err *e)
{
    if (!*l->s->roof)
        return lab_roof(&l->roof, l->c, e);
    own(reader) struct reader in = {.fd = -1};
    return reader_open(&in, l->s->roof, e) && (roof_read(&l->roof, &in, e) || err_in(e, "%s", l->s->roof));
}

static bool open_output(struct lab *l, struct err *e)
{
    const char *path = l->s->output;
    if (!*path)
        return true;
    if (ends_with(path, ".inferom"))
        return kernel_recording_open(&l->recording, path, &l->roof, e);
    l->has_file = outfile_open(&l->file, path, e);
    return l->has_file;
}

static bool measure_one(struct lab *l, const struct planned *p, struct err *e)
{
    own(team) struct team *team = NULL;
    if (!team_new(&team, p->threads, e))
        return false;
    struct timing_plan plan = {.samples = (unsigned)l->s->count, .sample_ns = 2000000, .warm_up_ns = 10000000, .stop = l->c->stop};
    struct kernel_case c = {.kernel = p->kernel, .ops = p->ops, .team = team, .size = p->size};
    struct kernel_result *r = &l->results[l->n_results];
    if (!kernel_measure(r, &c, &plan, e))
        return false;
    l->n_results++;
    return !l->recording.to || kernel_recording_add(&l->recording, r, &l->roof, e);
}

static bool measure(struct lab *l, struct err *e)
{
    bool ok = true;
    struct progress progress = progress_begin("measuring kernels", l->n_plan);
    l->results = mem_new(l->n_plan * sizeof *l->results);
    for (size_t i = 0; ok && i < l->n_plan; i++) {
        ok = measure_one(l, &l->plan[i], e);
        progress_at(&progress, i + 1);
    }
    progress_end(&progress);
    return ok;
}

/* The answer. */

static void show(const struct lab *l, bool as_json, bool as_markdown, struct sink *out)
{
    struct kernel_answer a = {.roof = &l->roof, .mode = l->mode, .rows = l->results, .n = l->n_results, .planned = l->n_plan};
    struct table_style style = {.width = l->c->look.width, .colour = l->c->look.colour};
    if (as_json)
        kernel_answer_json(&a, out);
    else if (as_markdown)
        kernel_answer_markdown(&a, out);
    else
        kernel_answer_print(&a, &style, out);
}

static bool write_output(struct lab *l, struct err *e)
{
    if (l->recording.to)
        return kernel_recording_close(&l->recording, e);
    if (!l->has_file)
        return true;
    bool is_json = ends_with(l->s->output, ".json");
    show(l, is_json, !is_json, &l->file.sink);
    return outfile_commit(&l->file, e);
}

static bool check_answers(const struct lab *l, struct err *e)
{
    size_t wrong = 0;
    for (size_t i = 0; i < l->n_results; i++)
        wrong += !kernel_is_right(&l->results[i]);
    return !wrong || err_set(e, ERR_MALFORMED, "%zu of %zu results are wrong", wrong, l->n_results);
}

static bool lab_kernels(const struct call *c, struct err *e)
{
    const struct lab_kernels *s = c->settings;
    own(lab) struct lab l = {.c = c, .s = s};
    if (!read_mode(&l, e) || !check_level(s->level, e) || !check_output(s->output, e) || !load_plugins(&l, e) || !make_plan(&l, e))
        return false;
    if (!read_roof(&l, e) || !open_output(&l, e))
        return false;
    bool ok = measure(&l, e);
    struct err unwritten = {0};
    if (l.n_results)
        show(&l, s->json, s->md, c->out); /* what is finished, whatever came between */
    if (l.n_results && !write_output(&l, ok ? e : &unwritten))
        return false;
    return ok && check_answers(&l, e);
}

const struct verb verb_lab_kernels = {
    .name = "lab kernels",
    .args = "",
    .what = "measure the building blocks of inference, and hold them against the machine's roof",
    .about = "Times matrix products, rows times a vector (decoding), activations, norms, softmax, rotations and sums, for "
             "each SIMD level this processor has; shows GFLOPS, GB/s and nanoseconds per element of exactly the timed calls, "
             "their spread, and their share of what the machine can do ('inferom lab machine'; when it has not been "
             "measured, a short measurement comes first). Every result is checked against double precision; when one is "
             "wrong, the exit status says so.\n"
             "\n"
             "A kernel of your own joins with --plugin: a shared object, some twenty lines of C; inferom/lab_plugin.h shows one. "
             "Ctrl-C ends the measuring; what is finished is shown and written.",
    .example = "inferom lab kernels --only 'matmul*' --count 5",
    .options = lab_kernels_options,
    .defaults = &(const struct lab_kernels){.count = 15, .level = "", .output = "", .roof = ""},
    .settings_size = sizeof(struct lab_kernels),
    .watches_stop = true,
    .run = lab_kernels,
};
