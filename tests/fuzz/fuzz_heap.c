/*
 * A heap recording that says anything: bytes become samples, spans, facts and readings of the sets that a recorder writes,
 * with whatever values and labels. Every section in every format is made of it, the difference with itself, and what it
 * adds up to. Nothing may be computed that C does not define, and a recording is no different from itself.
 *
 *     operation (1 byte) | operands, as many as it takes | operation | ...
 */
#include "analyse/heap_change.h"
#include "base/json.h"
#include "model/builder.h"
#include "model/settle.h"
#include "render/heap_view.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct story {
    const uint8_t *at, *end;
    struct builder *b;
    set_id heap, variance, sizes, lifetimes, blocks, mappings;
};

static uint8_t byte(struct story *s) { return s->at < s->end ? *s->at++ : 0; }

/* Small numbers mostly, and sometimes the largest there are; but for the one that has no opposite. */
static int64_t number(struct story *s)
{
    uint8_t n = byte(s), shift = byte(s);
    int64_t shifted = (int64_t)((uint64_t)(int8_t)n << shift % 64);
    return shift < 64 ? (shifted == INT64_MIN ? 0 : shifted) : shift < 96 ? INT64_MAX - n : shift < 128 ? INT64_MIN + 1 + n : (int8_t)n;
}

static uint64_t moment(struct story *s)
{
    uint8_t n = byte(s);
    return n == 255 ? TIME_NONE : n == 254 ? TIME_NONE - 1 : (uint64_t)n * UINT64_C(100000000);
}

static stack_id stack(struct story *s)
{
    static const char *const names[] = {"main", "<script>", "leaky", "\xff\x1b", "_start", "clone3", "", "operator new[]"};
    stack_id at = STACK_ROOT;
    for (uint8_t path = byte(s), depth = path >> 6; depth < 4 && path; depth++, path = (uint8_t)(path >> 1))
        at = builder_push(s->b, at, builder_frame_named(s->b, view_of(names[path % 8])));
    return at;
}

static labels_id labels(struct story *s)
{
    static const char *const keys[] = {"request", "phase", "scope", "size_class", "lifetime_class", "address", "map_kind", "path", "weights"};
    struct label l[3];
    size_t n = byte(s) % 4;
    for (size_t i = 0; i < n; i++) {
        uint8_t key = byte(s) % 9, text = byte(s) % 4;
        l[i] = (struct label){.key = builder_string(s->b, view_of(keys[key])), .number = number(s)};
        l[i].text = builder_string(s->b, (struct view){"abc", text});
    }
    return builder_labels(s->b, l, n);
}

static context_id context(struct story *s)
{
    thread_id t = builder_thread(s->b, builder_process(s->b, 1, 0), byte(s) % 4);
    return builder_context(s->b, t, labels(s));
}

static void sample(struct story *s, set_id set, size_t n)
{
    int64_t values[MEASURES_MOST];
    uint64_t t = moment(s);
    context_id c = context(s);
    stack_id at = stack(s);
    for (size_t i = 0; i < n; i++)
        values[i] = number(s);
    builder_sample(s->b, set, t, c, at, values);
}

static void span(struct story *s)
{
    struct span row = {.start_ns = moment(s), .length_ns = moment(s), .kind = (enum span_kind)(byte(s) % SPAN_KIND_COUNT)};
    row.thread = builder_thread(s->b, builder_process(s->b, 1, 0), byte(s) % 4);
    row.name = builder_string(s->b, (struct view){"xyz", byte(s) % 4});
    row.labels = labels(s);
    builder_span(s->b, row);
}

static void fact(struct story *s)
{
    static const char *const keys[] = {"heap.mode", "heap.period", "heap.allocations", "heap.frees", "heap.allocated_bytes", "heap.freed_bytes",
                                       "heap.live_bytes", "heap.live_blocks", "heap.peak_bytes", "heap.peak_time_ns", "heap.unseen", "heap.note"};
    char text[32];
    uint8_t key = byte(s) % 12, how = byte(s);
    snprintf(text, sizeof text, "%lld", (long long)number(s));
    builder_fact(s->b, view_of(keys[key]), how < 128 ? view_of(text) : how < 192 ? VIEW("sampled") : VIEW("exact"));
}

