#include "formats/format.h"
#include "base/json.h"
#include "verbs/verb.h"

struct formats {
    bool json;
};

static const struct option formats_options[] = {
    FLAG(0, "json", struct formats, json, "print a JSON array"),
    OPTIONS_END
};

static void print_text(struct sink *out)
{
    const struct format *f;
    for (size_t i = 0; (f = format_at(i)); i++)
        sink_printf(out, "%-12s %-5s %-5s  %-18s %s\n", f->name, f->read ? "read" : "-", f->write ? "write" : "-",
                    f->suffix, f->what);
}

static void print_json(struct sink *out)
{
    struct json_writer w;
    json_to_pretty(&w, out);
    json_open(&w, '[');
    const struct format *f;
    for (size_t i = 0; (f = format_at(i)); i++) {
        json_open(&w, '{');
        json_key(&w, "name"), json_text(&w, view_of(f->name));
        json_key(&w, "read"), json_bool(&w, f->read);
        json_key(&w, "write"), json_bool(&w, f->write);
        json_key(&w, "suffix"), json_text(&w, view_of(f->suffix));
        json_key(&w, "what"), json_text(&w, view_of(f->what));
        json_close(&w, '}');
    }
    json_close(&w, ']');
}

static bool formats(const struct call *c, struct err *e)
{
    (void)e;
    const struct formats *s = c->settings;
    (s->json ? print_json : print_text)(c->out);
    return true;
}

const struct verb verb_formats = {
    .name = "formats",
    .args = "",
    .what = "list the profile formats this program reads and writes",
    .about = "Files are recognised by what is in them, never by their names. A name matters only for a file "
             "that is about to be written: its suffix chooses the format, unless --to says otherwise.",
    .example = "inferom formats",
    .options = formats_options,
    .defaults = &(const struct formats){0},
    .settings_size = sizeof(struct formats),
    .run = formats,
};
