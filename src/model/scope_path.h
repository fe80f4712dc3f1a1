/*
 * scope_path.h - the scopes a sample was taken in, as labels
 *
 *     scope = "attention"                          the innermost one
 *     scope path = "serve > decode > attention"    all of them
 *
 * A name that has the sign between two names in it would be two: there its last space becomes one that does not break,
 * which looks the same.
 *
 * Threads: pure.
 */
#pragma once
#include "base/buf.h"
#include "model/profile.h"

#define SCOPE_KEY "scope"
#define SCOPE_PATH_KEY "scope path"

enum { SCOPE_PATH_BYTES_MOST = 1 << 20 };

void scope_path_join(struct buf *out, const struct view *names, size_t n);

/* The next name of a path, which becomes shorter, as it was; good until the next call with this room. False: there is none. */
bool scope_path_next(struct view *path, struct buf *room, struct view *out_name);

/* The path that these labels say, outermost first; empty: none. */
struct view scope_path_of(const struct profile *p, labels_id labels);
