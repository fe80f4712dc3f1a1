/*
 * pprof_reader.h - a pprof message while it is being read; for the files of this reader only
 *
 * The message is unpacked into one buffer and gone over four times, because its
 * writers put the samples first and the texts last:
 *
 *   1. texts
 *   2. types, mappings and functions
 *   3. locations, each becoming its run of frames, the outermost first
 *   4. samples (pprof_samples.c)
 */
#pragma once
#include "formats/id_table.h"
#include "formats/pprof.h"
#include "formats/pprof_units.h"

struct value_type {
    uint64_t type, unit;
};

struct location {
    uint32_t first, n; /* in `frames`, the outermost first */
};

struct pprof {
    struct builder *b;
    struct view message;

    struct view *texts;
    size_t n_texts, cap_texts;
    struct value_type *types;
    size_t n_types, cap_types;

    struct id_table mapping_ids, function_ids, location_ids;
    mapping_id *mappings;
    struct function *functions; /* without a mapping: that is known by the location */
    struct location *locations;
    size_t cap_mappings, cap_functions, cap_locations;
    frame_id *frames;
    size_t n_frames, cap_frames;

    struct value_type period_type;
    uint64_t time_ns, duration_ns, default_type;
    int64_t period;
    size_t n_comments;

    /* One sample. */
    size_t n_samples;
    frame_id *stack; /* leaf first */
    uint32_t *sample_locations;
    struct label *labels;
    int64_t *values;
    size_t cap_stack, cap_sample_locations, cap_labels, cap_values;
    size_t n_sample_locations, n_labels, n_values;

    set_id *sets; /* a set holds MEASURES_MOST types; few files have more */
    struct pprof_unit *units;
};

/* Whether the cursor came to its end; else which part is broken, and where. */
bool pprof_is_whole(const struct pprof *f, const struct proto_cursor *c, const char *what, struct err *e) MUST_CHECK;

/* A row of the string table. */
bool pprof_text(const struct pprof *f, uint64_t i, struct view *out, struct err *e) MUST_CHECK;
bool pprof_string(struct pprof *f, uint64_t i, str_id *out, struct err *e) MUST_CHECK;

bool pprof_read_samples(struct pprof *f, struct err *e) MUST_CHECK;
