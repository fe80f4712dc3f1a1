#include "capture/process_list.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

static void add(struct process_list *l, int32_t pid, const struct process_list_news *news)
{
    size_t bytes = (l->n + 1) * l->row_bytes;
    GROW(l->pids, l->pids_cap, l->n + 1);
    GROW(l->is_there, l->there_cap, l->n + 1);
    GROW(l->rows, l->rows_cap, bytes);
    void *row = process_list_row(l, l->n);
    memset(row, 0, l->row_bytes);
    l->pids[l->n++] = pid;
    if (news->came)
        news->came(news->self, row, pid);
}

static void meet(struct process_list *l, int32_t pid, const struct process_list_news *news)
{
    size_t i = 0;
    while (i < l->n && l->pids[i] != pid)
        i++;
    if (i == PROCESS_LIST_MOST)
        return;
    if (i == l->n)
        add(l, pid, news);
    l->is_there[i] = true;
}

static void drop_gone(struct process_list *l, const struct process_list_news *news)
{
    size_t kept = 0;
    for (size_t i = 0; i < l->n; i++) {
        if (!l->is_there[i]) {
            if (news->gone)
                news->gone(news->self, process_list_row(l, i));
            continue;
        }
        if (kept < i) {
            memcpy(process_list_row(l, kept), process_list_row(l, i), l->row_bytes);
            l->pids[kept] = l->pids[i];
        }
        kept++;
    }
    l->n = kept;
}

void process_list_update(struct process_list *l, const int32_t *pids, size_t n, const struct process_list_news *news)
{
    if (l->n)
        memset(l->is_there, 0, l->n * sizeof *l->is_there);
    for (size_t i = 0; i < n; i++)
        meet(l, pids[i], news);
    drop_gone(l, news);
}

void process_list_done(struct process_list *l)
{
    free(l->pids);
    free(l->rows);
    free(l->is_there);
    *l = (struct process_list){.row_bytes = l->row_bytes};
}
