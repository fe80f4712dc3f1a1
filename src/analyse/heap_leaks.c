#include "analyse/heap_leaks.h"
#include "analyse/sampling.h"
#include "base/mem.h"

const char *const leak_grade_names[LEAK_GRADE_COUNT + 1] = {[LEAK_A] = "A", [LEAK_B] = "B"};

/* Growth from turn to turn, one path after the other. */

/* Samples of a set, path by path: indexes from first[row] to first[row + 1], in order of time. */
struct by_path {
    const struct sample_set *set;
    size_t bytes; /* the measure of what is live */
    size_t *samples, *first;
};

struct judging {
    const struct heap *h;
    struct heap_turns turns;
    size_t judged; /* turns that had LEAK_SURVIVES after them */
    size_t *told;  /* turns that are told apart by time */
    size_t n_told;
    int64_t *live; /* of the path at hand: by turn, what it allocated and is live; or by told turn, what was live */
    struct by_path rows, left; /* the heap's own; what is known by request (set "heap.left"), if that was recorded */
};

/* A counting sort. */
static void group_samples(struct by_path *g, const struct heap *h)
{
    own(free) size_t *row_of = mem_new(h->tree.n * sizeof *row_of);
    own(free) size_t *at = mem_new((g->set->n + 1) * sizeof *at);
    g->first = mem_new((h->n + 2) * sizeof *g->first);
    g->samples = mem_new((g->set->n + 1) * sizeof *g->samples);
    for (size_t i = 0; i < h->n; i++)
        row_of[h->rows[i].node] = i + 1;
    for (size_t i = 0; i < g->set->n; i++) {
        at[i] = row_of[h->node_of[g->set->stacks[i].i]]; /* 0: a path of which the heap says nothing */
        if (at[i])
            g->first[at[i]]++;
    }
    for (size_t r = 0; r < h->n; r++)
        g->first[r + 1] += g->first[r];
    size_t all = g->first[h->n];
    for (size_t i = g->set->n; i-- > 0;)
        if (at[i])
            g->samples[--g->first[at[i]]] = i;
    memmove(g->first, g->first + 1, h->n * sizeof *g->first);
    g->first[h->n] = all;
}

static void by_path_done(struct by_path *g)
{
    free(g->samples);
    free(g->first);
}

/*
 * Rows are written once a second or so. Of turns that ended between two such moments only the first is told: at the end
 * of the others nothing more was known.
 */
static void find_told(struct judging *j)
{
    uint64_t last_ns = 0;
    j->told = mem_new(j->turns.n * sizeof *j->told);
    for (size_t t = 0; t < j->turns.n; t++) {
        uint64_t ns = heap_known_at(j->h, j->turns.rows[t].end_ns + (j->turns.rows[t].end_ns < TIME_NONE)); /* what comes after it */
        if (t && ns == last_ns)
            continue;
        last_ns = ns;
        j->told[j->n_told++] = t;
    }
}

static void judging_init(struct judging *j, const struct heap *h)
{
    *j = (struct judging){.h = h, .turns = heap_turns_of(h->p)};
    if (!h->set->time_ns || j->turns.n <= LEAK_SURVIVES)
        return;
    j->judged = j->turns.n - LEAK_SURVIVES;
    j->live = mem_new(j->turns.n * sizeof *j->live);
    find_told(j);
    j->rows = (struct by_path){.set = h->set, .bytes = h->measures[HEAP_LIVE_BYTES]};
    group_samples(&j->rows, h);
    const struct sample_set *left = set_named(h->p, VIEW("heap.left"));
    j->left = (struct by_path){.set = left, .bytes = left ? measure_named(h->p, left, VIEW("left_space")) : 0};
    if (left && (!left->time_ns || !left->contexts || j->left.bytes == left->n_measures))
        j->left.set = NULL;
    if (j->left.set)
        group_samples(&j->left, h);
}

static void judging_done(struct judging *j)
{
    free(j->told);
    heap_turns_done(&j->turns);
    free(j->live);
    by_path_done(&j->rows);
    by_path_done(&j->left);
}
DEFINE_OWN_IN_PLACE(judging, struct judging)

static uint32_t turn_of(const struct judging *j, const struct by_path *g, size_t sample)
{
    return g->set->contexts ? j->turns.by_context[g->set->contexts[sample].i] : HEAP_NO_TURN;
}

static bool knows_turns(const struct judging *j, const struct by_path *g, size_t row)
{
    for (size_t k = g->set ? g->first[row] : 0, end = g->set ? g->first[row + 1] : 0; k < end; k++)
        if (turn_of(j, g, g->samples[k]) != HEAP_NO_TURN)
            return true;
    return false;
}

