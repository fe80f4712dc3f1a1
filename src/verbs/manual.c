/*
 * The manual page, in mdoc. Text goes out in lines of its own, never behind a
 * macro, so a word that happens to be the name of one stays a word; a sentence
 * begins a new line, as mandoc likes it.
 */
#include "base/text.h"
#include "verbs/help.h"
#include "verbs/program.h"

#define LINE_MOST 78
#define REVISED "November 15, 2026" /* when the words below last changed */

static void print_word(struct sink *out, struct view word, bool begins_line)
{
    if (begins_line && word.n && (word.at[0] == '.' || word.at[0] == '\''))
        sink_puts(out, "\\&");
    for (size_t i = 0; i < word.n; i++)
        if (word.at[i] == '\\')
            sink_puts(out, "\\e");
        else
            sink_char(out, word.at[i]);
}

static void print_text(struct sink *out, const char *text)
{
    size_t at = 0;
    for (size_t n; *text; text += n + strspn(text + n, " ")) {
        if (*text == '\n') {
            sink_puts(out, at ? "\n" : "");
            sink_puts(out, text[1] == '\n' ? ".Pp\n" : "");
            n = strspn(text, "\n");
            at = 0;
            continue;
        }
        n = strcspn(text, " \n");
        if (at && at + 1 + n > LINE_MOST)
            sink_char(out, '\n'), at = 0;
        if (at)
            sink_char(out, ' '), at++;
        print_word(out, (struct view){text, n}, at == 0);
        at += n;
        if (text[n - 1] == '.' && text[n])
            sink_char(out, '\n'), at = 0;
    }
    sink_puts(out, at ? "\n" : "");
}

static void print_literal(struct sink *out, const char *text)
{
    sink_puts(out, ".Bd -literal -offset indent\n");
    while (*text) {
        size_t n = strcspn(text, "\n");
        print_word(out, (struct view){text, n}, true);
        sink_char(out, '\n');
        text += n + (text[n] == '\n');
    }
    sink_puts(out, ".Ed\n");
}

static void print_option(struct sink *out, const struct option *o, const void *defaults)
{
    sink_puts(out, ".It ");
    if (o->letter)
        sink_printf(out, "Fl %c , ", o->letter);
    sink_printf(out, "Fl -%s", o->name);
    if (o->value)
        sink_printf(out, o->bare ? " Ns Oo = Ns Ar %s Oc" : " Ar %s", o->value);
    sink_char(out, '\n');
    own(buf) struct buf text;
    buf_init(&text, 8192);
    help_option(o, defaults, &text);
    print_text(out, text.data);
}

static void print_options(struct sink *out, const struct option *table, const void *defaults)
{
    if (!table || !table->name)
        return;
    sink_puts(out, ".Bl -tag -width Ds\n");
    for (const struct option *o = table; o->name; o++)
        print_option(out, o, defaults);
    sink_puts(out, ".El\n");
}

static void print_verb(struct sink *out, const struct verb *v)
{
    own(buf) struct buf usage;
    buf_init(&usage, 4096);
    help_usage(v, &usage);
    sink_printf(out, ".Ss %s: %s\n", v->name, v->what);
    print_literal(out, usage.data);
    if (v->about) {
        sink_puts(out, ".Pp\n");
        print_text(out, v->about);
    }
    print_options(out, v->options, v->defaults);
}

static void print_exit_status(struct sink *out)
{
    sink_puts(out, ".Sh EXIT STATUS\n.Bl -tag -width Ds\n.It 0\ndone\n");
    for (int kind = ERR_NONE + 1; kind < ERR_KIND_COUNT; kind++) {
        sink_printf(out, ".It %d\n", err_exit_status((enum err_kind)kind));
        print_text(out, err_meaning((enum err_kind)kind));
    }
    sink_puts(out, ".El\n");
}

static void print_examples(struct sink *out)
{
    sink_puts(out, ".Sh EXAMPLES\n");
    const struct verb *v;
    const char *between = "";
    for (size_t i = 0; (v = verb_at(i)); i++) {
        if (!v->example)
            continue;
        sink_printf(out, "%sTo %.*s:\n", between, (int)strcspn(v->what, ":,"), v->what);
        print_literal(out, v->example);
        between = ".Pp\n";
    }
}

static const char beginning[] =
    ".Dd " REVISED "\n"
    ".Dt INFEROM 1\n"
    ".Os\n"
    ".Sh NAME\n"
    ".Nm inferom\n"
    ".Nd measure LLM inference\n"
    ".Sh SYNOPSIS\n"
    ".Nm\n"
    ".Ar VERB\n"
    ".Op Ar options\n"
    ".Op Ar arguments\n"
    ".Nm\n"
    ".Cm help\n"
    ".Op Ar VERB\n"
    ".Sh DESCRIPTION\n"
    ".Nm\n"
    "tells where a program that runs a language model spends its time and memory,\n"
    "and what changed between two runs.\n"
    "Everything it can do is a verb; each has its options, and all of them take\n"
    "the options of the program.\n"
    "Options and arguments may be mixed;\n"
    ".Fl -\n"
    "ends the options.\n"
    "A flag is switched off by\n"
    ".Fl -no-\n"
    "in front of its name.\n"
    "Long names are not abbreviated.\n";

static const char environment[] =
    ".Sh ENVIRONMENT\n"
    "Every option can be set by a variable named after the verb and the option:\n"
    ".Ev INFEROM_CONVERT_TO\n"
    "is\n"
    ".Fl -to\n"
    "of\n"
    ".Cm convert .\n"
    "An empty variable says nothing.\n"
    "The command line wins over the environment, and the environment over the\n"
    "settings file.\n"
    ".Bl -tag -width Ds\n"
    ".It Ev INFEROM_CONFIG\n"
    "the settings file, unless\n"
    ".Fl -config\n"
    "names one\n"
    ".It Ev INFEROM_LOG , INFEROM_COLOR\n"
    "as the options of the program\n"
    ".It Ev INFEROM_SCOPES , INFEROM_SCOPES_FILE , INFEROM_SCOPES_WARMUP , INFEROM_SCOPES_TIMING , INFEROM_SCOPES_SIGNAL\n"
    "for programs that name their own parts with\n"
    ".In inferom.h\n"
    ".It Ev NO_COLOR\n"
    "when not empty: no colours, unless asked for\n"
    ".It Ev COLUMNS\n"
    "the width of the output, instead of that of the terminal\n"
    ".It Ev XDG_CONFIG_HOME , HOME\n"
    "where the settings file is\n"
    ".El\n"
    ".Sh FILES\n"
    ".Bl -tag -width Ds\n"
    ".It Pa $XDG_CONFIG_HOME/inferom/config.json\n"
    ".It Pa ~/.config/inferom/config.json\n"
    "settings, as JSON: an object for each verb, in it a value for each option.\n"
    "The output of\n"
    ".Ql inferom config --json\n"
    "is such a file.\n"
    ".El\n";

void manual_print(struct sink *out)
{
    sink_puts(out, beginning);
    sink_puts(out, ".Ss Options of every verb\n");
    print_options(out, program_options, &program_defaults);
    sink_puts(out, ".Ss Options in front of a verb\n");
    print_options(out, front_options, &front_defaults);
    sink_puts(out, ".Sh VERBS\n");
    const struct verb *v;
    for (size_t i = 0; (v = verb_at(i)); i++)
        print_verb(out, v);
    sink_puts(out, environment);
    print_exit_status(out);
    print_examples(out);
}
