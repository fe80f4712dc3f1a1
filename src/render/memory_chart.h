/*
 * memory_chart.h - anonymous memory, files and shared memory of a process over time, as SVG in a page
 *
 *     ▁▂▂▅▅▇▇   shared
 *     ▂▂▄▄▅▅▇   files
 *     ▁▂▃▃▄▅▆   anonymous
 *
 * One on top of the other, so that the upper edge is all that is resident. The colours are the
 * page's (report_page.css). Of more readings than there are columns, each column shows the moment
 * that had most: a peak is never left out.
 */
#pragma once
#include "analyse/memory_use.h"
#include "base/sink.h"

void memory_chart(const struct profile *p, const struct memory_owner *o, struct sink *out);
