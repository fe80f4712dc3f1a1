/*
 * The scopes that launched programs count themselves (libinferom). They are asked to through the environment and write a
 * file each when they end, into a folder of ours; its content then becomes part of the recording.
 *
 *     inferom record ── INFEROM_SCOPES=record ──> program, children
 *           └──────────── DIR/PID.inferom <──────────┘ at exit
 *
 * A program without the library does not look at the variables. One that is ended by a signal, or still runs when the
 * recording is over, has written nothing: then there are samples and no scopes.
 */
#include "base/log.h"
#include "base/mem.h"
#include "base/reader.h"
#include "capture/environment.h"
#include "capture/recorder.h"
#include "capture/source.h"
#include "model/capture_reader.h"
#include "model/translate.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_VARIABLE "INFEROM_SCOPES_FILE"

struct scopes_source {
    char folder[256];
};

static bool probe(const struct host *h, const struct plan *p, struct err *why_not)
{
    (void)h;
    return p->command || err_set(why_not, ERR_UNSUPPORTED, "a program that runs already was not asked to count its scopes");
}

/* A folder that cannot be made costs the scopes, not the recording. */
static bool start(void **out_self, const struct plan *p, struct recorder *into, struct err *e)
{
    (void)p, (void)into, (void)e;
    struct scopes_source *s = mem_new(sizeof *s);
    const char *temporary = getenv("TMPDIR");
    snprintf(s->folder, sizeof s->folder, "%s/inferom-scopes-XXXXXX", temporary && *temporary ? temporary : "/tmp");
    if (!mkdtemp(s->folder)) {
        log_info("scopes: no folder for them in %s", temporary ? temporary : "/tmp");
        s->folder[0] = 0;
    }
    *out_self = s;
    return true;
}

/* Who has said something about scopes wants that, and not ours. */
static bool launch(void *self, struct environment *env, struct err *e)
{
    struct scopes_source *s = self;
    (void)e;
    if (!s->folder[0] || environment_get(env, "INFEROM_SCOPES"))
        return true;
    char path[sizeof s->folder + 16];
    snprintf(path, sizeof path, "%s/%%p.inferom", s->folder);
    environment_set(env, "INFEROM_SCOPES", "record");
    environment_set(env, FILE_VARIABLE, path);
    return true;
}

/* Bringing a file in. */

/* The program does not know when it was started; the recorder does. It is the process with this number that came last. */
static void meet_processes(struct translation *t)
{
    const struct profile *there = builder_view(t->to);
    for (uint32_t i = 1; i < profile_processes(t->from); i++)
        for (uint32_t k = 1; k < profile_processes(there); k++)
            if (profile_process(there, (process_id){k})->pid == profile_process(t->from, (process_id){i})->pid)
                t->processes[i] = k + 1;
}

static void copy_samples(struct translation *t, struct capture_writer *w)
{
    for (uint32_t k = 0; k < profile_sets(t->from); k++) {
        const struct sample_set *set = profile_set(t->from, (set_id){k});
        set_id to = translate_set(t, (set_id){k});
        for (size_t i = 0; i < set->n; i++) {
            int64_t values[MEASURES_MOST];
            for (size_t m = 0; m < set->n_measures; m++)
                values[m] = set->values[m][i];
            capture_sample(w, to, TIME_NONE, set->contexts ? translate_context(t, set->contexts[i]) : CONTEXT_NONE,
                           (stack_id){t->stacks[set->stacks[i].i]}, values);
        }
    }
    for (size_t i = 0; i < profile_losses(t->from); i++) {
        const struct loss *l = profile_loss(t->from, i);
        capture_lost(w, translate_set(t, l->set), profile_string(t->from, l->reason), l->count);
    }
}

static void copy_spans(struct translation *t, struct capture_writer *w)
{
    size_t n = profile_spans(t->from);
    own(free) uint32_t *made = mem_new((n + 1) * sizeof *made);
    for (uint32_t i = 1; i <= n; i++) {
        struct span s = *profile_span(t->from, (span_id){i});
        s.thread = translate_thread(t, s.thread);
        s.name = translate_string(t, s.name);
        s.labels = translate_labels(t, s.labels);
        s.parent = s.link = (span_id){0};
        made[i] = capture_span(w, s).i;
    }
    for (uint32_t i = 1; i <= n; i++) {
        const struct span *s = profile_span(t->from, (span_id){i});
        if (s->parent.i || s->link.i)
            capture_span_relate(w, (span_id){made[i]}, (span_id){made[s->parent.i]}, (span_id){made[s->link.i]});
    }
}

static void copy_series(struct translation *t, struct capture_writer *w)
{
    for (uint32_t i = 0; i < profile_series_count(t->from); i++) {
        const struct series *s = profile_series(t->from, (series_id){i});
        series_id to = builder_series(t->to, profile_string(t->from, s->name), s->unit, profile_string(t->from, s->unit_name),
                                      translate_labels(t, s->labels));
        for (size_t k = 0; k < s->n; k++)
            capture_reading(w, to, s->readings[k].time_ns, s->readings[k].value);
    }
}

static void copy_facts(const struct profile *p, struct capture_writer *w)
{
    for (size_t i = 0; i < profile_facts(p); i++)
        capture_fact(w, profile_string(p, profile_fact(p, i)->key), profile_string(p, profile_fact(p, i)->value));
}

static bool bring_in(const char *path, struct capture_writer *w, struct err *e)
{
    own(reader) struct reader in = {.fd = -1};
    own(builder) struct builder *b = builder_new();
    own(profile) struct profile *p = NULL;
    if (!reader_open(&in, path, e) || !capture_read(b, &in, NULL, e) || !builder_finish(take(b), &p, e))
        return false;
    own(translation) struct translation t;
    translation_init(&t, p, capture_names(w));
    meet_processes(&t);
    translate_stacks(&t, NULL, NULL);
    copy_samples(&t, w);
    copy_spans(&t, w);
    copy_series(&t, w);
    copy_facts(p, w);
    return true;
}

static void take_file(const struct scopes_source *s, const char *name, struct recorder *into)
{
    char path[sizeof s->folder + 256 + 2];
    struct err e = {0};
    snprintf(path, sizeof path, "%s/%s", s->folder, name);
    if (strlen(name) > 8 && !strcmp(name + strlen(name) - 8, ".inferom") && !bring_in(path, recorder_capture(into), &e))
        log_warn("scopes of a program were not taken over: %s", e.text);
    unlink(path);
}

static void stop(void *self, struct recorder *into)
{
    struct scopes_source *s = self;
    DIR *folder = s->folder[0] ? opendir(s->folder) : NULL;
    for (struct dirent *entry; folder && (entry = readdir(folder));)
        if (entry->d_name[0] != '.')
            take_file(s, entry->d_name, into);
    if (folder)
        closedir(folder);
}

static void scopes_free(void *self)
{
    struct scopes_source *s = self;
    if (s->folder[0])
        rmdir(s->folder);
    free(s);
}

const struct source source_scopes = {
    .name = "scopes",
    .role = "scopes",
    .what = "the scopes that a launched program names itself",
    .probe = probe,
    .start = start,
    .launch = launch,
    .stop = stop,
    .free = scopes_free,
};
