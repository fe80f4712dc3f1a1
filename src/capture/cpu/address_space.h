/*
 * address_space.h - what one process has mapped, as far as it is code
 *
 * A sorted list of maps, kept up to date by news of single maps (a new one replaces
 * what it covers; the kernel does not tell about unmapping) or by reading all of
 * /proc/PID/maps again. Beside each map stands what the unwinder needs to know.
 *
 * Files are opened late: space_ready() opens the file behind an address when a sample
 * first asks for it.
 *
 * Owns:     its list. Threads: one at a time.
 * Fails:    space_read(): the process is gone, or not ours to look at.
 */
#pragma once
#include "base/err.h"
#include "capture/cpu/code_files.h"
#include "capture/cpu/maps_line.h"

struct code_map {
    uint64_t start, end, file_offset;
    code_file_id file;
    bool is_ready; /* its file has been opened, as far as it can be */
};

struct address_space {
    struct code_map *maps;
    struct unwind_map *walk; /* one row per map */
    size_t n, maps_cap, walk_cap;
};

void space_done(struct address_space *s);
void space_copy(struct address_space *to, const struct address_space *from); /* replaces what `to` had */
void space_clear(struct address_space *s);

void space_add(struct address_space *s, const struct code_map *m);
void space_news(struct address_space *s, struct code_files *files, const struct map_news *m); /* adds it if it is code */
bool space_read(struct address_space *s, struct code_files *files, const char *proc, int32_t pid, struct err *e) MUST_CHECK;

const struct code_map *space_at(const struct address_space *s, uint64_t address); /* NULL: nothing mapped */

/* Opens the file behind this address. True when that changed anything: then a walk may get further. */
bool space_ready(struct address_space *s, struct code_files *files, int32_t pid, uint64_t address);
void space_ready_all(struct address_space *s, struct code_files *files, int32_t pid);

struct unwind_space space_walk(const struct address_space *s);

/* The address as the file was linked; without a file, as it is. */
static inline uint64_t space_virtual(const struct address_space *s, const struct code_map *m, uint64_t address)
{
    return address - s->walk[m - s->maps].bias;
}
