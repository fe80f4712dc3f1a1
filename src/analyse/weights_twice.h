/*
 * weights_twice.h - models that are in memory twice
 *
 * A runtime that repacks weights for its kernels copies them out of the mapped file. The pages
 * of the file stay resident beside the copy, a third of the memory for nothing, until somebody
 * gives them back (madvise, munmap) or the kernel needs them.
 *
 *     file    ██████████  mapped, its pages resident, nobody reads them
 *     region      ██████████  anonymous, made after it, 0.5 to 1.2 of its size
 *
 * That is what is looked for, in one process. What cannot be seen from outside is whether the
 * pages of the file are read again: a cache that happens to be as large as the model looks the
 * same. Where the recording looked which pages are used (memory.touched), that decides; where it
 * did not, the finding is a possible one and says under which condition it is wrong.
 *
 * Threads: any.
 */
#pragma once
#include "analyse/memory_use.h"

#define WEIGHTS_LEAST_BYTES 8e6   /* less is not worth a word */
#define WEIGHTS_COPY_LEAST 0.5    /* size of the region, as a part of the file's */
#define WEIGHTS_COPY_MOST 1.2
#define WEIGHTS_IDLE_MOST 0.05    /* of the file's resident pages are used by one who has a copy */

struct weights_twice {
    const struct memory_mapping *file, *region;
    double saving_bytes;    /* the pages of the file that are resident */
    double copy_bytes;      /* of the region, that came after the file */
    bool is_order_seen;     /* else both were there when we came */
    bool is_touch_known;    /* pages of the file were looked at, and not used */
};

/* Into `out`, at most `most` of them, the largest saving first. The mappings must outlive them. */
size_t weights_twice_of(const struct memory_use *m, struct weights_twice *out, size_t most);
