/*
 * perf_record.h - one record of the kernel's ring, taken apart
 *
 * The bytes come from a kernel of any version and are believed only as far as they
 * go: a record that ends early, or holds a length that does not fit, is refused and
 * nothing of it is used.
 *
 * All events we open have the fields of PERF_RECORD_ID at the end of each record, in
 * this order, and samples begin with the same ones:
 *
 *     sample:  header │ pid tid │ time │ cpu │ period │ [callchain] │ registers │ stack
 *     others:  header │ ...                                 │ pid tid │ time │ cpu
 *
 * Owns: nothing; pointers lead into the bytes. Threads: any. Fails: says false.
 */
#pragma once
#include "base/view.h"
#include "unwind/unwind.h"
#include <linux/perf_event.h>
#include <stdint.h>

#define PERF_RECORD_ID (PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU)

/* What the events that write into this ring were asked for. */
struct perf_layout {
    bool has_callchain; /* PERF_SAMPLE_CALLCHAIN, kernel part only */
};

/* The registers we ask for, and where they go. */
uint64_t perf_register_mask(void);

struct perf_record {
    uint32_t type; /* PERF_RECORD_SAMPLE, ...; other types have nothing but these four */
    int32_t pid, tid;
    uint64_t time_ns;
    uint32_t cpu;
    union {
        struct {
            uint64_t period;
            const uint64_t *kernel; /* leaf first */
            size_t n_kernel;
            bool has_user;
            struct unwind_registers registers;
            struct unwind_stack stack;
        } sample;
        struct {
            uint64_t start, length, file_offset, inode;
            uint32_t device_major, device_minor;
            struct view path, build_id;
            bool is_code;
        } map; /* PERF_RECORD_MMAP2 */
        struct {
            struct view name;
            bool is_exec;
        } comm;
        struct {
            int32_t parent_pid, pid, tid;
        } task; /* PERF_RECORD_FORK, PERF_RECORD_EXIT */
        struct {
            bool is_out, is_preempted;
        } switched;    /* PERF_RECORD_SWITCH */
        uint64_t lost; /* PERF_RECORD_LOST */
    };
};

/* `bytes` is one whole record, header included, 8-byte aligned. */
bool perf_record_parse(struct perf_record *out, const struct perf_layout *layout, struct view bytes) MUST_CHECK;

/*
 * A copy that is no longer than it needs to be: the kernel reserves the whole slice of a stack and fills what
 * there is. Room for bytes.n; says how long it is. What cannot be taken apart is copied as it is.
 */
size_t perf_record_copy(char *to, const struct perf_layout *layout, struct view bytes);

/* Only when it was; for putting the records of several rings in order. False: it does not say. */
bool perf_record_time(struct view bytes, uint64_t *out_ns) MUST_CHECK;
