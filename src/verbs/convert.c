#include "base/outfile.h"
#include "base/text.h"
#include "formats/format.h"
#include "model/settle.h"
#include "verbs/verb.h"

struct convert {
    const char *output;
    const char *to; /* NULL: the suffix of the output tells */
};

static const struct option convert_options[] = {
    TEXT('o', "output", struct convert, output, "FILE", "where to write; - is standard output"),
    TEXT('t', "to", struct convert, to, "FORMAT", "what to write, when the suffix of FILE does not tell"),
    OPTIONS_END
};

static void hint_formats(struct err *e)
{
    own(buf) struct buf list;
    buf_init(&list, sizeof e->hint);
    const struct format *f;
    for (size_t i = 0; (f = format_at(i)); i++)
        if (f->write)
            buf_printf(&list, "%s%s", list.len ? ", " : "", f->name);
    err_hint(e, "--to takes one of %s", list.data);
}

static void no_such_format(const char *name, struct err *e)
{
    const char *names[64];
    size_t n = 0;
    const struct format *f;
    for (size_t i = 0; (f = format_at(i)) && n < 63; i++)
        names[n++] = f->name;
    names[n] = NULL;
    err_set(e, ERR_NOT_FOUND, "--to: no format '%s'", name);
    const char *nearest = text_nearest(name, names);
    if (nearest)
        err_hint(e, "did you mean '%s'?", nearest);
}

/* NULL with e set when there is none. Asked first: a wrong word should not cost the reading of a large profile. */
static const struct format *choose_format(const struct convert *s, struct err *e)
{
    bool to_stdout = !strcmp(s->output, "-");
    const struct format *f = s->to ? format_named(s->to) : to_stdout ? NULL : format_for_path(s->output);
    if (f && f->write)
        return f;
    if (f)
        err_set(e, ERR_UNSUPPORTED, "%s can be read, but not written", f->name);
    else if (s->to)
        no_such_format(s->to, e);
    else if (to_stdout)
        err_set(e, ERR_USAGE, "standard output has no suffix to tell the format");
    else
        err_set(e, ERR_USAGE, "%s: no format has this suffix", s->output);
    if (e && !e->hint[0])
        hint_formats(e);
    return NULL;
}

static bool write_file(const struct format *f, const struct profile *p, const char *path, struct err *e)
{
    own(outfile) struct outfile out = {.fd = -1};
    if (!outfile_open(&out, path, e))
        return false;
    if (!f->write(p, &out.sink, e))
        return err_in(e, "%s", path);
    return outfile_commit(&out, e);
}

/* Our own format keeps everything; others know amounts, not changes, and not what our details mean. */
static bool settle_for(const struct format *to, struct profile **p, struct err *e)
{
    struct profile *settled = NULL;
    if (!strcmp(to->name, "inferom") || profile_is_settled(*p))
        return true;
    if (!profile_settled(*p, &settled, e))
        return false;
    profile_free(*p);
    *p = settled;
    return true;
}

static bool convert(const struct call *c, struct err *e)
{
    const struct convert *s = c->settings;
    const struct format *to = choose_format(s, e);
    if (!to)
        return false;
    own(profile) struct profile *p = NULL;
    if (!profile_open(c->args[0], &p, e))
        return false;
    if (!settle_for(to, &p, e))
        return err_in(e, "%s", c->args[0]);
    bool to_stdout = !strcmp(s->output, "-");
    if (to_stdout ? !to->write(p, c->out, e) : !write_file(to, p, s->output, e))
        return to_stdout ? err_in(e, "standard output") : false;
    if (profile_damages(p))
        return err_set(e, ERR_INCOMPLETE, "%s: part of the file could not be read; the rest was converted", c->args[0]);
    return true;
}

const struct verb verb_convert = {
    .name = "convert",
    .args = "IN",
    .least_args = 1,
    .most_args = 1,
    .what = "read a profile in one format and write it in another",
    .about = "IN is a profile in any format that 'inferom formats' lists; what it is, is found out from its "
             "content. - is standard input. The output file appears when it is complete; when something goes "
             "wrong, a file that was there before stays as it was.",
    .example = "inferom convert run.folded -o run.speedscope.json",
    .options = convert_options,
    .defaults = &(const struct convert){.output = "-"},
    .settings_size = sizeof(struct convert),
    .run = convert,
};
