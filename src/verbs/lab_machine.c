#include "base/json.h"
#include "lab/team.h"
#include "verbs/lab_roof.h"

struct lab_machine {
    uint64_t threads;
    bool is_short, stored, json;
};

#define S struct lab_machine
static const struct option lab_machine_options[] = {
    FLAG(0, "short", S, is_short, "a few seconds: fewer readings, smaller sets"),
    NUMBER('t', "threads", S, threads, "N", "how many are all; else one for each processor we may use", 1, TEAM_MOST),
    FLAG(0, "stored", S, stored, "show what was measured before, and measure nothing"),
    FLAG(0, "json", S, json, "print JSON"),
    OPTIONS_END
};
#undef S

static void print_roof(const struct roof *r, const struct call *c, bool as_json)
{
    struct table_style style = {.width = c->look.width, .colour = c->look.colour};
    if (!as_json) {
        lab_roof_print(r, &style, c->out);
        return;
    }
    struct json_writer w;
    json_to_pretty(&w, c->out);
    roof_json(r, &w);
    sink_char(c->out, '\n');
}

static bool lab_machine(const struct call *c, struct err *e)
{
    const struct lab_machine *s = c->settings;
    struct roof r;
    char path[4096];
    if (s->stored) {
        if (!roof_load(&r, e))
            return false;
        print_roof(&r, c, s->json);
        return true;
    }
    bool ok = lab_roof_measure(&r, c, s->threads ? (unsigned)s->threads : team_processors(), s->is_short, e);
    print_roof(&r, c, s->json); /* what is finished, whatever came between */
    if (!ok || !roof_save(&r, path, sizeof path, e))
        return false;
    if (!s->json)
        sink_printf(c->out, "Kept in %s\n", path);
    return true;
}

const struct verb verb_lab_machine = {
    .name = "lab machine",
    .args = "",
    .what = "measure what this machine can do at most: memory, arithmetic, caches, calls",
    .about = "Measures the roof that everything else is held against: memory bandwidth (read, copy, triad; one thread and "
             "all), multiply-and-adds per second for each SIMD level the processor has, bandwidth and latency of the caches, and "
             "what a look at the clock and a system call cost. The figures are kept, one file per machine, in "
             "$XDG_CACHE_HOME/inferom or ~/.cache/inferom; 'inferom lab kernels' and others use them from there.\n"
             "\n"
             "A whole measurement takes about a minute on a quiet machine, --short some seconds. Ctrl-C ends it, shows what is "
             "finished and keeps nothing.",
    .example = "inferom lab machine --short",
    .options = lab_machine_options,
    .defaults = &(const struct lab_machine){0},
    .settings_size = sizeof(struct lab_machine),
    .watches_stop = true,
    .run = lab_machine,
};
