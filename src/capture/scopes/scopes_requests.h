/*
 * scopes_requests.h - which request a thread worked for at a given moment
 *
 * A thread tells when it leaves a request (a record with two ticks). Here these are kept, so that whoever knows when something was made,
 * and by whom, can say for whom:
 *
 *     thread 7   [ r-1 ]  [ r-2      ][ r-1 ]
 *     block            x              x           nobody's; r-1's
 *
 * A moment that a thread has not left its request since is not known yet. The newest SCOPES_WORK_MOST are kept for each process;
 * when there are more, the older half is forgotten.
 *
 * Owns:     nothing; the rows are the process's.
 * Threads:  one at a time.
 */
#pragma once
#include "capture/scopes/scopes_memory.h"

enum { SCOPES_WORK_MOST = 1 << 18 };

void scopes_requests_add(struct seen_process *p, struct seen_work work);
uint32_t scopes_requests_at(struct seen_process *p, uint32_t tid, uint64_t tick);            /* its number; 0: none, or not known */
struct seen_request *scopes_requests_named(struct seen_process *p, uint32_t number); /* NULL: it has not said */
