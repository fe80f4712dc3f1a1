#include "formats/format.h"
#include "render/contents.h"
#include "verbs/verb.h"

struct runs_show {
    bool json;
};

static const struct option runs_show_options[] = {
    FLAG(0, "json", struct runs_show, json, "print JSON"),
    OPTIONS_END
};

/* A capture file is read by its own reader, which also tells about the file. */
static bool read_contents(struct reader *in, struct contents *c, struct capture_report *report,
                          struct profile **out, struct err *e)
{
    const struct format *f = NULL;
    if (!format_detect(in, &f, e))
        return false;
    bool is_capture = f == format_named("inferom");
    own(builder) struct builder *b = builder_new();
    if (!(is_capture ? capture_read(b, in, report, e) : f->read(b, in, e)))
        return false;
    c->format = f->name;
    c->file = is_capture ? report : NULL;
    return builder_finish(take(b), out, e);
}

static bool runs_show(const struct call *call, struct err *e)
{
    const struct runs_show *s = call->settings;
    own(reader) struct reader in = {.fd = -1};
    if (!reader_open(&in, call->args[0], e))
        return false;
    struct contents c = {.source = in.name, .style = {.width = call->look.width, .colour = call->look.colour}};
    struct capture_report report;
    own(profile) struct profile *p = NULL;
    if (!read_contents(&in, &c, &report, &p, e))
        return err_in(e, "%s", in.name);
    c.p = p;
    if (s->json)
        contents_json(&c, call->out);
    else
        contents_print(&c, call->out);
    if (profile_damages(p))
        return err_set(e, ERR_INCOMPLETE, "%s: part of it is missing or damaged; this is the rest", in.name);
    return true;
}

const struct verb verb_runs_show = {
    .name = "runs show",
    .args = "FILE",
    .least_args = 1,
    .most_args = 1,
    .what = "show what a profile holds: facts, threads, samples, spans, losses",
    .about = "FILE is a capture file or a profile in any format that 'inferom formats' lists; - is standard input. "
             "A capture file that is damaged, or whose recorder was killed or is still at work, is read as far as "
             "it goes: what is missing is said, and the exit status is 9.",
    .example = "inferom runs show run.inferom",
    .options = runs_show_options,
    .defaults = &(const struct runs_show){0},
    .settings_size = sizeof(struct runs_show),
    .run = runs_show,
};
