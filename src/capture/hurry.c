#include "capture/hurry.h"

#include <stdint.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PRIORITY = -20, SHORTEST_TURN_NS = 100000 };

/* As the kernel has it; not every C library does. */
struct scheduling {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime_ns, deadline_ns, period_ns;
};

/* Older kernels take the length of a turn and pay no heed to it. */
static void ask_for_short_turns(void)
{
    struct scheduling s = {0};
    if (syscall(SYS_sched_getattr, 0, &s, (unsigned)sizeof s, 0u) != 0 || s.policy != 0)
        return; /* somebody has given us another policy on purpose */
    s.size = sizeof s;
    s.runtime_ns = SHORTEST_TURN_NS;
    syscall(SYS_sched_setattr, 0, &s, 0u);
}

void hurry(void)
{
    setpriority(PRIO_PROCESS, 0, PRIORITY);
    ask_for_short_turns();
}
