/*
 * A build without libmicrohttpd: there is an interface, and it says why nothing is behind it.
 */
#include "net/http_server.h"

bool http_server_open(struct http_server **out, const struct http_plan *p, struct err *e)
{
    (void)out;
    (void)p;
    err_set(e, ERR_UNSUPPORTED, "this build has no HTTP server");
    return err_hint(e, "it needs libmicrohttpd when it is built; Debian: libmicrohttpd-dev");
}

/* Nobody has a server or a request that these could be about. */
uint16_t http_server_port(const struct http_server *s) { return (void)s, (uint16_t)0; }
void http_server_quiet(struct http_server *s) { (void)s; }
bool http_server_drain(struct http_server *s, uint64_t most_ns) { return !s || !most_ns; }
void http_server_free(struct http_server *s) { (void)s; }
const char *http_request_field(const struct http_request *q, const char *name) { return (void)q, (void)name, (const char *)NULL; }
