#include "render/flame_who.h"
#include "base/mem.h"
#include "render/flame_columns.h"

static uint32_t process_row(struct flame_who *w, const struct profile *p, process_id id)
{
    if (!id.i)
        return 0;
    const struct process *is = profile_process(p, id);
    struct view name = profile_string(p, is->name);
    own(buf) struct buf key;
    buf_init(&key, (size_t)1 << 20);
    buf_printf(&key, "%u/", w->by_name ? 0 : id.i);
    buf_add(&key, name.at, name.n);
    uint32_t row = intern(&w->process_keys, buf_view(&key));
    if (row > w->n_processes) {
        GROW(w->processes, w->cap_processes, row);
        w->processes[w->n_processes++] = (struct flame_process){w->by_name ? 0 : is->pid, name};
    }
    return row;
}

static uint32_t thread_row(struct flame_who *w, const struct profile *p, thread_id id, uint32_t process)
{
    if (!id.i)
        return 0;
    const struct thread *is = profile_thread(p, id);
    struct view name = profile_string(p, is->name);
    own(buf) struct buf key;
    buf_init(&key, (size_t)1 << 20);
    buf_printf(&key, "%u/%u/", process, w->by_name ? 0 : id.i);
    buf_add(&key, name.at, name.n);
    uint32_t row = intern(&w->thread_keys, buf_view(&key));
    if (row > w->n_threads) {
        GROW(w->threads, w->cap_threads, row);
        w->threads[w->n_threads++] = (struct flame_thread){w->by_name ? 0 : is->tid, process, name};
    }
    return row;
}

static uint32_t label_row(struct interner *texts, const struct profile *p, labels_id labels, struct view key)
{
    const struct label *l = profile_label(p, labels, key);
    if (!l)
        return 0;
    struct view text = profile_string(p, l->text);
    char number[32];
    snprintf(number, sizeof number, "%lld", (long long)l->number);
    return intern(texts, text.n ? text : view_of(number));
}

static uint32_t context_row(struct flame_who *w, const struct profile *p, context_id id)
{
    const struct context *is = profile_context(p, id);
    uint32_t process = is->thread.i ? process_row(w, p, profile_thread(p, is->thread)->process) : 0;
    uint32_t parts[4] = {thread_row(w, p, is->thread, process), process, label_row(&w->phases, p, is->labels, VIEW("phase")),
                         label_row(&w->requests, p, is->labels, VIEW("request"))};
    if (!parts[0] && !parts[1] && !parts[2] && !parts[3])
        return 0;
    uint32_t row = intern(&w->context_keys, (struct view){(const char *)parts, sizeof parts});
    if (row >= w->n_contexts) {
        GROW(w->contexts, w->cap_contexts, row + 1);
        w->contexts[row].thread = parts[0];
        w->contexts[row].process = parts[1];
        w->contexts[row].phase = parts[2];
        w->contexts[row].request = parts[3];
        w->n_contexts = row + 1;
    }
    return row;
}

static uint32_t *rows_of_side(struct flame_who *w, const struct flame_side *side)
{
    size_t n = profile_contexts(side->p);
    uint32_t *row_of = mem_new(n * sizeof *row_of);
    own(free) bool *seen = mem_new(n * sizeof *seen);
    for (size_t i = 0; side->set->contexts && i < side->set->n; i++) {
        context_id c = side->set->contexts[i];
        if (!seen[c.i])
            row_of[c.i] = context_row(w, side->p, c);
        seen[c.i] = true;
    }
    return row_of;
}

void flame_who_of(const struct flame_side *sides, size_t n_sides, struct flame_who *out)
{
    *out = (struct flame_who){.by_name = n_sides > 1, .n_contexts = 1};
    intern_init(&out->thread_keys);
    intern_init(&out->process_keys);
    intern_init(&out->phases);
    intern_init(&out->requests);
    intern_init(&out->context_keys);
    GROW(out->contexts, out->cap_contexts, 1);
    memset(&out->contexts[0], 0, sizeof out->contexts[0]);
    for (size_t s = 0; s < n_sides; s++)
        out->context_of[s] = rows_of_side(out, &sides[s]);
}

void flame_who_done(struct flame_who *w)
{
    intern_done(&w->thread_keys);
    intern_done(&w->process_keys);
    intern_done(&w->phases);
    intern_done(&w->requests);
    intern_done(&w->context_keys);
    free(w->threads);
    free(w->processes);
    free(w->contexts);
    for (size_t s = 0; s < FLAME_SIDES_MOST; s++)
        free(w->context_of[s]);
    *w = (struct flame_who){0};
}

static void json_texts(struct json_writer *w, const char *key, const struct interner *texts)
{
    json_key(w, key);
    json_open(w, '[');
    for (size_t i = 1; i < texts->n; i++)
        flame_header_text(w, texts->rows[i]);
    json_close(w, ']');
}

void flame_who_json(const struct flame_who *who, struct json_writer *w)
{
    json_key(w, "threads");
    json_open(w, '[');
    for (size_t i = 0; i < who->n_threads; i++) {
        json_open(w, '{');
        json_key(w, "tid");
        json_int(w, who->threads[i].tid);
        json_key(w, "process");
        json_uint(w, who->threads[i].process);
        json_key(w, "name");
        flame_header_text(w, who->threads[i].name);
        json_close(w, '}');
    }
    json_close(w, ']');
    json_key(w, "processes");
    json_open(w, '[');
    for (size_t i = 0; i < who->n_processes; i++) {
        json_open(w, '{');
        json_key(w, "pid");
        json_int(w, who->processes[i].pid);
        json_key(w, "name");
        flame_header_text(w, who->processes[i].name);
        json_close(w, '}');
    }
    json_close(w, ']');
    json_texts(w, "phases", &who->phases);
    json_texts(w, "requests", &who->requests);
}
