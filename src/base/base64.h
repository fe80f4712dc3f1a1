/*
 * base64.h - bytes as letters, on their way out
 *
 *     struct base64 b;
 *     struct sink bytes;
 *     base64_to(&b, &bytes, out);
 *     ...sink_add(&bytes, ...)...
 *     if (!base64_end(&b, &bytes, e)) ...
 */
#pragma once
#include "base/sink.h"

struct base64 {
    struct sink *out;
    unsigned char rest[3];
    size_t n; /* of rest: bytes that wait for their company */
};

void base64_to(struct base64 *b, struct sink *bytes, struct sink *out);
bool base64_end(struct base64 *b, struct sink *bytes, struct err *e) MUST_CHECK;
