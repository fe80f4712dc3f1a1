/*
 * safetensors.h - what is in a safetensors file: names, types and shapes, and so its parameters
 *
 *     length (8 bytes) | { "name": {"dtype": "F16", "shape": [2, 3], "data_offsets": [0, 12]}, ... } | data
 *
 * Only the header is read and the data is never touched. Everything it says is checked against everything else: the
 * bytes of a tensor are those of its type and shape, they are inside the file, and no two tensors share any.
 */
#pragma once
#include "base/err.h"
#include "base/own.h"
#include "base/view.h"
#include <stddef.h>
#include <stdint.h>

struct safetensors_type {
    const char *name; /* "F16" */
    uint32_t bits;
};

struct safetensor {
    const char *name; /* may hold anything but NUL bytes */
    const struct safetensors_type *type;
    uint64_t elements, begin, end; /* bytes of the data */
};

struct safetensors {
    struct safetensor *at;
    size_t n, cap;
    uint64_t parameters, data_bytes;
};

bool safetensors_open(const char *path, struct safetensors *out, struct err *e) MUST_CHECK;
/* `header` with its length in front. */
bool safetensors_over(struct view header, uint64_t file_bytes, struct safetensors *out, struct err *e) MUST_CHECK;
void safetensors_done(struct safetensors *s);
DEFINE_OWN_IN_PLACE(safetensors, struct safetensors)

const char *safetensors_usual_type(const struct safetensors *s); /* of most parameters; "none" */
