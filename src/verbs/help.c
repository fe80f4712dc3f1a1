#include "verbs/help.h"
#include "base/text.h"
#include "verbs/completion.h"
#include "verbs/program.h"

#define WIDTH_USUAL 80
#define WIDTH_MOST 100 /* longer lines are hard to read */
#define LEFT_MOST 26   /* options longer than this get a line of their own */

/* Words. */

static unsigned text_width(const struct look *look)
{
    unsigned w = look->width ? look->width : WIDTH_USUAL;
    return w > WIDTH_MOST ? WIDTH_MOST : w;
}

/* Fills lines between `indent` and `width`, from column `at` on; a line break in the text stays one. */
static void wrap(struct sink *out, const char *text, size_t at, size_t indent, size_t width)
{
    const char *word = text;
    bool is_first = true;
    while (*word) {
        size_t n = strcspn(word, " \n");
        if (!is_first && at + 1 + n > width) {
            sink_char(out, '\n');
            sink_pad(out, indent);
            at = indent;
        } else if (!is_first) {
            sink_char(out, ' ');
            at++;
        }
        sink_add(out, (struct view){word, n});
        at += n;
        is_first = false;
        word += n;
        if (*word == '\n') {
            sink_char(out, '\n');
            if (word[1] != '\n')
                sink_pad(out, indent);
            at = indent;
            is_first = true;
        }
        word += *word ? 1 : 0;
    }
    sink_char(out, '\n');
}

static void heading(struct sink *out, const struct look *look, const char *text)
{
    sink_printf(out, look->colour ? "\n\033[1m%s\033[0m\n" : "\n%s\n", text);
}

/* Rows: a name on the left, what it means on the right. */

static void print_row(struct sink *out, const struct look *look, const char *left, const char *what, size_t left_width)
{
    sink_printf(out, "  %-*s  ", (int)left_width, left);
    size_t at = 2 + left_width + 2;
    if (strlen(left) > left_width) {
        sink_char(out, '\n');
        sink_pad(out, at);
    }
    wrap(out, what, at, at, text_width(look));
}

static void option_left(const struct option *o, struct buf *out)
{
    if (o->letter)
        buf_printf(out, "-%c, ", o->letter);
    else
        buf_puts(out, "    ");
    buf_printf(out, "--%s", o->name);
    if (o->value)
        buf_printf(out, o->bare ? "[=%s]" : " %s", o->value);
}

/* "one of self, total, name; default self" */
static void option_values(const struct option *o, const void *defaults, struct buf *out)
{
    for (size_t i = 0; o->words && o->words[i]; i++)
        buf_printf(out, "%s%s", i ? ", " : "one of ", o->words[i]);
    own(buf) struct buf value;
    buf_init(&value, 4096);
    if (o->type != OPTION_FLAG)
        option_show(o, defaults, &value);
    if (value.len)
        buf_printf(out, "%sdefault %s", out->len ? "; " : "", value.data);
}

void help_option(const struct option *o, const void *defaults, struct buf *out)
{
    own(buf) struct buf values;
    buf_init(&values, 4096);
    option_values(o, defaults, &values);
    buf_puts(out, o->what);
    if (values.len)
        buf_printf(out, " (%s)", values.data);
}

static size_t left_width_of(const struct option *table)
{
    size_t widest = 12;
    own(buf) struct buf left;
    buf_init(&left, 256);
    for (const struct option *o = table; o->name; o++) {
        buf_clear(&left);
        option_left(o, &left);
        if (left.len > widest && left.len <= LEFT_MOST)
            widest = left.len;
    }
    return widest;
}

static void print_options(struct sink *out, const struct look *look, const struct option *table, const void *defaults)
{
    size_t width = left_width_of(table);
    own(buf) struct buf left, right;
    buf_init(&left, 256);
    buf_init(&right, 4096);
    for (const struct option *o = table; o->name; o++) {
        buf_clear(&left);
        buf_clear(&right);
        option_left(o, &left);
        help_option(o, defaults, &right);
        print_row(out, look, left.data, right.data, width);
    }
}

