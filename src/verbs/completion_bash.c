#include "verbs/completion.h"
#include "verbs/program.h"

static const char head[] =
    "# bash completion for inferom; printed by 'inferom help --completion bash'\n"
    "\n"
    "_inferom_words() { mapfile -t COMPREPLY < <(compgen -W \"$1\" -- \"$cur\"); }\n"
    "\n"
    "_inferom_files()\n"
    "{\n"
    "    compopt -o filenames 2>/dev/null\n"
    "    mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n"
    "}\n"
    "\n";

/* bash cuts --to=pprof into three words; the value belongs to the word before the '='. */
static const char find_place[] =
    "_inferom()\n"
    "{\n"
    "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
    "    local verb='' options='' args='' i word\n"
    "    COMPREPLY=()\n"
    "    if [[ $cur == = ]]; then cur=''; elif [[ $prev == = ]]; then prev=${COMP_WORDS[COMP_CWORD - 2]}; fi\n"
    "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
    "        word=${COMP_WORDS[i]}\n"
    "        case $word in\n";

static const char find_verb[] =
    "        -*|=) ;;\n"
    "        *) case ${verb:+$verb }$word in\n";

static const char tail[] =
    "    if [[ $cur == -* ]]; then\n"
    "        _inferom_words \"$options\"\n"
    "    elif [[ $args == files ]]; then\n"
    "        _inferom_files\n"
    "    else\n"
    "        _inferom_words \"$args\"\n"
    "    fi\n"
    "}\n"
    "\n"
    "complete -F _inferom inferom\n";

static void print_verb_words(struct sink *out)
{
    char name[64];
    const char *what;
    for (size_t i = 0; completion_first_word(i, name, &what); i++)
        sink_printf(out, "%s%s", i ? " " : "", name);
}

/* Values of program options are no verbs. */
static void print_value_skips(struct sink *out)
{
    const char *between = "        ";
    for (const struct option *o = program_options; o->name; o++)
        if (completion_value_kind(o) != WORD_NONE) {
            sink_printf(out, "%s--%s", between, o->name);
            between = "|";
        }
    sink_puts(out, ") [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++)); ((i++)) ;;\n");
}

/* The longest words that name a verb or begin one; what follows them are arguments. */
static void print_verb_names(struct sink *out)
{
    char name[64];
    const char *what, *between = "           ";
    const struct verb *v;
    for (size_t i = 0; completion_first_word(i, name, &what); i++) {
        sink_printf(out, "%s%s", between, name);
        between = "|";
    }
    for (size_t i = 0; (v = verb_at(i)); i++)
        if (strchr(v->name, ' '))
            sink_printf(out, "|'%s'", v->name);
    sink_puts(out, ") verb=${verb:+$verb }$word ;;\n"
                   "           esac ;;\n"
                   "        esac\n"
                   "    done\n");
}

static void print_value_case(struct sink *out, const struct option *o)
{
    own(buf) struct buf words;
    buf_init(&words, 4096);
    completion_words(o, &words);
    sink_printf(out, "        --%s", o->name);
    if (o->letter)
        sink_printf(out, "|-%c", o->letter);
    enum word_kind kind = completion_value_kind(o);
    if (kind == WORD_FILE)
        sink_puts(out, ") _inferom_files; return ;;\n");
    else if (kind == WORD_OTHER)
        sink_puts(out, ") return ;;\n");
    else
        sink_printf(out, ") _inferom_words '%s'; return ;;\n", words.data);
}

static void print_options(struct sink *out, const struct option *table)
{
    for (const struct option *o = table; o && o->name; o++) {
        sink_printf(out, "--%s ", o->name);
        if (o->letter)
            sink_printf(out, "-%c ", o->letter);
    }
}

/* What may follow the words `name`: values of options, options, arguments. */
static void print_place(struct sink *out, const char *name, const struct option *own_options, enum word_kind args)
{
    sink_printf(out, "    '%s')\n        case $prev in\n", name);
    for (const struct option *o = own_options; o && o->name; o++)
        if (completion_value_kind(o) != WORD_NONE)
            print_value_case(out, o);
    for (const struct option *o = program_options; o->name; o++)
        if (completion_value_kind(o) != WORD_NONE)
            print_value_case(out, o);
    sink_puts(out, "        esac\n        options='");
    print_options(out, own_options);
    print_options(out, program_options);
    sink_puts(out, "'\n        args='");
    if (args == WORD_FILE)
        sink_puts(out, "files");
    if (args == WORD_VERB)
        print_verb_words(out);
    sink_puts(out, "' ;;\n");
}

/* "runs" is followed by "show". */
static void print_group(struct sink *out, const char *word)
{
    sink_printf(out, "    '%s') args='", word);
    const struct verb *v;
    size_t n = strlen(word);
    for (size_t i = 0; (v = verb_at(i)); i++)
        if (!strncmp(v->name, word, n) && v->name[n] == ' ')
            sink_printf(out, "%s ", v->name + n + 1);
    sink_puts(out, "' ;;\n");
}

void completion_bash(struct sink *out)
{
    sink_puts(out, head);
    sink_puts(out, find_place);
    print_value_skips(out);
    sink_puts(out, find_verb);
    print_verb_names(out);
    sink_puts(out, "    case $verb in\n");
    print_place(out, "", front_options, WORD_VERB);
    char name[64];
    const char *what;
    for (size_t i = 0; completion_first_word(i, name, &what); i++)
        if (verb_is_group(name))
            print_group(out, name);
    const struct verb *v;
    for (size_t i = 0; (v = verb_at(i)); i++)
        print_place(out, v->name, v->options, completion_args_kind(v));
    sink_puts(out, "    esac\n");
    sink_puts(out, tail);
}
