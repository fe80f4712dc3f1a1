/*
 * speedscope.h - the two directions of one format; its table entry is in speedscope.c
 *
 * The format, as far as both sides care:
 *
 *     shared.frames[]    {name, file, line}
 *     profiles[]         one per thread, in one unit, of one of two kinds:
 *       "sampled"        samples[] stacks of frame indices, root first; weights[]
 *       "evented"        events[] {type "O" or "C", frame, at}: opened and closed, nested
 */
#pragma once
#include "formats/format.h"

bool speedscope_read(struct builder *b, struct reader *in, struct err *e) MUST_CHECK;
bool speedscope_write(const struct profile *p, struct sink *out, struct err *e) MUST_CHECK;
