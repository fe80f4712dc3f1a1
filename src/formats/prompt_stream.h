/*
 * prompt_stream.h - prompts for a chat that reads standard input
 *
 *     \                       a line with one backslash begins a prompt of any number of lines
 *     Write a poem.
 *     Two lines, please.
 *     \                       and ends it
 *     q                       ends the conversation, and so does the end of the input
 *
 * Outside of such a block a line is a prompt of its own, as somebody would type it; empty lines say nothing. Inside,
 * every line is text, a `q` too. A line of backslashes alone is written with one more, so that it ends nothing:
 * every text arrives as it was, and texts without such a line look as they always did.
 */
#pragma once
#include "base/reader.h"
#include "base/sink.h"
#include <signal.h>

#define PROMPT_MOST_BYTES ((size_t)4 << 20)

/* The next prompt. False: there is no more, or somebody wants us to stop, or with e set. `stop` may be NULL. */
bool prompt_read(struct reader *from, const volatile sig_atomic_t *stop, struct buf *out, struct err *e) MUST_CHECK;

void prompt_write(struct sink *out, struct view text);
void prompt_write_end(struct sink *out);
