#include "verbs/completion.h"
#include "verbs/program.h"

/* Inside single quotes, and inside a specification of _arguments or _describe. */
static void print_escaped(struct sink *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '\'')
            sink_puts(out, "'\\'");
        else if (strchr(":[]\\", *text))
            sink_char(out, '\\');
        sink_char(out, *text);
    }
}

static void print_value(struct sink *out, const struct option *o)
{
    own(buf) struct buf words;
    buf_init(&words, 4096);
    completion_words(o, &words);
    enum word_kind kind = completion_value_kind(o);
    if (kind == WORD_NONE)
        return;
    sink_printf(out, ":%s:", o->value);
    if (kind == WORD_FILE)
        sink_puts(out, "_files");
    else if (words.len)
        sink_printf(out, "(%s)", words.data);
    else
        sink_char(out, ' ');
}

/* '*' in front: a list may be given again and again. */
static void print_spec(struct sink *out, const struct option *o, const char *spelling)
{
    bool has_value = completion_value_kind(o) != WORD_NONE;
    bool is_long = spelling[1] == '-';
    sink_printf(out, " \\\n            '%s%s%s[", o->type == OPTION_LIST ? "*" : "", spelling,
                !has_value ? "" : is_long ? "=" : "+");
    print_escaped(out, o->what);
    sink_char(out, ']');
    print_value(out, o);
    sink_char(out, '\'');
}

static void print_specs(struct sink *out, const struct option *table)
{
    own(buf) struct buf spelling;
    buf_init(&spelling, 256);
    for (const struct option *o = table; o && o->name; o++) {
        buf_clear(&spelling);
        buf_printf(&spelling, "--%s", o->name);
        print_spec(out, o, spelling.data);
        if (o->letter)
            print_spec(out, o, (char[]){'-', o->letter, '\0'});
    }
}

static void print_described(struct sink *out, const char *word, const char *what)
{
    sink_puts(out, "        '");
    print_escaped(out, word);
    sink_char(out, ':');
    print_escaped(out, what);
    sink_puts(out, "'\n");
}

static void print_verb_lists(struct sink *out)
{
    char name[64];
    const char *what;
    sink_puts(out, "    verbs=(\n");
    for (size_t i = 0; completion_first_word(i, name, &what); i++)
        print_described(out, name, what);
    sink_puts(out, "    )\n");
}

static void print_group(struct sink *out, const char *word)
{
    sink_printf(out, "    (%s)\n        more=(\n", word);
    const struct verb *v;
    size_t n = strlen(word);
    for (size_t i = 0; (v = verb_at(i)); i++)
        if (!strncmp(v->name, word, n) && v->name[n] == ' ')
            print_described(out, v->name + n + 1, v->what);
    sink_puts(out, "        )\n"
                   "        if (( CURRENT == 2 )); then _describe -t verbs verb more; return; fi\n"
                   "        verb=\"$verb $words[2]\"\n"
                   "        shift words\n"
                   "        (( CURRENT-- )) ;;\n");
}

static void print_groups(struct sink *out)
{
    char name[64];
    const char *what;
    sink_puts(out, "    local verb=$words[1]\n    case $verb in\n");
    for (size_t i = 0; completion_first_word(i, name, &what); i++)
        if (verb_is_group(name))
            print_group(out, name);
    sink_puts(out, "    esac\n");
}

static void print_verb(struct sink *out, const struct verb *v)
{
    static const char *const args[WORD_KIND_COUNT] = {
        [WORD_FILE] = ":_files",
        [WORD_VERB] = ":{_describe -t verbs verb verbs}",
    };
    sink_printf(out, "    ('%s')\n        _arguments -s", v->name);
    print_specs(out, v->options);
    print_specs(out, program_options);
    const char *what = args[completion_args_kind(v)];
    if (what)
        sink_printf(out, " \\\n            '*:argument%s'", what);
    sink_puts(out, " ;;\n");
}

void completion_zsh(struct sink *out)
{
    sink_puts(out, "#compdef inferom\n"
                   "# zsh completion for inferom; printed by 'inferom help --completion zsh'\n"
                   "\n"
                   "_inferom()\n"
                   "{\n"
                   "    local curcontext=$curcontext state line ret=1\n"
                   "    local -a verbs more\n"
                   "    typeset -A opt_args\n");
    print_verb_lists(out);
    sink_puts(out, "    _arguments -C -s");
    print_specs(out, program_options);
    print_specs(out, front_options);
    sink_puts(out, " \\\n            '1:verb:->verb' '*::argument:->rest' && ret=0\n"
                   "    if [[ $state == verb ]]; then _describe -t verbs verb verbs && ret=0; fi\n"
                   "    if [[ $state != rest ]]; then return ret; fi\n");
    print_groups(out);
    sink_puts(out, "    case $verb in\n");
    const struct verb *v;
    for (size_t i = 0; (v = verb_at(i)); i++)
        print_verb(out, v);
    sink_puts(out, "    esac\n"
                   "}\n"
                   "\n"
                   "if [[ $funcstack[1] == _inferom ]]; then _inferom \"$@\"; else compdef _inferom inferom; fi\n");
}
