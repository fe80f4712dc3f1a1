/*
 * tree_text.h - a call tree for a terminal, or as JSON
 *
 *       Total              Self
 *      10.0 s  100.0 %      0 ns    0.0 %  main
 *      9.00 s   90.0 %    100 ms    1.0 %    decode
 *                                            (3 more, 0.4 %)
 *
 * What is too small to be shown is counted where it would have stood, so that a
 * reader never wonders where time went. In JSON a tree is a list in the same
 * order, each node with its depth: no profile is too deep for it.
 */
#pragma once
#include "analyse/call_tree.h"
#include "render/table.h"

struct json_writer;

struct tree_look {
    struct table_style style;
    const struct measure *measure;
    const char *self_title; /* "Self"; the inverted tree has another word for it */
    int64_t min_total; /* nodes below this are only counted */
    size_t most_depth; /* 0: no limit */
};

void tree_print(const struct call_tree *t, const struct profile *p, const struct tree_look *look, struct sink *out);
void tree_json(const struct call_tree *t, const struct profile *p, const struct tree_look *look, struct json_writer *j);
