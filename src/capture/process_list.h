/*
 * process_list.h - a row for each process that is being recorded
 *
 * The recorder knows which processes there are (recorder_processes()); whoever looks at them now and then wants something to be
 * remembered of each from one look to the next:
 *
 *     struct process_list all = {.row_bytes = sizeof(struct mine)};
 *     process_list_update(&all, pids, n, &(struct process_list_news){self, came, gone});
 *     for (size_t i = 0; i < all.n; i++) {
 *         struct mine *m = process_list_row(&all, i);          // of all.pids[i]
 *
 * Those that are gone make room; a number that comes back is somebody new. Of more than PROCESS_LIST_MOST the rest has to wait.
 *
 * Owns:     the rows; what they point to is the caller's, who hears of each that goes. They move: keep no address.
 * Threads:  one at a time.
 * Fails:    never.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PROCESS_LIST_MOST = 1024 };

struct process_list {
    size_t row_bytes;
    int32_t *pids;
    size_t n;
    uint8_t *rows;
    bool *is_there;
    size_t pids_cap, rows_cap, there_cap;
};

struct process_list_news {
    void *self;
    void (*came)(void *self, void *row, int32_t pid); /* all zero; NULL: that is well */
    void (*gone)(void *self, void *row);              /* NULL: it has nothing */
};

void process_list_update(struct process_list *l, const int32_t *pids, size_t n, const struct process_list_news *news);
void process_list_done(struct process_list *l); /* nobody hears of it */

static inline void *process_list_row(const struct process_list *l, size_t i) { return l->rows + i * l->row_bytes; }
