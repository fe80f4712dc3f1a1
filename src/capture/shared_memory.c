#include "capture/shared_memory.h"
#include "base/reader.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum { FD_LEAST = 200 };

/* Out of the way of programs that expect the first descriptors they open to be 3, 4, 5. */
static int moved_up(int fd)
{
    int high = fcntl(fd, F_DUPFD_CLOEXEC, FD_LEAST);
    if (high < 0)
        return fd;
    close(fd);
    return high;
}

bool shared_memory_make(const char *name, uint64_t bytes, uint64_t mapped, int *out_fd, void **out, struct err *e)
{
    int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0)
        return err_os(e, "making memory to share with the target");
    fd = moved_up(fd);
    void *p = MAP_FAILED;
    if (ftruncate(fd, (off_t)bytes) == 0 && fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
        p = mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
    if (p == MAP_FAILED) {
        err_os(e, "sharing %llu MiB of memory with the target", (unsigned long long)(bytes >> 20));
        close(fd);
        return false;
    }
    *out_fd = fd;
    *out = p;
    return true;
}

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
