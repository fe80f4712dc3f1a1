/*
 * http_routes.h - which handler is for this method and path?
 *
 * Threads: any; the table is only read.
 */
#pragma once
#include "net/http_server.h"

enum { HTTP_ALLOW_BYTES = 128 };

/* NULL: nobody. Then `allow` says which methods the path has, "GET, POST", or nothing when there is no such path. */
const struct http_route *http_route_for(const struct http_route *routes, const char *method, const char *path,
                                        char allow[HTTP_ALLOW_BYTES]);
