/*
 * findings.h - all that a report says, found once, before anybody writes it down
 *
 *     own(findings) struct findings f;
 *     findings_of(&f, &report);
 *     report_markdown(&f, out);         // and every other format, over the same numbers
 *
 * Lists are in order and as long as the report asks for; what did not fit is counted. Texts for
 * people are in insights; everything else is numbers.
 *
 * Owns: its tables. The report and its profile are borrowed.
 */
#pragma once
#include "analyse/methods.h"
#include "analyse/neighbours.h"
#include "analyse/quality.h"
#include "analyse/sampling.h"
#include "analyse/scopes.h"
#include "render/report.h"

/* One thing worth knowing, with the number it rests on. */
struct insight {
    const char *key;     /* "concentration" */
    bool is_warning;     /* about the measuring: read the other numbers with care */
    func_id function;    /* that it is about; 0: none */
    char text[768];      /* behind the function's name, if there is one */
    double number;       /* as in the text: a ratio or a count */
};
enum { INSIGHTS_MOST = 24 };

struct limit_result {
    double share; /* measured */
    size_t functions;
    bool is_kept;
};

struct ranked {
    size_t *rows; /* indexes into methods */
    size_t n, all;
};

struct findings {
    const struct report *r;
    const struct measure *measure;
    double samples;   /* equal samples behind each share; NAN: it was not sampled */
    double length_ns; /* NAN */
    struct quality quality;
    struct methods methods;
    struct ranked hot, allocators, called;
    int64_t self_left_out; /* of functions that are not in `hot` */
    struct scopes scopes;
    struct call_graph graph;      /* who called whom; empty before findings_add_hierarchy() */
    struct neighbours *hierarchy; /* of the first of `hot`; NULL before it */
    size_t n_hierarchy;
    bool hierarchy_counts; /* its values are calls; else they are of the measure */
    struct insight insights[INSIGHTS_MOST];
    size_t n_insights;
    struct limit_result *limits; /* as many as the report has */
};

void findings_of(struct findings *f, const struct report *r);
void findings_add_hierarchy(struct findings *f); /* the dearest part, for those who show it; once is enough */
void findings_done(struct findings *f);
DEFINE_OWN_IN_PLACE(findings, struct findings)

void find_insights(struct findings *f); /* insights.c; the last step of findings_of() */

/* Words every document uses. */
double finding_share(const struct findings *f, int64_t value);  /* of the whole; 0 of nothing */

/* What a caller or callee stands for: "527 times" where calls were counted, else "12.0 ms, 3.1 %" of `whole`. */
enum { NEIGHBOUR_TEXT = 64 };
void finding_neighbour(const struct findings *f, const struct neighbour *n, int64_t whole, char out[NEIGHBOUR_TEXT]);
bool finding_is_time(const struct findings *f);
double finding_number(const struct findings *f, int64_t value); /* milliseconds of a time, else as it is counted */
struct view finding_measure(const struct findings *f);          /* "cpu", "samples" */
struct interval finding_interval(const struct findings *f, int64_t value);
void finding_interval_text(const struct findings *f, int64_t value, char out[32]); /* "50.3 to 52.9 %"; "-" */

/* "critical" above 20 % of the whole, "high" above 10, "medium" above 5, of at least 100 samples; else NULL. */
const char *finding_severity(const struct findings *f, int64_t self);
