/*
 * Reads a file of leaks to leave out. What is accepted has a rule for every line that is not empty or a remark, and
 * asking about any function comes to an end: with a name made of the rule itself, a rule without anchors must agree.
 */
#include "analyse/leak_suppressions.h"
#include "model/builder.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ask(const struct leak_suppressions *s)
{
    for (size_t i = 0; i < s->n && i < 16; i++) {
        struct builder *b = builder_new();
        struct view text = view_of(s->rules[i].text);
        func_id f = builder_function(b, (struct function){.name = builder_string(b, text)});
        struct profile *p = NULL;
        if (!builder_finish(b, &p, NULL))
            abort();
        bool is_free = text.at[0] != '^' && text.at[text.n - 1] != '$';
        if (leak_suppressions_find(s, p, f) > i && is_free)
            abort(); /* neither this rule nor an earlier one knows its own words */
        profile_free(p);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    own(leak_suppressions) struct leak_suppressions s = {0};
    own(reader) struct reader in;
    struct err e = {0};
    reader_over(&in, "fuzz", (struct view){(const char *)data, size});
    if (!leak_suppressions_read(&s, &in, &e)) {
        if (!e.kind || !*e.text)
            abort(); /* refused without a word */
        return 0;
    }
    ask(&s);
    return 0;
}
