/*
 * top_keys.h - what a person does with a live view, key by key
 *
 * Keys change a few settings of the view and nothing else; who draws looks at them. So
 * a test is a row: keys in, settings out.
 */
#pragma once
#include "analyse/top.h"
#include "base/sink.h"

struct top_keys {
    enum top_order order;
    uint64_t interval_ns;
    char filter[64]; /* functions whose name contains it; "": all */
    bool is_typing;  /* the filter: keys are its letters */
    bool is_paused, is_help, has_quit;
};

/* All that was typed, in order. Arrow keys and their like, which come as several bytes, mean nothing. */
void top_keys_press(struct top_keys *k, struct view typed);

void top_keys_note(const struct top_keys *k, struct buf *out); /* one line: what is chosen, what can be */
void top_keys_help(struct sink *out);                          /* a screen */
