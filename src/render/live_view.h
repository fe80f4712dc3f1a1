/*
 * live_view.h - what a program is doing right now, on a screen or as JSON
 *
 *     fx-burn (4711): CPU 199 %, memory 4.1 MiB; the last 10 s, 1 980 samples, 0 lost
 *
 *        CPU  Thread     tid
 *     100.2 %  fx-worker  4712
 *     ...
 *      Self    Total  Function  Module   Where
 *     50.3 %  50.3 %  burn_w    fx-burn  fx_burn.c:20
 */
#pragma once
#include "analyse/live.h"
#include "analyse/top.h"
#include "render/table.h"

struct live_view {
    const struct live *live;
    uint64_t now_ns;
    enum top_order order;
    const char *filter; /* only functions whose name contains it, in any case; "": all */
    size_t most_rows;   /* functions shown; 0: all */
    const char *note;   /* below the first line: what keys do, what is being typed; NULL: nothing */
    unsigned height;    /* of the window: then as many functions as fit; 0: no window */
    struct table_style style;
};

void live_print(const struct live_view *v, struct sink *out);
void live_json(const struct live_view *v, struct sink *out);
