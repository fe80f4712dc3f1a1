/*
 * report_parts.h - larger pieces of reports: trees and pictures, on the page or as files of their own
 */
#pragma once
#include "base/err.h"
#include "render/findings.h"

void report_html_tree(const struct findings *f, struct sink *out);  /* the call tree, opened along the hot path */

/* Calls that were counted have no stacks; amounts that add up to nothing have no widths. */
bool report_has_stacks(const struct findings *f);

bool report_flame(const struct findings *f, struct sink *out, struct err *e) MUST_CHECK;      /* the flame graph, as SVG */
bool report_graph_dot(const struct findings *f, struct sink *out, struct err *e) MUST_CHECK;  /* who calls whom, for Graphviz */
bool report_graph_svg(const struct findings *f, struct sink *out, struct err *e) MUST_CHECK;  /* drawn by it, where it is installed */
