#include "render/findings.h"
#include "base/mem.h"
#include "base/text.h"
#include "render/names.h"

enum { HIERARCHY_BASIC = 5, HIERARCHY_DEEP = 20, SAMPLES_FOR_A_VERDICT = 100 };

void finding_neighbour(const struct findings *f, const struct neighbour *n, int64_t whole, char out[NEIGHBOUR_TEXT])
{
    char value[32];
    value_text(value, f->measure, n->value);
    if (f->hierarchy_counts)
        snprintf(out, NEIGHBOUR_TEXT, "%lld time%s", (long long)n->calls, n->calls == 1 ? "" : "s");
    else
        snprintf(out, NEIGHBOUR_TEXT, "%s, %.1f %%", value, whole ? 100 * (double)n->value / (double)whole : 0.0);
}

double finding_share(const struct findings *f, int64_t value)
{
    return f->methods.whole ? (double)value / (double)f->methods.whole : 0;
}

bool finding_is_time(const struct findings *f) { return f->measure->unit == UNIT_NS; }
struct view finding_measure(const struct findings *f) { return profile_string(f->r->p, f->measure->name); }

double finding_number(const struct findings *f, int64_t value)
{
    double n = (double)value;
    if (finding_is_time(f))
        return n / 1e6;
    for (unsigned i = 0; i < f->measure->decimals; i++)
        n /= 10;
    return n;
}

struct interval finding_interval(const struct findings *f, int64_t value)
{
    return share_interval(finding_share(f, value), f->samples);
}

void finding_interval_text(const struct findings *f, int64_t value, char out[32])
{
    struct interval i = finding_interval(f, value);
    if (isnan(i.low))
        snprintf(out, 32, "-");
    else
        snprintf(out, 32, "%.1f to %.1f %%", 100 * i.low, 100 * i.high);
}

const char *finding_severity(const struct findings *f, int64_t self)
{
    double share = finding_share(f, self);
    if (isnan(f->samples) ? !f->methods.has_calls : f->samples < SAMPLES_FOR_A_VERDICT)
        return NULL;
    return share > 0.20 ? "critical" : share > 0.10 ? "high" : share > 0.05 ? "medium" : NULL;
}

/* Lists. */

static struct ranked rank(const struct findings *f, enum method_order order)
{
    struct ranked r = {0};
    r.rows = methods_ranked(&f->methods, f->r->p, order, &r.all);
    size_t most = f->r->deep ? 0 : f->r->most_rows;
    r.n = most && most < r.all ? most : r.all;
    return r;
}

static enum method_order order_of(enum top_order order)
{
    return order == TOP_BY_TOTAL ? METHODS_BY_TOTAL : order == TOP_BY_NAME ? METHODS_BY_NAME : METHODS_BY_SELF;
}

/* Those below the threshold go to the end of nothing: they are left out and counted. */
static void find_hot(struct findings *f)
{
    f->hot = rank(f, order_of(f->r->order));
    size_t kept = 0, most = f->hot.n;
    for (size_t i = 0; i < f->hot.all; i++) {
        const struct method *m = &f->methods.rows[f->hot.rows[i]];
        if (kept < most && m->total >= f->r->min_total)
            f->hot.rows[kept++] = f->hot.rows[i];
        else
            f->self_left_out += m->self;
    }
    f->hot.n = kept;
}

static bool counts_calls(const struct call_graph *g)
{
    for (size_t i = 0; i < g->n_edges; i++)
        if (g->edges[i].calls != CALLS_UNKNOWN)
            return !g->counts_samples;
    return false;
}

void findings_add_hierarchy(struct findings *f)
{
    if (f->hierarchy)
        return;
    f->graph = call_graph_of(f->r->p, f->r->set, f->r->measure);
    func_id functions[HIERARCHY_DEEP];
    size_t most = f->r->deep ? HIERARCHY_DEEP : HIERARCHY_BASIC;
    f->n_hierarchy = f->hot.n < most ? f->hot.n : most;
    for (size_t i = 0; i < f->n_hierarchy; i++)
        functions[i] = f->methods.rows[f->hot.rows[i]].function;
    f->hierarchy_counts = counts_calls(&f->graph);
    f->hierarchy = neighbours_of(&f->graph, functions, f->n_hierarchy);
}

static struct limit_result judge(const struct findings *f, const struct report_limit *limit)
{
    struct limit_result l = {0};
    int64_t self = 0;
    for (size_t i = 0; i < f->methods.n; i++) {
        char room[NAME_ROOM];
        func_id id = f->methods.rows[i].function;
        if (!text_matches(name_of_function(f->r->p, id, room), limit->pattern) &&
            !text_matches(name_of_module(f->r->p, id), limit->pattern))
            continue;
        l.functions++;
        self += f->methods.rows[i].self;
    }
    l.share = finding_share(f, self);
    l.is_kept = l.share <= limit->share;
    return l;
}

void findings_of(struct findings *f, const struct report *r)
{
    *f = (struct findings){.r = r, .measure = &r->set->measures[r->measure]};
    f->samples = samples_behind(r->p, r->set, r->measure);
    f->length_ns = report_length_ns(r);
    f->quality = quality_of(r->p, r->set, r->measure);
    f->methods = methods_of(r->p, r->set, r->measure);
    f->scopes = scopes_of(r->p);
    find_hot(f);
    f->allocators = rank(f, METHODS_BY_BYTES);
    f->called = rank(f, METHODS_BY_CALLS);
    f->limits = mem_new((r->n_limits + 1) * sizeof *f->limits);
    for (size_t i = 0; i < r->n_limits; i++)
        f->limits[i] = judge(f, &r->limits[i]);
    find_insights(f);
}

void findings_done(struct findings *f)
{
    methods_done(&f->methods);
    scopes_done(&f->scopes);
    free(f->hot.rows);
    free(f->allocators.rows);
    free(f->called.rows);
    neighbours_free_all(f->hierarchy, f->n_hierarchy);
    call_graph_done(&f->graph);
    free(f->limits);
}
