#include "verbs/completion.h"
#include "verbs/program.h"

static void print_quoted(struct sink *out, const char *text)
{
    sink_char(out, '\'');
    for (; *text; text++) {
        if (*text == '\'' || *text == '\\')
            sink_char(out, '\\');
        sink_char(out, *text);
    }
    sink_char(out, '\'');
}

/* The words before the cursor that are neither options nor values of program options. */
static void print_functions(struct sink *out)
{
    sink_puts(out, "# fish completion for inferom; printed by 'inferom help --completion fish'\n"
                   "\n"
                   "function __inferom_words\n"
                   "    set -l skip no\n"
                   "    for word in (commandline -opc)[2..-1]\n"
                   "        if test $skip = yes\n"
                   "            set skip no\n"
                   "            continue\n"
                   "        end\n"
                   "        switch $word\n"
                   "            case");
    for (const struct option *o = program_options; o->name; o++)
        if (completion_value_kind(o) != WORD_NONE)
            sink_printf(out, " --%s", o->name);
    sink_puts(out, "\n"
                   "                set skip yes\n"
                   "            case '-*'\n"
                   "            case '*'\n"
                   "                echo $word\n"
                   "        end\n"
                   "    end\n"
                   "end\n"
                   "\n"
                   "function __inferom_at\n"
                   "    set -l words (__inferom_words)\n"
                   "    test (count $words) -ge (count $argv)\n"
                   "    and test \"$words[1..\"(count $argv)\"]\" = \"$argv\"\n"
                   "end\n"
                   "\n"
                   "function __inferom_exactly\n"
                   "    set -l words (__inferom_words)\n"
                   "    test \"$words\" = \"$argv\"\n"
                   "end\n"
                   "\n"
                   "complete -c inferom -f\n");
}

static void print_words(struct sink *out, const char *after, const char *word, const char *what)
{
    sink_printf(out, "complete -c inferom -n '__inferom_exactly %s' -a ", after);
    print_quoted(out, word);
    sink_puts(out, " -d ");
    print_quoted(out, what);
    sink_char(out, '\n');
}

static void print_option(struct sink *out, const char *condition, const struct option *o)
{
    own(buf) struct buf words;
    buf_init(&words, 4096);
    completion_words(o, &words);
    sink_puts(out, "complete -c inferom");
    if (*condition)
        sink_printf(out, " -n '%s'", condition);
    sink_printf(out, " -l %s", o->name);
    if (o->letter)
        sink_printf(out, " -s %c", o->letter);
    enum word_kind kind = completion_value_kind(o);
    if (kind == WORD_FILE)
        sink_puts(out, " -r -F");
    else if (words.len)
        sink_printf(out, " -x -a '%s'", words.data);
    else if (kind == WORD_OTHER)
        sink_puts(out, " -x");
    sink_puts(out, " -d ");
    print_quoted(out, o->what);
    sink_char(out, '\n');
}

static void print_first_words(struct sink *out, const char *after)
{
    char name[64];
    const char *what;
    for (size_t i = 0; completion_first_word(i, name, &what); i++)
        print_words(out, after, name, what);
}

static void print_verb(struct sink *out, const struct verb *v)
{
    own(buf) struct buf condition;
    buf_init(&condition, 256);
    buf_printf(&condition, "__inferom_at %s", v->name);
    for (const struct option *o = v->options; o && o->name; o++)
        print_option(out, condition.data, o);
    enum word_kind args = completion_args_kind(v);
    if (args == WORD_FILE)
        sink_printf(out, "complete -c inferom -n '%s' -F\n", condition.data);
    if (args == WORD_VERB)
        print_first_words(out, v->name);
    const char *second = strchr(v->name, ' ');
    if (second) {
        char first[64];
        snprintf(first, sizeof first, "%.*s", (int)(second - v->name), v->name);
        print_words(out, first, second + 1, v->what);
    }
}

void completion_fish(struct sink *out)
{
    print_functions(out);
    for (const struct option *o = program_options; o->name; o++)
        print_option(out, "", o);
    for (const struct option *o = front_options; o->name; o++)
        print_option(out, "__inferom_exactly", o);
    print_first_words(out, "");
    const struct verb *v;
    for (size_t i = 0; (v = verb_at(i)); i++)
        print_verb(out, v);
}
