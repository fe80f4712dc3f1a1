#include "capture/inject/inject_watch.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/own.h"
#include "base/reader.h"
#include "capture/cpu/maps_line.h"

#include <stdio.h>

#define LOOK_NS UINT64_C(1000000000)

/* A number that is another one when a file with code comes or goes; 0: nobody can say. */
static uint64_t files_of(pid_t pid)
{
    char path[32];
    uint64_t sum = 0;
    struct err e = {0};
    snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    own(reader) struct reader r;
    if (!reader_open(&r, path, &e))
        return 0;
    for (struct view line; reader_line(&r, &line, &e);) {
        struct map_news m;
        if (maps_line_parse(line, &m) && m.is_code && m.inode)
            sum += (m.inode ^ m.start) * UINT64_C(0x9e3779b97f4a7c15);
    }
    return e.kind ? 0 : sum;
}

void inject_watch_init(struct inject_watch *w, pid_t pid, const char *library, const char *function, const char *argument)
{
    *w = (struct inject_watch){
        .pid = pid, .library = mem_text(library, strlen(library)), .function = mem_text(function, strlen(function)),
        .argument = mem_text(argument, strlen(argument)), .files = files_of(pid),
    };
}

static void *work(void *self)
{
    struct inject_watch *w = self;
    struct inject_answer said = {0};
    struct err e = {0};
    if (inject(w->pid, w->library, w->function, w->argument, &said, &e))
        w->slots += said.slots;
    else
        log_debug("new libraries of process %d: %s", (int)w->pid, e.text);
    atomic_store(&w->is_ready, true);
    return NULL;
}

static void join(struct inject_watch *w)
{
    pthread_join(w->thread, NULL);
    w->is_working = false;
    w->times++;
}

void inject_watch_tick(struct inject_watch *w, uint64_t now_ns)
{
    if (w->is_working && atomic_load(&w->is_ready))
        join(w);
    if (w->is_working || now_ns < w->look_ns)
        return;
    bool is_first = !w->look_ns;
    w->look_ns = now_ns + LOOK_NS;
    uint64_t files = is_first ? w->files : files_of(w->pid);
    if (!files || files == w->files)
        return;
    w->files = files;
    atomic_store(&w->is_ready, false);
    w->is_working = pthread_create(&w->thread, NULL, work, w) == 0;
}

void inject_watch_done(struct inject_watch *w)
{
    if (w->is_working)
        join(w);
    free(w->library);
    free(w->function);
    free(w->argument);
    *w = (struct inject_watch){0};
}