static void reading(struct story *s)
{
    series_id live = builder_series(s->b, VIEW("heap.live"), UNIT_BYTES, VIEW(""), (labels_id){0});
    uint64_t t = moment(s);
    builder_reading(s->b, live, t == TIME_NONE ? 0 : t, (double)number(s));
}

static void operation(struct story *s)
{
    switch (byte(s) % 10) {
    case 0: sample(s, s->variance, 1); return;
    case 1: sample(s, s->sizes, 2); return;
    case 2: sample(s, s->lifetimes, 2); return;
    case 3: sample(s, s->blocks, 3); return;
    case 4: sample(s, s->mappings, 2); return;
    case 5: span(s); return;
    case 6: fact(s); return;
    case 7: reading(s); return;
    default: sample(s, s->heap, 8); return;
    }
}

static void make_sets(struct story *s)
{
#define M(n, u) {.name = {n, sizeof n - 1}, .unit = u}
    static const struct measure_spec heap[] = {
        M("alloc_objects", UNIT_COUNT), M("alloc_space", UNIT_BYTES), M("inuse_objects", UNIT_COUNT), M("inuse_space", UNIT_BYTES),
        M("peak_objects", UNIT_COUNT), M("peak_space", UNIT_BYTES), M("temporary", UNIT_COUNT), M("samples", UNIT_COUNT),
    };
    static const struct measure_spec classes[] = {M("objects", UNIT_COUNT), M("bytes", UNIT_BYTES)}, variance[] = {M("variance", UNIT_OTHER)};
    static const struct measure_spec blocks[] = {M("bytes", UNIT_BYTES), M("freed", UNIT_COUNT), M("lifetime_ns", UNIT_NS)};
    static const struct measure_spec mappings[] = {M("mapped_objects", UNIT_COUNT), M("mapped_space", UNIT_BYTES)};
#undef M
    s->heap = builder_set(s->b, VIEW("heap"), heap, 8);
    s->variance = builder_set(s->b, VIEW("heap.variance"), variance, 1);
    s->sizes = builder_set(s->b, VIEW("heap.sizes"), classes, 2);
    s->lifetimes = builder_set(s->b, VIEW("heap.lifetimes"), classes, 2);
    s->blocks = builder_set(s->b, VIEW("heap.blocks"), blocks, 3);
    s->mappings = builder_set(s->b, VIEW("mappings"), mappings, 2);
}

static bool nowhere(void *self, struct view bytes, struct err *e)
{
    (void)self, (void)bytes, (void)e;
    return true;
}

static void view(const struct profile *p, enum heap_parts parts, bool filtered)
{
    struct sink out;
    struct json_writer w;
    own(heap_view) struct heap_view v = {0};
    struct heap_look look = {.parts = parts, .most_rows = 3, .filtered = filtered, .tokens = 7, .change = "since then"};
    sink_to_function(&out, nowhere, NULL);
    if (!heap_view_of(&v, p, &look))
        abort(); /* the set is there, if only empty */
    heap_print(&v, &(struct table_style){.width = 60}, &out);
    heap_markdown(&v, &out);
    heap_html(&v, &out);
    heap_csv(&v, &out);
    json_to(&w, &out);
    json_open(&w, '{');
    heap_json(&v, &w);
    json_close(&w, '}');
    heap_blocks_csv(p, &out);
    (void)!sink_flush(&out, NULL);
}

static void check_no_change(const struct profile *p)
{
    own(profile) struct profile *change = NULL;
    if (!heap_change_of(p, p, &change, NULL))
        return; /* past 2^63 on the way */
    own(heap) struct heap h = {0};
    if (heap_of(&h, change, true) && (h.whole.of[HEAP_LIVE_BYTES] || h.whole.of[HEAP_ALLOCS]))
        abort(); /* it differs from itself */
    view(change, HEAP_CHANGE, true);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct story s = {.at = data, .end = data + (size < 8192 ? size : 8192), .b = builder_new()};
    make_sets(&s);
    while (s.at < s.end)
        operation(&s);
    own(profile) struct profile *p = NULL, *settled = NULL;
    if (!builder_finish(s.b, &p, NULL))
        return 0;
    for (int parts = HEAP_SHORT; parts <= HEAP_CHANGE; parts++)
        view(p, (enum heap_parts)parts, parts % 2);
    check_no_change(p);
    if (profile_settled(p, &settled, NULL) && !profile_is_settled(settled))
        abort();
    return 0;
}
