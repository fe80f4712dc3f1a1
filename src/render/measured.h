/*
 * measured.h - how much was measured, how often, and what is missing
 */
#pragma once
#include "model/profile.h"

/* How many samples a value of this measure is, where each is worth one period; NAN: they are not. */
double measured_samples_in(const struct profile *p, const struct sample_set *set, size_t measure, int64_t value);

double measured_rate_hz(const struct sample_set *set, size_t measure); /* NAN: unknown */
