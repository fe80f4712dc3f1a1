/*
 * graph_text.h - a call graph in words: each function with its callers and callees
 *
 *     95.50 %  self  2.58 %       1×  main  work.py:10
 *              95.50 %            1×    < <module>  work.py:1
 *              27.55 %            1×    > fib  work.py:3
 *
 * Functions come heaviest first, and so do the lines under each. What < and > show is
 * the edge: how much was spent while this one called that one.
 */
#pragma once
#include "render/graph_dot.h"

void graph_text(const struct graph_picture *d, struct sink *out);
