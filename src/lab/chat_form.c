/*
 * How a conversation is written for a model. The marks of a form are tokens of the vocabulary; what people say
 * is only ever text between them, so nobody can speak for somebody else. A model without marks gets names and
 * line ends.
 */
#include "lab/model_inside.h"


/* Each text may hold marks, in the words of the vocabulary; %r is the role. */
struct chat_form {
    const char *needs[2]; /* marks that the vocabulary must have */
    const char *before, *after;   /* what was said */
    const char *answer, *answered;
};

static const struct chat_form forms[] = {
    {{"<|im_start|>", "<|im_end|>"}, "<|im_start|>%r\n", "<|im_end|>\n", "<|im_start|>assistant\n", "<|im_end|>\n"},
    {{"<|start_header_id|>", "<|eot_id|>"}, "<|start_header_id|>%r<|end_header_id|>\n\n", "<|eot_id|>",
     "<|start_header_id|>assistant<|end_header_id|>\n\n", "<|eot_id|>"},
    {{NULL, NULL}, "%r: ", "\n", "assistant:", "\n"},
};

static const struct chat_form *form_of(const struct model *m)
{
    const struct chat_form *f = forms;
    for (; f->needs[0]; f++)
        if (vocabulary_find(m->words, view_of(f->needs[0])) != TOKEN_NONE && vocabulary_find(m->words, view_of(f->needs[1])) != TOKEN_NONE)
            break;
    return f;
}

/* "<|im_start|>": how far a mark goes from here; 0: none begins here. */
static size_t mark_length(const struct model *m, const char *at, uint32_t *out_token)
{
    const char *end = at[0] == '<' && at[1] == '|' ? strstr(at, "|>") : NULL;
    if (!end)
        return 0;
    struct view mark = view_between(at, end + 2);
    *out_token = vocabulary_find(m->words, mark);
    return *out_token == TOKEN_NONE ? 0 : mark.n;
}

static void say(const struct model *m, const char *form, const char *role, struct tokens *out)
{
    while (*form) {
        uint32_t token;
        size_t n = mark_length(m, form, &token);
        if (n)
            tokens_add(out, token);
        else if (form[0] == '%' && form[1] == 'r') {
            model_tokenize(m, view_of(role), out);
            n = 2;
        } else {
            const char *mark = strstr(form + 1, "<|"), *name = strstr(form + 1, "%r");
            const char *end = mark && (!name || mark < name) ? mark : name ? name : form + strlen(form);
            model_tokenize(m, view_between(form, end), out);
            n = (size_t)(end - form);
        }
        form += n;
    }
}

void model_chat_begin(const struct model *m, struct tokens *out)
{
    if (m->words->adds_begin && m->words->begin != TOKEN_NONE)
        tokens_add(out, m->words->begin);
}

void model_chat_turn(const struct model *m, const char *role, struct view text, struct tokens *out)
{
    const struct chat_form *f = form_of(m);
    say(m, f->before, role, out);
    model_tokenize(m, text, out);
    say(m, f->after, role, out);
}

void model_chat_answer(const struct model *m, struct tokens *out) { say(m, form_of(m)->answer, "assistant", out); }
void model_chat_answered(const struct model *m, struct tokens *out) { say(m, form_of(m)->answered, "assistant", out); }
