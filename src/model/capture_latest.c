/* Tables of which only the latest counts, on their way into the file. A large one comes in pieces; the last says that it is whole. */
#include "model/capture_writer_inside.h"
#include "model/packing.h"

#define ROWS_BYTES_MOST ((size_t)4 << 20) /* a piece is cut long before */

void latest_init(struct waiting_latest *l) { buf_init(&l->rows, ROWS_BYTES_MOST); }
void latest_done(struct waiting_latest *l) { buf_done(&l->rows); }

void latest_flush(struct capture_writer *w)
{
    struct waiting_latest *l = &w->latest;
    struct buf *payload = &w->tables.payload;
    if (!l->is_due)
        return;
    buf_clear(payload);
    put_varint(payload, l->subject);
    put_varint(payload, l->number);
    put_varint(payload, l->is_last);
    put_varint(payload, l->n);
    buf_add(payload, l->rows.data, l->rows.len);
    uint64_t before = w->chunks.offset;
    chunk_put(&w->chunks, CHUNK_LATEST, l->n, buf_view(payload));
    l->bytes += w->chunks.offset - before;
    buf_clear(&l->rows);
    l->n = 0;
    l->is_due = false;
}

static void put_piece(struct capture_writer *w, bool is_last)
{
    w->latest.is_due = true;
    w->latest.is_last = is_last;
    capture_flush_now(w);
}

void capture_latest_begin(struct capture_writer *w, uint64_t subject)
{
    struct waiting_latest *l = &w->latest;
    buf_clear(&l->rows);
    l->n = 0;
    l->bytes = 0;
    l->is_due = false;
    l->subject = subject;
    l->number++;
}

void capture_latest_row(struct capture_writer *w, set_id set, thread_id thread, stack_id stack, const struct label *labels,
                        size_t n_labels, const int64_t *values)
{
    if (!capture_is_kept(w))
        return;
    struct buf *rows = &w->latest.rows;
    size_t n_measures = profile_set(builder_view(w->names), set)->n_measures;
    put_varint(rows, set.i);
    put_file_id(&w->tables, rows, NAMES_THREADS, thread.i);
    put_file_id(&w->tables, rows, NAMES_STACKS, stack.i);
    put_varint(rows, n_measures);
    for (size_t m = 0; m < n_measures; m++)
        put_signed(rows, values[m]);
    put_label_list(&w->tables, rows, labels, n_labels);
    if (++w->latest.n == CHUNK_ROWS_MOST || rows->len >= PAYLOAD_ENOUGH)
        put_piece(w, false);
}

uint64_t capture_latest_end(struct capture_writer *w)
{
    if (!capture_is_kept(w))
        return 0;
    put_piece(w, true);
    return w->latest.bytes;
}
