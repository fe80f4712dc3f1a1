/*
 * stop_text.h - text on its way out: ends where a stop text begins, and never breaks a character
 *
 * A model speaks in tokens, which are any bytes. What has been said is let go as soon as it is certain:
 * bytes that may become a stop text, or the rest of a UTF-8 character, wait for the next token. Put
 * together, what was let go is what was said, up to the stop text, whatever the tokens were.
 *
 *     said:    "Hel" "lo\nUs" "er: x"          stop: "\nUser:"
 *     let go:  "Hel" "lo"     (done)
 *
 * Owns:     what is waiting; stop texts are borrowed.
 * Threads:  one at a time.
 */
#pragma once
#include "base/buf.h"

struct stop_text {
    const struct view *stops;
    size_t n_stops;
    struct buf waiting;
    size_t gone; /* of waiting: already let go */
    bool is_met; /* a stop text was said; nothing more comes out */
};

void stop_text_init(struct stop_text *s, const struct view *stops, size_t n_stops);
void stop_text_done(struct stop_text *s);

/* What is certain now; good until the next call. */
struct view stop_text_add(struct stop_text *s, struct view said);
struct view stop_text_end(struct stop_text *s); /* nothing more will be said: the rest */
