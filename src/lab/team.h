/*
 * team.h - a few threads that do one thing together, again and again
 *
 *     own(team) struct team *t = NULL;
 *     if (!team_new(&t, 4, e))
 *         return false;
 *     team_run(t, scale_rows, &job);           // scale_rows(&job, w, 4) for w = 0..3; returns when all are done
 *
 * The caller is worker 0, so a team of one is a plain call. Between two jobs, and at team_barrier(), a worker
 * first looks a few microseconds for what it waits for, then sleeps in the kernel: a token's next layer begins
 * at once on a quiet machine, and on a busy one nobody burns a core that somebody else needs.
 *
 * Threads: team_run() from one thread at a time, and not from inside a job; team_barrier() only from inside a
 *          job, by every worker of it equally often.
 * Owns:    its threads.
 */
#pragma once
#include "base/err.h"
#include "base/own.h"
#include <stddef.h>

enum { TEAM_MOST = 1024 }; /* workers */

struct team;
typedef void (*team_job)(void *arg, unsigned worker, unsigned workers);

bool team_new(struct team **out, unsigned workers, struct err *e) MUST_CHECK; /* from 1 to TEAM_MOST */
void team_free(struct team *t);                                               /* NULL is fine */
DEFINE_OWN(team, struct team *)

unsigned team_size(const struct team *t);
void team_run(struct team *t, team_job job, void *arg);
void team_barrier(struct team *t); /* everything any worker wrote before it is seen by all after it */

/* How many processors this process may use: what "all" means for threads. */
unsigned team_processors(void);

/* The piece of 0..n that falls to a worker, cut at multiples of `grain`; pieces differ by one grain at most. */
struct share {
    size_t from, to;
};
struct share team_share(size_t n, size_t grain, unsigned worker, unsigned workers);
