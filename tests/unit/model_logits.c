/*
 * What our model thinks of a text, for a comparison with another program that runs the same file.
 *
 *     model_logits MODEL tokens < TEXT               the tokens of the text, one a line
 *     model_logits MODEL feed TOKEN...               feeds them all, then writes the logits as raw f32
 *     model_logits MODEL decode THREADS TOKEN...     feeds the first, then feeds the others one by one
 */
#include "base/buf.h"
#include "lab/model.h"

#include <inttypes.h>

static int say_tokens(const struct model *m)
{
    own(buf) struct buf text;
    own(tokens) struct tokens t = {0};
    buf_init(&text, 1 << 24);
    char some[4096];
    for (size_t n; (n = fread(some, 1, sizeof some, stdin));)
        buf_add(&text, some, n);
    model_tokenize(m, buf_view(&text), &t);
    for (size_t i = 0; i < t.n; i++)
        printf("%" PRIu32 "\n", t.at[i]);
    return 0;
}

static bool say_logits(struct model *m, char **words, bool one_by_one, struct err *e)
{
    own(tokens) struct tokens t = {0};
    for (; *words; words++)
        tokens_add(&t, (uint32_t)strtoul(*words, NULL, 10));
    own(session) struct session *s = session_new(m, &(struct session_plan){0});
    for (size_t i = 0, n = one_by_one ? 1 : t.n; i < t.n; i += n)
        if (!session_feed(s, t.at + i, n, e))
            return false;
    return fwrite(session_logits(s), sizeof(float), model_facts(m)->vocabulary, stdout) == model_facts(m)->vocabulary;
}

int main(int argc, char **argv)
{
    own(model) struct model *m = NULL;
    struct err e = {0};
    if (argc < 3)
        return 2;
    bool one_by_one = !strcmp(argv[2], "decode");
    unsigned threads = one_by_one && argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 1;
    if (model_open(argv[1], &(struct model_plan){.threads = threads}, &m, &e)) {
        if (!strcmp(argv[2], "tokens"))
            return say_tokens(m);
        if (say_logits(m, argv + 3 + one_by_one, one_by_one, &e))
            return 0;
    }
    fprintf(stderr, "%s\n", e.text);
    return 1;
}
