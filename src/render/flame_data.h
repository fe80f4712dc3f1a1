/*
 * flame_data.h - everything the flame viewer needs to know, as one block of bytes
 *
 * The call tree, the functions, and the samples with who and when: enough to make
 * every view in the browser again. docs/formats/flame-data.md says how it lies.
 */
#pragma once
#include "base/sink.h"
#include "render/flame_tree.h"

struct flame_input {
    const char *title;        /* of the page */
    struct flame_side before; /* the only one, when there is no difference to show */
    struct flame_side after;  /* p is NULL: no difference */
    const char *view;         /* how the page opens, as in its address behind the '#': "invert=1&order=name" */
};

bool flame_data_write(const struct flame_input *input, struct sink *out, struct err *e) MUST_CHECK;
