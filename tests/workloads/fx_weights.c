/*
 * fx-weights: a model file that is mapped, and what programs do with it then.
 *
 *     --ratio R    an anonymous copy of R times its size (1); 0: none
 *     --before 1   that memory was there before the file was: no copy of it
 *     --drop 1     the pages of the file are given back after the copying
 *     --unmap 1    the file is unmapped after the copying
 *     --use 1      goes on reading the file, as inference without a copy does
 *     --read R     only this part of the file is ever touched (1)
 *
 * With the defaults the weights are in memory twice, as after a repacking that keeps its source. The
 * program stands still for `--hold` seconds before and behind the copying.
 */
#include "truth.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static const size_t block_bytes = 1 << 20;
static volatile uint64_t sum;

static void new_file(const char *path, size_t bytes)
{
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    char *block = malloc(block_bytes);
    if (fd < 0 || !block)
        die(path, errno);
    memset(block, 'w', block_bytes);
    for (size_t done = 0; done < bytes; done += block_bytes)
        if (write(fd, block, block_bytes) != (ssize_t)block_bytes)
            die(path, errno);
    free(block);
    close(fd);
}

static const char *map_file(const char *path, size_t bytes)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    void *at = fd < 0 ? MAP_FAILED : mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED)
        die(path, errno);
    close(fd);
    return at;
}

static char *take_memory(size_t bytes)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        die("taking memory", errno);
    return at;
}

static KEPT void repack(char *to, size_t bytes, const char *from, size_t from_bytes)
{
    for (size_t at = 0; at < bytes; at += block_bytes)
        memcpy(to + at, from + at % from_bytes, block_bytes);
    STAY();
}

static KEPT void read_weights(const char *at, size_t bytes)
{
    uint64_t all = 0;
    for (size_t i = 0; i < bytes; i += 64)
        all += (unsigned char)at[i];
    sum = sum + all;
    STAY();
}

static void stand(double seconds, const char *weights, size_t bytes)
{
    uint64_t end_ns = wall_now_ns() + (uint64_t)(seconds * 1e9);
    while (wall_now_ns() < end_ns) {
        struct timespec t = {.tv_nsec = 20000000};
        nanosleep(&t, NULL);
        if (weights)
            read_weights(weights, bytes);
    }
}

int main(int argc, char **argv)
{
    double mib = 64, ratio = 1, before = 0, drop = 0, unmap = 0, use = 0, part = 1, hold = 1;
    const struct setting settings[] = {
        {"mib", "MIB", "of weights", &mib, 1, 65536, true},      {"ratio", "R", "size of the copy", &ratio, 0, 4, false},
        {"before", "1", "the memory comes first", &before, 0, 1, true}, {"drop", "1", "give the pages back", &drop, 0, 1, true},
        {"unmap", "1", "unmap the file", &unmap, 0, 1, true},    {"use", "1", "go on reading the file", &use, 0, 1, true},
        {"read", "R", "part of the file that is touched", &part, 0, 1, false}, {"hold", "S", "seconds", &hold, 0.01, 3600, false},
    };
    settings_read(settings, sizeof settings / sizeof *settings, "maps weights and copies them", argc, argv);
    size_t bytes = (size_t)mib << 20, copy_bytes = (size_t)(mib * ratio) << 20, read_bytes = (size_t)(mib * part) << 20;
    char path[64];
    snprintf(path, sizeof path, "fx-weights-%d.gguf", (int)getpid());
    new_file(path, bytes);
    char *copy = before > 0 && copy_bytes ? take_memory(copy_bytes) : NULL;
    if (copy)
        memset(copy, 1, copy_bytes);
    if (copy)
        stand(hold, NULL, 0);
    const char *weights = map_file(path, bytes);
    read_weights(weights, read_bytes);
    stand(hold, NULL, 0);
    if (!copy && copy_bytes)
        repack(copy = take_memory(copy_bytes), copy_bytes, weights, read_bytes ? read_bytes : bytes);
    if (drop > 0 && madvise((void *)(uintptr_t)weights, bytes, MADV_DONTNEED) < 0)
        die("giving pages back", errno);
    if (unmap > 0)
        munmap((void *)(uintptr_t)weights, bytes);
    stand(2 * hold, use > 0 ? weights : NULL, read_bytes);
    printf("{\"fixture\": \"fx-weights\", \"pid\": %d, \"path\": \"%s\", \"file_bytes\": %zu, \"read_bytes\": %zu, \"copy_bytes\": %zu}\n",
           (int)getpid(), path, bytes, read_bytes, copy_bytes);
    unlink(path);
    return truth_told();
}
