#include "capture/scopes/scopes_labels.h"
#include "base/buf.h"
#include "base/mem.h"
#include "capture/scopes/scopes_join.h"
#include "model/scope_path.h"

struct found {
    const struct seen_process *process;
    struct seen_thread *thread;
    uint32_t turn;
};

struct scopes_labels {
    struct builder *names;
    struct found *found; /* by thread */
    size_t n, cap;
    uint32_t turn;       /* what is of an older one is forgotten */
};

struct scopes_labels *scopes_labels_new(struct builder *names)
{
    struct scopes_labels *l = mem_new(sizeof *l);
    l->names = names;
    l->turn = 1;
    return l;
}

void scopes_labels_free(struct scopes_labels *l)
{
    free(l->found);
    free(l);
}

void scopes_labels_forget(struct scopes_labels *l, struct builder *names)
{
    l->names = names;
    l->turn++;
}

/* The program that the process ran then: the last that had begun. */
static struct found find_thread(const struct scopes_memory *m, int32_t pid, int32_t tid, uint64_t time_ns)
{
    for (size_t i = m->n_processes; i-- > 0;) {
        const struct seen_process *p = m->processes[i];
        if ((int32_t)p->head.pid != pid || p->head.began_ns > time_ns)
            continue;
        for (size_t k = 0; k < p->n_threads; k++)
            if ((int32_t)p->threads[k]->tid == tid)
                return (struct found){.process = p, .thread = p->threads[k]};
        return (struct found){0};
    }
    return (struct found){0};
}

static struct found *find(struct scopes_labels *l, const struct scopes_memory *m, thread_id id, uint64_t time_ns)
{
    for (; l->n <= id.i; l->n++) {
        GROW(l->found, l->cap, l->n + 1);
        l->found[l->n] = (struct found){0};
    }
    struct found *f = &l->found[id.i];
    const struct profile *p = builder_view(l->names);
    const struct thread *t = profile_thread(p, id);
    bool is_known = f->turn == l->turn && f->thread && (int32_t)f->thread->tid == t->tid && f->process->head.began_ns <= time_ns &&
                    !f->process->is_over;
    if (!is_known) {
        *f = find_thread(m, profile_process(p, t->process)->pid, t->tid, time_ns);
        f->turn = l->turn;
    }
    return f;
}

static struct view site_name(const struct seen_process *p, uint32_t site)
{
    return view_of(site < p->n_sites && p->sites[site].name ? p->sites[site].name : "(no name)");
}

static labels_id make_labels(struct scopes_labels *l, const struct found *f, uint32_t node)
{
    const struct seen_node *nodes = f->thread->nodes;
    struct view path[SCOPES_DEPTH_MOST + 1] = {{0}};
    size_t depth = nodes[node].depth, at = depth;
    for (uint32_t n = node; n && at; n = nodes[n].caller)
        path[--at] = site_name(f->process, nodes[n].site);
    struct label labels[2] = {{.key = builder_string(l->names, VIEW(SCOPE_KEY)), .text = builder_string(l->names, path[depth - 1])}};
    own(buf) struct buf text;
    buf_init(&text, SCOPE_PATH_BYTES_MOST);
    scope_path_join(&text, path, depth);
    labels[1] = (struct label){.key = builder_string(l->names, VIEW(SCOPE_PATH_KEY)),
                               .text = builder_string(l->names, buf_view(&text))};
    return builder_labels(l->names, labels, 2);
}

static labels_id labels_of_node(struct scopes_labels *l, const struct found *f, uint32_t node)
{
    struct seen_node *row = &f->thread->nodes[node];
    if (row->labels_turn != l->turn) {
        row->labels = make_labels(l, f, node).i;
        row->labels_turn = l->turn;
    }
    return (labels_id){row->labels};
}

/* Threads that have ended are its as well, so this does not go by them. */
struct seen_process *scopes_labels_process(struct scopes_labels *l, const struct scopes_memory *m, thread_id thread)
{
    const struct profile *p = builder_view(l->names);
    int32_t pid = profile_process(p, profile_thread(p, thread)->process)->pid;
    for (size_t i = m->n_processes; i-- > 0;)
        if ((int32_t)m->processes[i]->head.pid == pid)
            return m->processes[i];
    return NULL;
}

labels_id scopes_labels_of(struct scopes_labels *l, const struct scopes_memory *m, thread_id thread, uint32_t node)
{
    if (!m->n_processes || !thread.i)
        return LABELS_NONE;
    const struct found *f = find(l, m, thread, TIME_NONE);
    return f->thread && node < f->thread->n_nodes ? labels_of_node(l, f, node) : LABELS_NONE;
}

labels_id scopes_labels_at(struct scopes_labels *l, const struct scopes_memory *m, const struct scopes_clock *clock,
                           thread_id thread, uint64_t time_ns)
{
    if (!m->n_processes || !thread.i)
        return LABELS_NONE;
    const struct found *f = find(l, m, thread, time_ns);
    if (!f->thread)
        return LABELS_NONE;
    uint64_t tick = f->process->head.ticks_are_ns ? time_ns : scopes_clock_tick(clock, time_ns);
    uint32_t node = scopes_join_at(f->thread, tick);
    return node ? labels_of_node(l, f, node) : LABELS_NONE;
}
