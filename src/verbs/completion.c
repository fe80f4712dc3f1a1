#include "verbs/completion.h"
#include "formats/format.h"

enum word_kind completion_value_kind(const struct option *o)
{
    static const struct {
        const char *value;
        enum word_kind kind;
    } kinds[] = {
        {"FILE", WORD_FILE},
        {"DIR", WORD_FILE},
        {"FORMAT", WORD_FORMAT},
        {"VERB", WORD_VERB},
    };
    if (o->type == OPTION_FLAG)
        return WORD_NONE;
    if (o->type == OPTION_CHOICE)
        return WORD_OF_LIST;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!strcmp(kinds[i].value, o->value))
            return kinds[i].kind;
    return WORD_OTHER;
}

enum word_kind completion_args_kind(const struct verb *v)
{
    if (!*v->args)
        return WORD_NONE;
    return strstr(v->args, "VERB") ? WORD_VERB : WORD_FILE;
}

void completion_words(const struct option *o, struct buf *out)
{
    const struct format *f;
    if (completion_value_kind(o) == WORD_FORMAT) {
        for (size_t i = 0; (f = format_at(i)); i++)
            if (f->write)
                buf_printf(out, "%s%s", out->len ? " " : "", f->name);
    } else {
        for (size_t i = 0; o->words && o->words[i]; i++)
            buf_printf(out, "%s%s", i ? " " : "", o->words[i]);
    }
}

static size_t first_word_length(const struct verb *v) { return strcspn(v->name, " "); }

static bool is_repeated(size_t i)
{
    size_t n = first_word_length(verb_at(i));
    for (size_t before = 0; before < i; before++)
        if (first_word_length(verb_at(before)) == n && !strncmp(verb_at(before)->name, verb_at(i)->name, n))
            return true;
    return false;
}

const char *completion_first_word(size_t i, char name[64], const char **out_what)
{
    const struct verb *v;
    for (size_t at = 0; (v = verb_at(at)); at++)
        if (!is_repeated(at) && i-- == 0)
            break;
    if (!v)
        return NULL;
    snprintf(name, 64, "%.*s", (int)first_word_length(v), v->name);
    *out_what = verb_named(name) ? v->what : "a group of verbs";
    return name;
}
