/*
 * by_thread.h - the samples of a set, thread by thread
 *
 * Owns: its rows and the list of sample indexes they point into.
 */
#pragma once
#include "model/profile.h"

struct thread_share {
    thread_id thread;
    int64_t total;
    const size_t *samples; /* indexes into the set, in order */
    size_t n;
};

struct by_thread {
    struct thread_share *rows; /* heaviest first; threads without samples are left out */
    size_t n;
    size_t *indexes;
};

struct by_thread by_thread_of(const struct profile *p, const struct sample_set *set, size_t measure);
void by_thread_done(struct by_thread *t);
DEFINE_OWN_IN_PLACE(by_thread, struct by_thread)
