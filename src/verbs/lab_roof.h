/*
 * lab_roof.h - the machine's roof for the verbs of the lab: measured before, or now
 */
#pragma once
#include "lab/roof.h"
#include "render/table.h"
#include "verbs/verb.h"

/* What was measured here before; else a short measurement is made now and kept. A word on standard error says which. */
bool lab_roof(struct roof *out, const struct call *c, struct err *e) MUST_CHECK;

/* Measures, with a progress line. */
bool lab_roof_measure(struct roof *out, const struct call *c, unsigned threads, bool is_short, struct err *e) MUST_CHECK;

void lab_roof_print(const struct roof *r, const struct table_style *style, struct sink *out);
void lab_roof_markdown(const struct roof *r, struct sink *out);