/* Turns that have left something behind which is live, and had LEAK_SURVIVES turns after them; at one moment, and at the best so far. */
struct behind {
    size_t ripe; /* so many turns had those after them by then */
    size_t n, first;
    int64_t bytes;
};

static void behind_add(struct behind *b, size_t turn, int64_t live, int sign)
{
    if (live <= 0)
        return;
    b->n += (size_t)sign;
    b->bytes = heap_sum(b->bytes, sign * live);
    b->first = turn < b->first ? turn : b->first;
}

static void behind_ripen(struct behind *b, const struct judging *j, uint64_t until_ns)
{
    for (; b->ripe < j->judged && j->turns.rows[b->ripe + LEAK_SURVIVES].end_ns <= until_ns; b->ripe++)
        behind_add(b, b->ripe, j->live[b->ripe], 1);
}

/*
 * Along the readings of the heap: of how many turns something was live at once that they left behind. The most there ever
 * were is what counts; what is kept for a while and then freed, turn after turn, is never of many turns at once.
 */
static struct behind left_by_label(struct judging *j, const struct by_path *g, size_t row)
{
    struct behind now = {.first = SIZE_MAX}, best = now;
    memset(j->live, 0, j->turns.n * sizeof *j->live);
    uint64_t last_ns = 0;
    for (size_t k = g->first[row]; k < g->first[row + 1]; k++) {
        size_t i = g->samples[k];
        uint32_t turn = turn_of(j, g, i);
        if (g->set->time_ns[i] != last_ns) { /* until then it was as it is */
            last_ns = g->set->time_ns[i];
            behind_ripen(&now, j, heap_known_before(j->h, last_ns));
            best = now.n >= best.n ? now : best; /* the latest of equals: who has stopped is not growing */
        }
        if (turn >= j->turns.n)
            continue;
        if (turn < now.ripe)
            behind_add(&now, turn, j->live[turn], -1);
        j->live[turn] = heap_sum(j->live[turn], g->set->values[g->bytes][i]);
        if (turn < now.ripe)
            behind_add(&now, turn, j->live[turn], 1);
    }
    behind_ripen(&now, j, TIME_NONE); /* what all samples add up to is how it was at the end */
    return now.n >= best.n ? now : best;
}

/*
 * By what was live at the end of each told turn: the least of it until the third after, where that is more than it ever was
 * before. A moment may lie in the middle of a turn, which has blocks that it will free: those come and go, and what they
 * make of the least falls back. Then nothing was left behind.
 */
static size_t left_by_time(struct judging *j, size_t row)
{
    const struct by_path *g = &j->rows;
    int64_t live = 0, most = 0;
    size_t k = g->first[row], n = j->n_told > LEAK_SURVIVES ? j->n_told - LEAK_SURVIVES : 0;
    for (size_t t = 0; t < j->n_told; t++) {
        for (; k < g->first[row + 1] && g->set->time_ns[g->samples[k]] <= j->turns.rows[j->told[t]].end_ns; k++)
            live = heap_sum(live, heap_value(j->h, HEAP_LIVE_BYTES, g->samples[k]));
        j->live[t] = live;
    }
    for (size_t t = 0; t < n; t++) {
        int64_t least = j->live[t];
        for (size_t later = t + 1; later <= t + LEAK_SURVIVES; later++)
            least = j->live[later] < least ? j->live[later] : least;
        if (t && least < most - most / 4)
            return 0;
        j->live[t] = t && least > most ? least - most : 0; /* what was there at the first end may be from before all turns */
        most = least > most ? least : most;
    }
    return n;
}

static void judge_by_label(struct judging *j, const struct by_path *g, struct leak *leak)
{
    struct behind b = left_by_label(j, g, leak->row);
    if (!b.n)
        return;
    leak->grew_in = b.n;
    leak->of_turns = b.ripe - b.first;
    leak->left_behind = b.bytes;
    if (b.n >= LEAK_GROWS && 2 * b.n >= leak->of_turns)
        leak->grade = LEAK_A;
}

/* How many turns passed from one that is told to the next. */
static size_t turns_since_last(const struct judging *j, size_t t) { return t ? j->told[t] - j->told[t - 1] : 1; }

static void judge_by_time(struct judging *j, struct leak *leak)
{
    size_t grew = 0, since = 0;
    if (j->rows.first[leak->row + 1] - j->rows.first[leak->row] < LEAK_GROWS)
        return;
    for (size_t t = 0, n = left_by_time(j, leak->row); t < n; t++) {
        bool grows = j->live[t] > 0;
        since += grows || grew;
        grew += grows;
        leak->grew_in += grows ? turns_since_last(j, t) : 0;
        leak->of_turns += grows || grew ? turns_since_last(j, t) : 0;
        leak->left_behind = heap_sum(leak->left_behind, grows ? j->live[t] : 0);
    }
    if (grew >= LEAK_GROWS && 2 * grew >= since)
        leak->grade = LEAK_A;
}

