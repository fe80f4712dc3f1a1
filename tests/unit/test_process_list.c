/* A row for each process that is being recorded: who comes, who goes, and what is remembered meanwhile. */
#include "capture/process_list.h"
#include "check.h"

struct mine {
    int32_t pid, looks;
};

struct heard {
    int came, gone;
    int32_t last_gone;
};

static void came(void *self, void *row, int32_t pid)
{
    struct mine *m = row;
    CHECK(m->pid == 0 && m->looks == 0);
    m->pid = pid;
    ((struct heard *)self)->came++;
}

static void gone(void *self, void *row)
{
    struct heard *h = self;
    h->gone++;
    h->last_gone = ((struct mine *)row)->pid;
}

static void look(struct process_list *l, struct heard *h, const int32_t *pids, size_t n)
{
    process_list_update(l, pids, n, &(struct process_list_news){h, came, gone});
    for (size_t i = 0; i < l->n; i++) {
        struct mine *m = process_list_row(l, i);
        CHECK_EQ(m->pid, l->pids[i]);
        m->looks++;
    }
}

static void rows_are_kept(void)
{
    struct process_list l = {.row_bytes = sizeof(struct mine)};
    struct heard h = {0};
    look(&l, &h, NULL, 0);
    CHECK_EQ(l.n, 0);
    look(&l, &h, (int32_t[]){10, 20, 30}, 3);
    look(&l, &h, (int32_t[]){30, 10, 40, 10}, 4); /* 20 is gone, 40 is new, 10 is there twice */
    CHECK_EQ(l.n, 3);
    CHECK(h.came == 4 && h.gone == 1 && h.last_gone == 20);
    const int32_t pids[] = {10, 30, 40}, looks[] = {2, 2, 1};
    for (size_t i = 0; i < 3; i++) {
        const struct mine *m = process_list_row(&l, i);
        CHECK_EQ(m->pid, pids[i]);
        CHECK_EQ(m->looks, looks[i]);
    }
    look(&l, &h, (int32_t[]){20}, 1); /* the same number, somebody new */
    CHECK_EQ(((struct mine *)process_list_row(&l, 0))->looks, 1);
    CHECK(h.came == 5 && h.gone == 4);
    process_list_done(&l);
    CHECK_EQ(l.n, 0);
}

static void there_are_so_many_and_no_more(void)
{
    enum { MORE = PROCESS_LIST_MOST + 100 };
    struct process_list l = {.row_bytes = sizeof(struct mine)};
    struct heard h = {0};
    int32_t pids[MORE];
    for (int32_t i = 0; i < MORE; i++)
        pids[i] = i + 1;
    look(&l, &h, pids, MORE);
    CHECK_EQ(l.n, PROCESS_LIST_MOST);
    look(&l, &h, pids + 100, MORE - 100); /* as many are gone as have waited; these come with the next look */
    CHECK_EQ(h.gone, 100);
    look(&l, &h, pids + 100, MORE - 100);
    CHECK_EQ(l.n, PROCESS_LIST_MOST);
    CHECK_EQ(h.came, MORE);
    process_list_done(&l);
}

static void nobody_need_listen(void)
{
    struct process_list l = {.row_bytes = sizeof(struct mine)};
    process_list_update(&l, (int32_t[]){7}, 1, &(struct process_list_news){0});
    process_list_update(&l, NULL, 0, &(struct process_list_news){0});
    CHECK_EQ(l.n, 0);
    process_list_done(&l);
}

int main(void)
{
    rows_are_kept();
    there_are_so_many_and_no_more();
    nobody_need_listen();
    return CHECK_DONE();
}