/* Verbs whose name begins with `begin`. */
static void print_verbs(struct sink *out, const struct look *look, const char *begin)
{
    size_t widest = 0;
    const struct verb *v;
    for (size_t i = 0; (v = verb_at(i)); i++)
        widest = strlen(v->name) > widest ? strlen(v->name) : widest;
    for (size_t i = 0; (v = verb_at(i)); i++)
        if (view_starts(view_of(v->name), view_of(begin)))
            print_row(out, look, v->name, v->what, widest);
}

/* Pages. */

static bool has_options(const struct verb *v) { return v->options && v->options->name; }

void help_usage(const struct verb *v, struct buf *out)
{
    buf_printf(out, "inferom %s%s%s%s", v->name, has_options(v) ? " [options]" : "", *v->args ? " " : "", v->args);
}

void help_overview(struct sink *out, const struct look *look)
{
    sink_puts(out, "inferom measures LLM inference: where time and memory go, and what changed.\n");
    heading(out, look, "usage");
    sink_puts(out, "  inferom VERB [options] [arguments]\n"
                   "  inferom help VERB\n");
    heading(out, look, "verbs");
    print_verbs(out, look, "");
    heading(out, look, "options of every verb");
    print_options(out, look, program_options, &program_defaults);
    heading(out, look, "in front of a verb");
    print_options(out, look, front_options, &front_defaults);
}

void help_group(const char *word, struct sink *out, const struct look *look)
{
    own(buf) struct buf begin;
    buf_init(&begin, 256);
    buf_printf(&begin, "%s ", word);
    print_verbs(out, look, begin.data);
}

void help_verb(const struct verb *v, struct sink *out, const struct look *look)
{
    sink_printf(out, "inferom %s: ", v->name);
    wrap(out, v->what, strlen("inferom : ") + strlen(v->name), 2, text_width(look));
    heading(out, look, "usage");
    own(buf) struct buf usage;
    buf_init(&usage, 4096);
    help_usage(v, &usage);
    sink_printf(out, "  %s\n", usage.data);
    if (v->about) {
        sink_char(out, '\n');
        wrap(out, v->about, 0, 0, text_width(look));
    }
    if (has_options(v)) {
        heading(out, look, "options");
        print_options(out, look, v->options, v->defaults);
    }
    heading(out, look, "options of every verb");
    print_options(out, look, program_options, &program_defaults);
    if (v->example) {
        heading(out, look, "example");
        sink_puts(out, "  ");
        wrap(out, v->example, 2, 2, SIZE_MAX);
    }
}

/* The verb. */

struct help {
    bool man;
    int completion; /* 0: none */
};

static const char *const completion_shells[] = {"none", "bash", "zsh", "fish", NULL};
static void (*const completions[])(struct sink *out) = {NULL, completion_bash, completion_zsh, completion_fish};

static const struct option help_options[] = {
    {.name = "man", .type = OPTION_FLAG, .at = OPTION_AT(struct help, man, bool),
     .what = "print the manual page, for man -l", .env = "", .key = ""},
    {.name = "completion", .type = OPTION_CHOICE, .at = OPTION_AT(struct help, completion, int), .value = "SHELL",
     .words = completion_shells, .what = "print the completions for a shell", .env = "", .key = ""},
    OPTIONS_END
};

static bool help(const struct call *c, struct err *e)
{
    const struct help *s = c->settings;
    const struct verb *v = NULL;
    int used = 0;
    if (s->man)
        manual_print(c->out);
    else if (completions[s->completion])
        completions[s->completion](c->out);
    else if (!c->n_args)
        help_overview(c->out, &c->look);
    else if (c->n_args == 1 && verb_is_group(c->args[0]))
        help_group(c->args[0], c->out, &c->look);
    else if (!verb_find(c->args, &v, &used, e))
        return false;
    else if (used < c->n_args)
        return err_set(e, ERR_USAGE, "one word too many: '%s'", c->args[used]);
    else
        help_verb(v, c->out, &c->look);
    return true;
}

const struct verb verb_help = {
    .name = "help",
    .args = "[VERB]",
    .most_args = 2,
    .what = "explain a verb and its options",
    .example = "inferom help convert",
    .options = help_options,
    .defaults = &(const struct help){0},
    .settings_size = sizeof(struct help),
    .run = help,
};
