#include "capture/cpu/switches.h"

void switches_begin(struct switches *s, enum switches_state is, bool is_preempted, uint64_t now_ns, uint64_t losses)
{
    *s = (struct switches){.is = is, .is_preempted = is_preempted, .since_ns = now_ns, .losses = losses};
}

/*
 * Closes the interval that began at since_ns. `was` is what the record says it was: only when that
 * is also what we thought, and nothing was lost meanwhile, is it believed.
 */
static bool settle(struct switches *s, enum switches_state was, uint64_t now_ns, uint64_t losses, uint64_t *out_ns)
{
    uint64_t length_ns = now_ns > s->since_ns ? now_ns - s->since_ns : 0;
    bool is_sure = s->is == was && s->losses == losses;
    *(is_sure ? was == SWITCHES_RUNNING ? &s->sum.running_ns : &s->sum.waiting_ns : &s->sum.unknown_ns) += length_ns;
    s->since_ns += length_ns;
    s->losses = losses;
    *out_ns = length_ns;
    return is_sure;
}

void switches_out(struct switches *s, bool is_preempted, uint64_t now_ns, uint64_t losses)
{
    uint64_t ran_ns;
    settle(s, SWITCHES_RUNNING, now_ns, losses, &ran_ns);
    s->is = SWITCHES_WAITING;
    s->is_preempted = is_preempted;
}

bool switches_in(struct switches *s, uint64_t now_ns, uint64_t losses, struct wait *out)
{
    struct wait w = {.start_ns = s->since_ns, .is_preempted = s->is_preempted};
    bool has_waited = settle(s, SWITCHES_WAITING, now_ns, losses, &w.length_ns);
    s->is = SWITCHES_RUNNING;
    if (has_waited)
        *out = w;
    return has_waited;
}

bool switches_cut(struct switches *s, uint64_t now_ns, uint64_t losses, struct wait *out)
{
    struct wait w = {.start_ns = s->since_ns, .is_preempted = s->is_preempted};
    bool is_sure = settle(s, s->is, now_ns, losses, &w.length_ns);
    if (!is_sure || s->is != SWITCHES_WAITING)
        return false;
    *out = w;
    return true;
}
