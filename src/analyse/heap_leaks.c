#include "analyse/heap_leaks.h"
#include "base/mem.h"

const char *const leak_grade_names[LEAK_GRADE_COUNT + 1] = {[LEAK_A] = "A", [LEAK_B] = "B"};

/* Growth from turn to turn, one path after the other. */

struct judging {
    const struct heap *h;
    struct heap_turns turns;
    size_t judged;       /* turns that had LEAK_SURVIVES after them */
    uint64_t *check_ns;  /* by such a turn: when what it left is looked at; TIME_NONE: at the end */
    size_t *told; /* turns that are told apart by time */
    size_t n_told;
    int64_t *left;       /* by turn, or told turn, of the path at hand: what it left behind, or what was live */
    size_t *samples, *first; /* indexes of samples, path by path: first[row] to first[row + 1] */
};

/* A counting sort; samples of a path stay in order of time. */
static void group_samples(struct judging *j)
{
    const struct heap *h = j->h;
    own(free) size_t *row_of = mem_new(h->tree.n * sizeof *row_of);
    j->first = mem_new((h->n + 2) * sizeof *j->first);
    j->samples = mem_new((h->set->n + 1) * sizeof *j->samples);
    for (size_t i = 0; i < h->n; i++)
        row_of[h->rows[i].node] = i;
    for (size_t i = 0; i < h->set->n; i++)
        j->first[row_of[h->node_of[h->set->stacks[i].i]] + 2]++;
    for (size_t r = 1; r < h->n; r++)
        j->first[r + 1] += j->first[r];
    for (size_t i = 0; i < h->set->n; i++)
        j->samples[j->first[row_of[h->node_of[h->set->stacks[i].i]] + 1]++] = i;
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
    j->check_ns = mem_new(j->judged * sizeof *j->check_ns);
    j->left = mem_new(j->turns.n * sizeof *j->left);
    for (size_t i = 0; i < j->judged; i++)
        j->check_ns[i] = heap_known_at(h, j->turns.rows[i + LEAK_SURVIVES].end_ns);
    find_told(j);
    group_samples(j);
}

static void judging_done(struct judging *j)
{
    free(j->told);
    heap_turns_done(&j->turns);
    free(j->check_ns);
    free(j->left);
    free(j->samples);
    free(j->first);
}
DEFINE_OWN_IN_PLACE(judging, struct judging)

static uint32_t turn_of(const struct judging *j, size_t sample)
{
    const struct sample_set *set = j->h->set;
    return set->contexts ? j->turns.by_context[set->contexts[sample].i] : HEAP_NO_TURN;
}

static bool knows_turns(const struct judging *j, size_t row)
{
    for (size_t k = j->first[row]; k < j->first[row + 1]; k++)
        if (turn_of(j, j->samples[k]) != HEAP_NO_TURN)
            return true;
    return false;
}

/* What each turn allocated and is live when it is looked at. Returns of how many turns. */
static size_t left_by_label(struct judging *j, size_t row)
{
    memset(j->left, 0, j->turns.n * sizeof *j->left);
    for (size_t k = j->first[row]; k < j->first[row + 1]; k++) {
        size_t i = j->samples[k];
        uint32_t turn = turn_of(j, i);
        if (turn < j->judged && j->h->set->time_ns[i] <= j->check_ns[turn])
            j->left[turn] = heap_sum(j->left[turn], heap_value(j->h, HEAP_LIVE_BYTES, i));
    }
    return j->judged;
}

/*
 * By what was live at the end of each told turn: the least of it until the third after, where that is more than it ever was
 * before. A moment may lie in the middle of a turn, which has blocks that it will free: those come and go, and what they
 * make of the least falls back. Then nothing was left behind.
 */
static size_t left_by_time(struct judging *j, size_t row)
{
    int64_t live = 0, most = 0;
    size_t k = j->first[row], n = j->n_told > LEAK_SURVIVES ? j->n_told - LEAK_SURVIVES : 0;
    for (size_t t = 0; t < j->n_told; t++) {
        for (; k < j->first[row + 1] && j->h->set->time_ns[j->samples[k]] <= j->turns.rows[j->told[t]].end_ns; k++)
            live = heap_sum(live, heap_value(j->h, HEAP_LIVE_BYTES, j->samples[k]));
        j->left[t] = live;
    }
    for (size_t t = 0; t < n; t++) {
        int64_t least = j->left[t];
        for (size_t later = t + 1; later <= t + LEAK_SURVIVES; later++)
            least = j->left[later] < least ? j->left[later] : least;
        if (t && least < most - most / 4)
            return 0;
        j->left[t] = t && least > most ? least - most : 0; /* what was there at the first end may be from before all turns */
        most = least > most ? least : most;
    }
    return n;
}

/* How many turns passed from one that is told to the next. */
static size_t turns_since_last(const struct judging *j, size_t t, bool by_label)
{
    return by_label || !t ? 1 : j->told[t] - j->told[t - 1];
}

static void judge(struct judging *j, struct leak *leak)
{
    if (!j->judged || j->first[leak->row + 1] - j->first[leak->row] < LEAK_GROWS)
        return;
    bool by_label = knows_turns(j, leak->row);
    size_t n = by_label ? left_by_label(j, leak->row) : left_by_time(j, leak->row), grew = 0, since = 0;
    for (size_t t = 0; t < n; t++) {
        bool grows = j->left[t] > 0;
        since += grows || grew;
        grew += grows;
        leak->grew_in += grows ? turns_since_last(j, t, by_label) : 0;
        leak->of_turns += grows || grew ? turns_since_last(j, t, by_label) : 0;
        leak->left_behind = heap_sum(leak->left_behind, grows ? j->left[t] : 0);
    }
    if (grew >= LEAK_GROWS && 2 * grew >= since)
        leak->grade = LEAK_A;
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
