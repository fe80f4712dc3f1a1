#include "capture/cpu/perf_record.h"

#if defined(__x86_64__)
#include <asm/perf_regs.h>
#endif

enum { ID_BYTES = 24, ID_TIME_AT = 8 };

#ifndef PERF_RECORD_MISC_MMAP_BUILD_ID
#define PERF_RECORD_MISC_MMAP_BUILD_ID (1 << 14) /* Linux 5.12 */
#endif

/*
 * The kernel numbers registers its own way; the unwinder wants DWARF's numbers. The
 * ring holds those of the mask in the order of their bits.
 */
#if defined(__x86_64__)
static const uint8_t dwarf_number[64] = {
    [PERF_REG_X86_AX] = 0,  [PERF_REG_X86_DX] = 1,   [PERF_REG_X86_CX] = 2,   [PERF_REG_X86_BX] = 3,
    [PERF_REG_X86_SI] = 4,  [PERF_REG_X86_DI] = 5,   [PERF_REG_X86_BP] = 6,   [PERF_REG_X86_SP] = 7,
    [PERF_REG_X86_R8] = 8,  [PERF_REG_X86_R9] = 9,   [PERF_REG_X86_R10] = 10, [PERF_REG_X86_R11] = 11,
    [PERF_REG_X86_R12] = 12, [PERF_REG_X86_R13] = 13, [PERF_REG_X86_R14] = 14, [PERF_REG_X86_R15] = 15,
    [PERF_REG_X86_IP] = 16,
};
enum { STACK_POINTER = 7 };
uint64_t perf_register_mask(void)
{
    return UINT64_C(0xff) << PERF_REG_X86_AX | UINT64_C(1) << PERF_REG_X86_IP | UINT64_C(0xff) << PERF_REG_X86_R8;
}
#else /* arm64: x0..x30, sp, pc, as in DWARF's arrangement for the unwinder */
static const uint8_t dwarf_number[64] = {
    0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16,
    17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32,
};
enum { STACK_POINTER = 31 };
uint64_t perf_register_mask(void) { return (UINT64_C(1) << 33) - 1; }
#endif

/* Reading past the end yields zeros and sets `is_short`; callers look once. */
struct cursor {
    const char *at, *end;
    bool is_short;
};

static const char *pass(struct cursor *c, size_t n)
{
    const char *here = c->at;
    if ((size_t)(c->end - c->at) < n) {
        c->is_short = true;
        c->at = c->end;
        return NULL;
    }
    c->at += n;
    return here;
}

static uint64_t read_64(struct cursor *c)
{
    uint64_t v = 0;
    const char *at = pass(c, sizeof v);
    if (at)
        memcpy(&v, at, sizeof v);
    return v;
}

static uint32_t read_32(struct cursor *c)
{
    uint32_t v = 0;
    const char *at = pass(c, sizeof v);
    if (at)
        memcpy(&v, at, sizeof v);
    return v;
}

/* Text that ends with a NUL, padded to the end of the cursor. */
static struct view read_text(struct cursor *c)
{
    size_t n = (size_t)(c->end - c->at);
    const char *at = pass(c, n);
    return (struct view){at, strnlen(at, n)};
}

static void read_id(struct cursor *c, struct perf_record *r)
{
    r->pid = (int32_t)read_32(c);
    r->tid = (int32_t)read_32(c);
    r->time_ns = read_64(c);
    r->cpu = read_32(c);
    read_32(c); /* reserved */
}

/* A callchain has marks in it, PERF_CONTEXT_KERNEL and the like; they are huge numbers, addresses are not. */
static void read_callchain(struct cursor *c, struct perf_record *r)
{
    uint64_t n = read_64(c);
    if (n > (size_t)(c->end - c->at) / sizeof(uint64_t)) {
        c->is_short = true;
        return;
    }
    const uint64_t *at = (const uint64_t *)(const void *)pass(c, (size_t)n * sizeof *at);
    while (n && at[0] >= PERF_CONTEXT_MAX) {
        at++;
        n--;
    }
    while (n && at[n - 1] >= PERF_CONTEXT_MAX)
        n--;
    r->sample.kernel = at;
    r->sample.n_kernel = (size_t)n;
}

static void read_registers(struct cursor *c, struct perf_record *r)
{
    if (read_64(c) == PERF_SAMPLE_REGS_ABI_NONE)
        return;
    for (uint64_t mask = perf_register_mask(); mask; mask &= mask - 1)
        r->sample.registers.at[dwarf_number[__builtin_ctzll(mask)]] = read_64(c);
    r->sample.has_user = true;
}

/* Of the bytes that were reserved the kernel could fill so many; it says so behind them. */
static void read_stack(struct cursor *c, struct perf_record *r)
{
    uint64_t size = read_64(c);
    if (!size)
        return;
    const char *bytes = pass(c, (size_t)size);
    uint64_t filled = read_64(c);
    if (filled > size)
        c->is_short = true;
    r->sample.stack = (struct unwind_stack){
        .start = r->sample.registers.at[STACK_POINTER],
        .bytes = (const uint8_t *)bytes,
        .n = (size_t)filled,
    };
}

