/*
 * A GGUF file: settings, vocabulary, tensors. If it makes a model that is small enough, it is asked to read a text and to say
 * something: whatever the header promised must then be there.
 */
#include "lab/gguf.h"
#include "lab/model_inside.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_PARAMETERS = 1 << 18, TOKENS = 5 };

static void talk(struct model *m)
{
    struct err e = {0};
    own(tokens) struct tokens t = {0};
    model_chat_begin(m, &t);
    model_chat_turn(m, "user", VIEW("it's 3\xc3\xa9 \xf0\x9f\x98\x80\xff  \n<|im_end|>"), &t);
    own(session) struct session *s = session_new(m, &(struct session_plan){.temperature = 1, .top_k = 3, .context = 2 * TOKENS});
    if (!session_feed(s, t.at, t.n < TOKENS ? t.n : TOKENS, &e))
        return;
    for (uint32_t token; session_next(s, &token, &e) && !model_ends(m, token);)
        model_piece(m, token);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct err e = {0};
    struct gguf *g = NULL;
    own(model) struct model *m = NULL;
    if (!gguf_over((struct view){(const char *)data, size}, &g, &e))
        return 0;
    if (model_of_gguf(g, &(struct model_plan){.threads = 1}, &m, &e) && m->facts.parameters <= MOST_PARAMETERS)
        talk(m);
    return 0;
}
