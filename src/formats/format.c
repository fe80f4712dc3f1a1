#include "formats/format.h"
#include "format_list.h"

#define DECLARE(name) extern const struct format format_##name;
FORMAT_LIST(DECLARE)

#define ENTRY(name) &format_##name,
static const struct format *const formats[] = {FORMAT_LIST(ENTRY) NULL};

const struct format *format_at(size_t i)
{
    size_t n = sizeof formats / sizeof *formats - 1;
    return i < n ? formats[i] : NULL;
}

const struct format *format_named(const char *name)
{
    for (const struct format *const *f = formats; *f; f++)
        if (!strcmp((*f)->name, name))
            return *f;
    return NULL;
}

const struct format *format_for_content(struct view head)
{
    const struct format *best = NULL;
    int best_score = 0;
    for (const struct format *const *f = formats; *f; f++) {
        int score = (*f)->sniff ? (*f)->sniff(head) : 0;
        if (score > best_score) {
            best = *f;
            best_score = score;
        }
    }
    return best;
}

/* The longest suffix wins: "x.speedscope.json" is speedscope, not JSON in general. */
const struct format *format_for_path(const char *path)
{
    const struct format *best = NULL;
    for (const struct format *const *f = formats; *f; f++)
        if (view_ends(view_of(path), view_of((*f)->suffix)) &&
            (!best || strlen((*f)->suffix) > strlen(best->suffix)))
            best = *f;
    return best;
}

bool format_detect(struct reader *in, const struct format **out, struct err *e)
{
    if (!reader_fill(in, FORMAT_HEAD, e))
        return false;
    struct view head = reader_here(in);
    if (!head.n)
        return err_set(e, ERR_MALFORMED, "empty: there is no profile in it");
    if (head.n > FORMAT_HEAD)
        head.n = FORMAT_HEAD;
    const struct format *f = format_for_content(head);
    if (!f || !f->read) {
        err_set(e, ERR_MALFORMED, "not a profile in any format this program reads");
        return err_hint(e, "'inferom formats' lists them");
    }
    *out = f;
    return true;
}

bool profile_open(const char *path, struct profile **out, struct err *e)
{
    own(reader) struct reader in = {.fd = -1};
    if (!reader_open(&in, path, e))
        return false;
    own(builder) struct builder *b = builder_new();
    const struct format *f = NULL;
    if (!format_detect(&in, &f, e) || !f->read(b, &in, e))
        return err_in(e, "%s", in.name);
    return builder_finish(take(b), out, e) || err_in(e, "%s", in.name);
}
