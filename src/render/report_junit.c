/*
 * report_junit.c - the report as test results, for machines that build and complain
 *
 * One suite. Its first cases ask whether the profile can be trusted: all of the file was read, few
 * samples are missing, stacks are whole. Then one case for each threshold that was given. What a
 * profile cannot answer is skipped, with the reason. Elements and attributes are those that both of the
 * schemas in use know (Jenkins' and Ant's).
 */
#include "base/text.h"
#include "render/heap_view.h"
#include "render/names.h"
#include "render/report_formats.h"
#include "render/system_info.h"

#define LOST_MOST 0.01 /* of the samples */
#define CUT_MOST 0.05  /* of what was measured */

enum { CASES_MOST = 80, SENTENCE = 200 };

struct test_case {
    const char *group, *name; /* name: of others where it is a pattern */
    bool failed, skipped;
    char said[SENTENCE];
};

struct suite {
    struct test_case cases[CASES_MOST];
    size_t n, failures, skipped;
};

static struct test_case *add(struct suite *s, const char *group, const char *name)
{
    struct test_case *c = &s->cases[s->n < CASES_MOST ? s->n++ : CASES_MOST - 1];
    *c = (struct test_case){.group = group, .name = name};
    return c;
}

static void ask_about_the_profile(struct suite *s, const struct findings *f)
{
    const struct quality *q = &f->quality;
    struct test_case *c = add(s, "profile", "all of the file could be read");
    c->failed = q->damages > 0;
    snprintf(c->said, SENTENCE, "%zu damaged or missing places", q->damages);

    double lost = quality_lost_share(q), cut = finding_share(f, q->cut);
    c = add(s, "profile", "at most 1 % of the samples are missing");
    c->skipped = isnan(lost);
    c->failed = lost > LOST_MOST;
    if (c->skipped)
        snprintf(c->said, SENTENCE, "the profile does not say how many samples there were, or were lost");
    else
        snprintf(c->said, SENTENCE, "%llu missing, %.2f %%", (unsigned long long)q->lost, 100 * lost);

    c = add(s, "profile", "at most 5 % of the stacks miss their first callers");
    c->failed = cut > CUT_MOST;
    snprintf(c->said, SENTENCE, "%.2f %%", 100 * cut);
}

static void ask_about_limits(struct suite *s, const struct findings *f)
{
    for (size_t i = 0; i < f->r->n_limits; i++) {
        const struct limit_result *l = &f->limits[i];
        struct test_case *c = add(s, "threshold", f->r->limits[i].pattern);
        c->failed = !l->is_kept;
        snprintf(c->said, SENTENCE, "%zu function%s, %.2f %% of the whole by self, at most %.2f %% allowed", l->functions,
                 l->functions == 1 ? " matches" : "s match", 100 * l->share, 100 * f->r->limits[i].share);
    }
}

static void ask_about_leaks(struct suite *s, const struct findings *f)
{
    if (!f->r->no_leaks || !f->r->heap)
        return;
    struct leak_sum all = heap_leaked(f->r->heap);
    struct test_case *c = add(s, "threshold", "no leaks");
    char bytes[32];
    text_bytes(bytes, (double)all.bytes);
    c->failed = all.paths > 0;
    snprintf(c->said, SENTENCE, "%s in %lld blocks from %zu paths", bytes, (long long)all.blocks, all.paths);
}

static void put_attribute(struct sink *out, const char *name, struct view value)
{
    sink_printf(out, " %s=\"", name);
    text_markup(out, value, 400);
    sink_char(out, '"');
}

static void put_properties(const struct findings *f, struct sink *out)
{
    sink_puts(out, "    <properties>\n");
    for (size_t i = 0; i < system_lines(); i++) {
        char room[SYSTEM_ROOM];
        struct view value = system_value(f->r->p, i, room);
        if (!value.n)
            continue;
        sink_puts(out, "      <property");
        put_attribute(out, "name", view_of(system_line_at(i)->key));
        put_attribute(out, "value", value);
        sink_puts(out, "/>\n");
    }
    sink_puts(out, "    </properties>\n");
}

static void put_case(const struct test_case *c, struct sink *out)
{
    sink_puts(out, "    <testcase");
    put_attribute(out, "name", view_of(c->name));
    put_attribute(out, "classname", view_of(c->group));
    sink_puts(out, " time=\"0\"");
    if (!c->failed && !c->skipped) {
        sink_puts(out, "/>\n");
        return;
    }
    sink_printf(out, ">\n      <%s", c->failed ? "failure" : "skipped");
    if (c->failed) {
        put_attribute(out, "message", view_of(c->said));
        put_attribute(out, "type", VIEW("measured"));
    }
    sink_puts(out, "/>\n    </testcase>\n");
}

/* Every case with its number, and what else there is to say. */
static void put_said(const struct suite *s, const struct findings *f, struct sink *out)
{
    sink_puts(out, "    <system-out>");
    for (size_t i = 0; i < s->n; i++) {
        text_markup(out, view_of(s->cases[i].name), 400);
        sink_puts(out, ": ");
        text_markup(out, view_of(s->cases[i].said), 0);
        sink_char(out, '\n');
    }
    for (size_t i = 0; i < f->n_insights; i++) {
        char room[NAME_ROOM];
        const struct insight *in = &f->insights[i];
        if (in->function.i) {
            text_markup(out, name_of_function(f->r->p, in->function, room), 400);
            sink_puts(out, ": ");
        }
        text_markup(out, view_of(in->text), 0);
        sink_char(out, '\n');
    }
    sink_puts(out, "</system-out>\n    <system-err></system-err>\n");
}

static void put_suite_head(const struct suite *s, const struct findings *f, struct sink *out)
{
    char start[40];
    double seconds = isnan(f->length_ns) ? 0 : f->length_ns / 1e9; /* the schema wants a number */
    if (!report_start(f->r, "%Y-%m-%dT%H:%M:%S", start))
        snprintf(start, sizeof start, "1970-01-01T00:00:00");
    sink_puts(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite");
    put_attribute(out, "name", view_last_part(view_of(f->r->source)));
    sink_printf(out, " package=\"inferom.report\" id=\"0\" hostname=\"localhost\" timestamp=\"%s\" tests=\"%zu\" failures=\"%zu\" "
                "errors=\"0\" skipped=\"%zu\" time=\"%.6f\">\n", start, s->n, s->failures, s->skipped, seconds);
}

void report_junit(const struct findings *f, struct sink *out)
{
    struct suite s = {0};
    ask_about_the_profile(&s, f);
    ask_about_leaks(&s, f);
    ask_about_limits(&s, f);
    for (size_t i = 0; i < s.n; i++) {
        s.failures += s.cases[i].failed;
        s.skipped += s.cases[i].skipped;
    }
    put_suite_head(&s, f, out);
    put_properties(f, out);
    for (size_t i = 0; i < s.n; i++)
        put_case(&s.cases[i], out);
    put_said(&s, f, out);
    sink_puts(out, "  </testsuite>\n</testsuites>\n");
}
