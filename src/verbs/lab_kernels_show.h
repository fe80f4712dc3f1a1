/*
 * lab_kernels_show.h - what 'lab kernels' measured: on a screen, as Markdown, as JSON, as a capture file
 */
#pragma once
#include "lab/kernels.h"
#include "model/capture_writer.h"
#include "render/table.h"

struct kernel_answer {
    const struct roof *roof;
    enum kernel_mode mode;
    const struct kernel_result *rows;
    size_t n;
    size_t planned; /* n < planned: it was interrupted */
};

void kernel_answer_print(const struct kernel_answer *a, const struct table_style *style, struct sink *out);
void kernel_answer_markdown(const struct kernel_answer *a, struct sink *out);
void kernel_answer_json(const struct kernel_answer *a, struct sink *out);

/*
 * Into a capture file, result by result, so that an interrupted run leaves what is finished (lab_kernels_record.c). A
 * result is a span of its kernel's name, in it "warm-up" and a span for every sample; and series, labelled with kernel,
 * size, level and threads: "kernel time" with a reading per sample, "kernel rate", "kernel bandwidth" and "share of roof".
 * The samples are a sample set as well ("kernels", by kernel and case), which reports and flame graphs are made of.
 */
struct kernel_recording {
    struct capture_writer *to;
    thread_id thread;
};
bool kernel_recording_open(struct kernel_recording *r, const char *path, const struct roof *roof, struct err *e) MUST_CHECK;
bool kernel_recording_add(struct kernel_recording *r, const struct kernel_result *k, const struct roof *roof, struct err *e) MUST_CHECK;
bool kernel_recording_close(struct kernel_recording *r, struct err *e) MUST_CHECK;
void kernel_recording_done(struct kernel_recording *r);
DEFINE_OWN_IN_PLACE(kernel_recording, struct kernel_recording)
