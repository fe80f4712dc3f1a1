/*
 * inject_watch.h - libraries that a process loads after our own was put into it
 *
 * Their calls do not lead to us until somebody changes their slots, too. Once a second the list of
 * files with code is looked at; when there is a new one, the same function is called in the process again
 * (inject.h), by a thread of its own, since that may take a moment.
 *
 *     struct inject_watch w;
 *     inject_watch_init(&w, pid, library, function, argument);
 *     inject_watch_tick(&w, now_ns);         // a few times a second; never waits
 *     inject_watch_done(&w);                 // waits until nobody is at work any more
 *
 * Owns:     copies of its texts. Threads: one at a time.
 */
#pragma once
#include "capture/inject/inject.h"
#include <pthread.h>
#include <stdatomic.h>

struct inject_watch {
    pid_t pid;
    char *library, *function, *argument;
    uint64_t files;   /* sum over the files with code, as of the last call */
    uint64_t look_ns; /* when to look next */
    bool is_working;
    _Atomic bool is_ready;
    pthread_t thread;
    uint32_t times, slots; /* that it was done, and what came of it */
};

void inject_watch_init(struct inject_watch *w, pid_t pid, const char *library, const char *function, const char *argument);
void inject_watch_tick(struct inject_watch *w, uint64_t now_ns);
void inject_watch_done(struct inject_watch *w);
