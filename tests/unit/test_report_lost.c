/* What was lost is a share of the samples it was lost from, and of no others. */
#include "base/sink.h"
#include "check.h"
#include "model/builder.h"
#include "render/report.h"

#include <string.h>

static struct profile *two_sets(void)
{
    struct builder *b = builder_new();
    set_id cpu = builder_set(b, VIEW("cpu"), &(struct measure_spec){.name = VIEW("cpu"), .unit = UNIT_NS}, 1);
    set_id heap = builder_set(b, VIEW("heap"), &(struct measure_spec){.name = VIEW("alloc_space"), .unit = UNIT_BYTES}, 1);
    stack_id at = builder_push(b, STACK_ROOT, builder_frame_named(b, VIEW("main")));
    for (int64_t i = 0; i < 30; i++) {
        builder_sample(b, cpu, (uint64_t)i, CONTEXT_NONE, at, &(int64_t){1000});
        builder_sample(b, heap, (uint64_t)i, CONTEXT_NONE, at, &(int64_t){64});
    }
    builder_lost(b, cpu, VIEW("the ring was full"), 10);
    struct profile *p = NULL;
    struct err e = {0};
    CHECK(builder_finish(b, &p, &e));
    return p;
}

static void says(const struct profile *p, uint32_t set, const char *want)
{
    own(buf) struct buf text;
    struct sink to;
    buf_init(&text, 1 << 16);
    sink_to_buf(&to, &text);
    struct report r = {.source = "x", .p = p, .set = profile_set(p, (set_id){set}), .most_rows = 5, .top = true};
    report_print(&r, &to);
    CHECK(sink_flush(&to, NULL));
    CHECK(strstr(text.data, want));
}

int main(void)
{
    own(profile) struct profile *p = two_sets();
    says(p, 0, "lost: 10 (25.00 %), the ring was full\n");
    says(p, 1, "lost: 10 of cpu, the ring was full\n");
    return CHECK_DONE();
}
