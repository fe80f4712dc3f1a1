#include "lab/model.h"
#include "check.h"

static void check_parameters(void)
{
    static const struct {
        const char *name;
        long long parameters;
    } cases[] = {{"small", 470528}, {"medium", 3454464}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        own(model) struct model *m = NULL;
        struct err e = {0};
        CHECK(model_preset(cases[i].name, &(struct model_plan){.seed = 1}, &m, &e));
        CHECK_EQ(model_facts(m)->parameters, cases[i].parameters);
    }
}

int main(void)
{
    check_parameters();
    struct err e = {0};
    own(model) struct model *m = NULL;
    CHECK(model_preset("medium", &(struct model_plan){.seed = 1}, &m, &e));
    own(session) struct session *s = session_new(m, &(struct session_plan){0});
    own(tokens) struct tokens t = {0};
    model_tokenize(m, VIEW("Hello ba world"), &t);
    CHECK(session_feed(s, t.at, t.n, &e));
    for (uint32_t k; session_room(s) && session_next(s, &k, &e);)
        printf("%.*s", (int)model_piece(m, k).n, model_piece(m, k).at);
    printf("\n%s\n", e.text);
    return CHECK_DONE();
}
