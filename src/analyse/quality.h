/*
 * quality.h - what a profile can be trusted with: what is missing, and how much of it
 *
 * Values are of the measure that is asked about, so that they are shares of the same whole as
 * everything else in a report.
 */
#pragma once
#include "model/profile.h"

struct quality {
    int64_t whole;
    int64_t cut;      /* in stacks that end before the start of their thread: callers are missing */
    int64_t unnamed;  /* in functions whose name nobody knows */
    int64_t kernel;   /* in functions of the kernel */
    uint64_t lost;    /* samples that were taken, or due, and are not here; all reasons together */
    bool counts_lost; /* else 0 means nothing */
    int64_t taken;    /* samples that are here; -1: the profile only knows sums */
    size_t damages;   /* places of the file that could not be read */
};

struct quality quality_of(const struct profile *p, const struct sample_set *set, size_t measure);
double quality_lost_share(const struct quality *q); /* of all that should be here; NAN: not known */
