/*
 * report_parts.h - larger pieces of the page that report_html.c puts together
 */
#pragma once
#include "render/findings.h"

void report_html_tree(const struct findings *f, struct sink *out);  /* the call tree, opened along the hot path */