static void judge(struct judging *j, struct leak *leak)
{
    if (!j->judged)
        return;
    if (knows_turns(j, &j->left, leak->row))
        judge_by_label(j, &j->left, leak);
    else if (knows_turns(j, &j->rows, leak->row))
        judge_by_label(j, &j->rows, leak);
    else
        judge_by_time(j, leak);
}

/* Suppressions: each function is asked about once. */

enum { NOT_ASKED = 0, NO_RULE = 1, FIRST_RULE = 2 };

static size_t rule_of(const struct heap *h, const struct leak_suppressions *known, size_t *by_function, uint32_t node)
{
    for (; node; node = h->tree.nodes[node].parent) {
        size_t *asked = &by_function[h->tree.nodes[node].function.i];
        if (*asked == NOT_ASKED) {
            size_t found = leak_suppressions_find(known, h->p, h->tree.nodes[node].function);
            *asked = found == known->n ? NO_RULE : FIRST_RULE + found;
        }
        if (*asked >= FIRST_RULE)
            return *asked - FIRST_RULE;
    }
    return known->n;
}

/* Together. */

static void add_to(struct leak_sum *to, const struct heap_sums *s)
{
    int64_t blocks = s->of[HEAP_LIVE];
    to->paths++;
    to->blocks = heap_sum(to->blocks, blocks == HEAP_UNKNOWN ? 0 : blocks);
    to->bytes = heap_sum(to->bytes, s->of[HEAP_LIVE_BYTES]);
}

struct order {
    const struct heap *h;
    size_t *rank; /* by row of the heap: as heap_ranked() puts them */
};

static int worst_first(const void *pa, const void *pb, void *context)
{
    const struct order *o = context;
    const struct leak *a = pa, *b = pb;
    if (a->grade != b->grade)
        return a->grade < b->grade ? -1 : 1;
    int64_t xa = o->h->rows[a->row].sums.of[HEAP_LIVE_BYTES], xb = o->h->rows[b->row].sums.of[HEAP_LIVE_BYTES];
    if (xa != xb)
        return xa < xb ? 1 : -1;
    return (o->rank[a->row] > o->rank[b->row]) - (o->rank[a->row] < o->rank[b->row]);
}

static void sort(struct heap_leaks *l, const struct heap *h)
{
    size_t n;
    own(free) size_t *ranked = heap_ranked(h, HEAP_LIVE_BYTES, &n);
    struct order o = {h, mem_new((h->n + 1) * sizeof *o.rank)};
    for (size_t i = 0; i < h->n; i++)
        o.rank[i] = n + i;
    for (size_t i = 0; i < n; i++)
        o.rank[ranked[i]] = i;
    qsort_r(l->rows, l->n, sizeof *l->rows, worst_first, &o);
    free(o.rank);
}

static void keep_or_suppress(struct heap_leaks *l, const struct heap *h, struct leak leak, size_t rule)
{
    const struct heap_sums *s = &h->rows[leak.row].sums;
    if (leak.grade == LEAK_GRADE_COUNT)
        return;
    if (rule < l->n_rules) {
        add_to(&l->suppressed, s);
        add_to(&l->by_rule[rule], s);
        return;
    }
    add_to(&l->by_grade[leak.grade], s);
    l->rows[l->n++] = leak;
}

bool heap_leaks_of(struct heap_leaks *l, const struct heap *h, const struct leak_suppressions *known)
{
    *l = (struct heap_leaks){0};
    if (!heap_has(h, HEAP_LIVE_BYTES))
        return false;
    own(judging) struct judging j;
    own(free) size_t *by_function = mem_new(profile_functions(h->p) * sizeof *by_function);
    judging_init(&j, h);
    l->n_turns = j.turns.n;
    l->turn_kind = j.turns.kind;
    l->turn_phase = j.turns.phase;
    l->n_rules = known ? known->n : 0;
    l->by_rule = mem_new((l->n_rules + 1) * sizeof *l->by_rule);
    l->rows = mem_new((h->n + 1) * sizeof *l->rows);
    for (size_t i = 0; i < h->n; i++) {
        bool is_live = h->rows[i].sums.of[HEAP_LIVE_BYTES] > 0;
        struct leak leak = {.row = i, .grade = is_live ? LEAK_B : LEAK_GRADE_COUNT};
        judge(&j, &leak);
        keep_or_suppress(l, h, leak, known && known->n ? rule_of(h, known, by_function, h->rows[i].node) : 0);
    }
    sort(l, h);
    return true;
}

void heap_leaks_done(struct heap_leaks *l)
{
    free(l->rows);
    free(l->by_rule);
    *l = (struct heap_leaks){0};
}
