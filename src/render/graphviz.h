/*
 * graphviz.h - a picture of a DOT text, by Graphviz's library
 *
 * The library (libgvc, Debian: libgvc6) is opened when it is needed and not before:
 * one program serves machines that have it and machines that do not. The `dot`
 * program is not used.
 *
 * Laying out a graph is done in a process of its own. A graph that takes too long, a
 * fault in the library or its chatter on standard error then cost a sentence and not
 * the program that asked; and what the library forgets to free is gone with it.
 *
 * Fails: with ERR_UNSUPPORTED where the library is missing, ERR_LIMIT where the layout
 *        takes more than GRAPHVIZ_CPU_S of processor time.
 */
#pragma once
#include "base/sink.h"

enum { GRAPHVIZ_CPU_S = 60 };

/* format: "svg", "png". Nothing goes out unless the picture is complete. */
bool graphviz_draw(struct view dot, const char *format, struct sink *out, struct err *e) MUST_CHECK;
