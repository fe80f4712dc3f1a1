#include "capture/process_row.h"

/* Numbers come again after thousands of others: what lies further back is somebody else's. */
enum { ROWS_LOOKED_AT = 4096 };

process_id process_row(struct builder *names, int32_t pid, uint64_t least_ns, uint64_t start_ns, struct view name)
{
    const struct profile *there = builder_view(names);
    uint32_t n = (uint32_t)profile_processes(there), first = n > ROWS_LOOKED_AT ? n - ROWS_LOOKED_AT : 1;
    for (uint32_t i = n; i-- > first;) {
        const struct process *p = profile_process(there, (process_id){i});
        if (p->pid == pid && p->start_ns >= least_ns)
            return (process_id){i};
    }
    process_id id = builder_process(names, pid, start_ns);
    builder_name_process(names, id, name);
    return id;
}
