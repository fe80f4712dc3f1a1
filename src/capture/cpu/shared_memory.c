#include "capture/cpu/shared_memory.h"
#include "base/reader.h"

#include <inttypes.h>
#include <sys/sysmacros.h>

/* "7f10a2c28000-7f10a2d9d000 rw-s 00000000 00:01 1234   /memfd:inferom-sampler (deleted)" */
static bool is_it(struct view line, dev_t device, ino_t inode)
{
    unsigned major_number, minor_number;
    uint64_t number;
    char text[128];
    snprintf(text, sizeof text, "%.*s", (int)(line.n < sizeof text ? line.n : sizeof text - 1), line.at);
    return sscanf(text, "%*x-%*x %*s %*x %x:%x %" SCNu64, &major_number, &minor_number, &number) == 3 && number == inode &&
           makedev(major_number, minor_number) == device;
}

bool shared_memory_is_in(int32_t pid, dev_t device, ino_t inode)
{
    char path[48];
    snprintf(path, sizeof path, "/proc/%" PRId32 "/maps", pid);
    own(reader) struct reader r;
    struct err e = {0};
    if (!reader_open(&r, path, &e))
        return e.kind == ERR_NOT_FOUND;
    bool is_empty = true;
    for (struct view line; reader_line(&r, &line, &e); is_empty = false)
        if (is_it(line, device, inode))
            return true;
    return is_empty; /* it has ended */
}