static void read_sample(struct cursor *c, const struct perf_layout *layout, struct perf_record *r)
{
    read_id(c, r);
    r->sample.period = read_64(c);
    if (layout->has_callchain)
        read_callchain(c, r);
    read_registers(c, r);
    read_stack(c, r);
}

static void read_map(struct cursor *c, uint16_t misc, struct perf_record *r)
{
    enum { BUILD_ID_MOST = 20 };
    read_64(c); /* pid, tid: again at the end */
    r->map.start = read_64(c);
    r->map.length = read_64(c);
    r->map.file_offset = read_64(c);
    if (misc & PERF_RECORD_MISC_MMAP_BUILD_ID) {
        size_t n = read_32(c) & 0xff;
        const char *id = pass(c, BUILD_ID_MOST);
        r->map.build_id = (struct view){id, n < BUILD_ID_MOST ? n : BUILD_ID_MOST};
    } else {
        r->map.device_major = read_32(c);
        r->map.device_minor = read_32(c);
        r->map.inode = read_64(c);
        read_64(c); /* generation */
    }
    read_64(c); /* protection, flags */
    r->map.path = read_text(c);
    r->map.is_code = !(misc & PERF_RECORD_MISC_MMAP_DATA);
}

static void read_comm(struct cursor *c, uint16_t misc, struct perf_record *r)
{
    read_64(c);
    r->comm.name = read_text(c);
    r->comm.is_exec = misc & PERF_RECORD_MISC_COMM_EXEC;
}

static void read_task(struct cursor *c, struct perf_record *r)
{
    r->task.pid = (int32_t)read_32(c);
    r->task.parent_pid = (int32_t)read_32(c);
    r->task.tid = (int32_t)read_32(c);
}

static void read_body(struct cursor *c, const struct perf_event_header *h, struct perf_record *r)
{
    switch (h->type) {
    case PERF_RECORD_MMAP2: read_map(c, h->misc, r); break;
    case PERF_RECORD_COMM: read_comm(c, h->misc, r); break;
    case PERF_RECORD_FORK:
    case PERF_RECORD_EXIT: read_task(c, r); break;
    case PERF_RECORD_SWITCH:
        r->switched.is_out = h->misc & PERF_RECORD_MISC_SWITCH_OUT;
        r->switched.is_preempted = h->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;
        break;
    case PERF_RECORD_LOST:
        read_64(c); /* of which event */
        r->lost = read_64(c);
        break;
    default: break;
    }
}

static bool read_header(struct view bytes, struct perf_event_header *out)
{
    if (bytes.n < sizeof *out)
        return false;
    memcpy(out, bytes.at, sizeof *out);
    return out->size == bytes.n;
}

bool perf_record_parse(struct perf_record *out, const struct perf_layout *layout, struct view bytes)
{
    struct perf_event_header h;
    if (!read_header(bytes, &h))
        return false;
    *out = (struct perf_record){.type = h.type};
    struct cursor c = {.at = bytes.at + sizeof h, .end = bytes.at + bytes.n};
    if (h.type == PERF_RECORD_SAMPLE) {
        read_sample(&c, layout, out);
        return !c.is_short;
    }
    if (bytes.n < sizeof h + ID_BYTES)
        return false;
    struct cursor id = {.at = c.end - ID_BYTES, .end = c.end};
    c.end = id.at;
    read_id(&id, out);
    read_body(&c, &h, out);
    return !c.is_short;
}

bool perf_record_time(struct view bytes, uint64_t *out_ns)
{
    struct perf_event_header h;
    if (!read_header(bytes, &h) || bytes.n < sizeof h + ID_BYTES)
        return false;
    size_t id = h.type == PERF_RECORD_SAMPLE ? sizeof h : bytes.n - ID_BYTES;
    memcpy(out_ns, bytes.at + id + ID_TIME_AT, sizeof *out_ns);
    return true;
}

static size_t copy_whole(char *to, struct view bytes)
{
    memcpy(to, bytes.at, bytes.n);
    return bytes.n;
}

size_t perf_record_copy(char *to, const struct perf_layout *layout, struct view bytes)
{
    struct perf_event_header h;
    struct perf_record r;
    if (!read_header(bytes, &h) || h.type != PERF_RECORD_SAMPLE || !perf_record_parse(&r, layout, bytes) || !r.sample.stack.n)
        return copy_whole(to, bytes);
    uint64_t filled = r.sample.stack.n, room = (filled + 7) / 8 * 8;
    size_t before = (size_t)((const char *)r.sample.stack.bytes - bytes.at), n = before + (size_t)room + sizeof filled;
    if (n > bytes.n)
        return copy_whole(to, bytes);
    h.size = (uint16_t)n;
    memcpy(to, bytes.at, before + (size_t)filled);
    memcpy(to, &h, sizeof h);
    memcpy(to + before - sizeof room, &room, sizeof room); /* so much is reserved, */
    memset(to + before + filled, 0, (size_t)(room - filled));
    memcpy(to + before + room, &filled, sizeof filled);    /* and so much was filled */
    return n;
}
