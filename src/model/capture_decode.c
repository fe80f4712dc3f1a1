#include "model/capture_decode.h"
#include "base/mem.h"

void decoder_init(struct decoder *d, struct builder *into)
{
    *d = (struct decoder){.into = into};
    idmap_init(&d->latest_rows);
}

void decoder_done(struct decoder *d)
{
    struct ids *all[] = {&d->strings, &d->mappings, &d->functions, &d->frames, &d->stacks,
                         &d->processes, &d->threads, &d->labels, &d->contexts, &d->spans};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        ids_done(all[i]);
    free(d->sets);
    free(d->kin);
    free(d->words);
    decode_latest_done(d);
}

/*
 * Looking up. What was lost gets a stand-in of its own, so that two different
 * lost things do not become one.
 */
static str_id lost_text(struct decoder *d, const char *what, uint32_t file_id)
{
    char text[48];
    int n = snprintf(text, sizeof text, "[lost %s %u]", what, file_id);
    return builder_string(d->into, (struct view){text, (size_t)n});
}

/* A stand-in is remembered by nobody: the same id gives the same text, and the builder knows that one. */
static bool is_lost(struct decoder *d, uint32_t id)
{
    d->stand_ins += id == IDS_LOST;
    return id == IDS_LOST;
}

str_id string_of(struct decoder *d, uint32_t file_id)
{
    uint32_t id = ids_look(&d->strings, file_id);
    return is_lost(d, id) ? lost_text(d, "name", file_id) : (str_id){id};
}

static mapping_id mapping_of(struct decoder *d, uint32_t file_id)
{
    uint32_t id = ids_look(&d->mappings, file_id);
    if (!is_lost(d, id))
        return (mapping_id){id};
    return builder_mapping(d->into, (struct mapping){.path = lost_text(d, "module", file_id)});
}

static func_id function_of(struct decoder *d, uint32_t file_id)
{
    uint32_t id = ids_look(&d->functions, file_id);
    if (!is_lost(d, id))
        return (func_id){id};
    return builder_function(d->into, (struct function){.name = lost_text(d, "function", file_id)});
}

static frame_id frame_of(struct decoder *d, uint32_t file_id)
{
    uint32_t id = ids_look(&d->frames, file_id);
    if (!is_lost(d, id))
        return (frame_id){id};
    struct function f = {.name = lost_text(d, "frame", file_id)};
    return builder_frame(d->into, (struct frame){.function = builder_function(d->into, f)});
}

static stack_id caller_of(struct decoder *d, uint32_t file_id)
{
    uint32_t id = ids_look(&d->stacks, file_id);
    if (!is_lost(d, id))
        return (stack_id){id};
    return builder_push(d->into, STACK_ROOT, builder_frame_named(d->into, VIEW("[lost callers]")));
}

/* No process has a negative number, so these stay apart from all real ones. */
static int32_t lost_number(uint32_t file_id) { return -(int32_t)(file_id & INT32_MAX); }

static process_id process_of(struct decoder *d, uint32_t file_id)
{
    uint32_t id = ids_look(&d->processes, file_id);
    return is_lost(d, id) ? builder_process(d->into, lost_number(file_id), 0) : (process_id){id};
}

thread_id thread_of(struct decoder *d, uint32_t file_id)
{
    uint32_t id = ids_look(&d->threads, file_id);
    return is_lost(d, id) ? builder_thread(d->into, PROCESS_NONE, lost_number(file_id)) : (thread_id){id};
}

labels_id labels_of(struct decoder *d, uint32_t file_id)
{
    uint32_t id = ids_look(&d->labels, file_id);
    if (!is_lost(d, id))
        return (labels_id){id};
    struct label l = {.key = builder_string(d->into, VIEW("lost")), .text = lost_text(d, "labels", file_id)};
    return builder_labels(d->into, &l, 1);
}

/* Rows of the named tables: each function reads one row and returns its id in the builder. */

static uint32_t string_row(struct decoder *d, struct cursor *c, uint32_t file_id)
{
    (void)file_id;
    return builder_string(d->into, cursor_text(c)).i;
}

static uint32_t mapping_row(struct decoder *d, struct cursor *c, uint32_t file_id)
{
    (void)file_id;
    uint32_t path = cursor_u32(c), build_id = cursor_u32(c);
    struct mapping m = {.start = cursor_varint(c)};
    m.limit = cursor_varint(c);
    m.offset = cursor_varint(c);
    m.path = string_of(d, path);
    m.build_id = string_of(d, build_id);
    return builder_mapping(d->into, m).i;
}

static uint32_t function_row(struct decoder *d, struct cursor *c, uint32_t file_id)
{
    (void)file_id;
    uint32_t name = cursor_u32(c), file = cursor_u32(c), line = cursor_u32(c), mapping = cursor_u32(c);
    struct function f = {.name = string_of(d, name), .file = string_of(d, file), .line = line,
                         .mapping = mapping_of(d, mapping)};
    return builder_function(d->into, f).i;
}

static uint32_t frame_row(struct decoder *d, struct cursor *c, uint32_t file_id)
{
    (void)file_id;
    uint32_t function = cursor_u32(c);
    struct frame f = {.line = cursor_u32(c)};
    f.address = cursor_varint(c);
    uint64_t kind = cursor_varint(c);
    f.kind = kind < FRAME_KIND_COUNT ? (enum frame_kind)kind : FRAME_NATIVE;
    f.function = function_of(d, function);
    return builder_frame(d->into, f).i;
}

static uint32_t stack_row(struct decoder *d, struct cursor *c, uint32_t file_id)
{
    uint32_t back = cursor_u32(c), frame = cursor_u32(c);
    if (!back || back > file_id)
        return (uint32_t)cursor_fail(c);
    stack_id caller = caller_of(d, file_id - back);
    return builder_push(d->into, caller, frame_of(d, frame)).i;
}

size_t decode_label_list(struct decoder *d, struct cursor *c, struct label **out)
{
    size_t n = cursor_count(c, 4);
    struct label *labels = *out = mem_new(n * sizeof *labels);
    for (size_t i = 0; i < n; i++) {
        uint32_t key = cursor_u32(c), text = cursor_u32(c);
        labels[i].number = cursor_signed(c);
        labels[i].unit = string_of(d, cursor_u32(c));
        labels[i].key = string_of(d, key);
        labels[i].text = string_of(d, text);
    }
    return n;
}

static uint32_t labels_row(struct decoder *d, struct cursor *c, uint32_t file_id)
{
    (void)file_id;
    own(free) struct label *labels = NULL;
    size_t n = decode_label_list(d, c, &labels);
    d->labels_taken += n;
    return c->bad ? 0 : builder_labels(d->into, labels, n).i;
}

static uint32_t context_row(struct decoder *d, struct cursor *c, uint32_t file_id)
{
    (void)file_id;
    uint32_t thread = cursor_u32(c), labels = cursor_u32(c);
    thread_id t = thread_of(d, thread);
    return builder_context(d->into, t, labels_of(d, labels)).i;
}

/* Processes and threads come again when they get another name; the later name counts. */

static uint32_t process_row(struct decoder *d, struct cursor *c, uint32_t file_id)
{
    int32_t pid = cursor_i32(c);
    uint64_t start_ns = cursor_varint(c);
    uint32_t name = cursor_u32(c), known = ids_look(&d->processes, file_id);
    if (c->bad)
        return 0;
    process_id id = known == IDS_LOST ? builder_process(d->into, pid, start_ns) : (process_id){known};
    builder_name_process(d->into, id, profile_string(builder_view(d->into), string_of(d, name)));
    return id.i;
}

static uint32_t thread_row(struct decoder *d, struct cursor *c, uint32_t file_id)
{
    uint32_t process = cursor_u32(c);
    int32_t tid = cursor_i32(c);
    uint32_t name = cursor_u32(c), known = ids_look(&d->threads, file_id);
    if (c->bad)
        return 0;
    thread_id id = known == IDS_LOST ? builder_thread(d->into, process_of(d, process), tid) : (thread_id){known};
    builder_name_thread(d->into, id, profile_string(builder_view(d->into), string_of(d, name)));
    return id.i;
}

typedef uint32_t (*row_reader)(struct decoder *d, struct cursor *c, uint32_t file_id);

static bool decode_rows(struct decoder *d, struct cursor *c, struct ids *ids, row_reader row, bool may_repeat, size_t *out_rows)
{
    uint32_t first = cursor_u32(c);
    size_t n = cursor_count(c, 1);
    if (c->bad || !first || n > CHUNK_ROWS_MOST || first > UINT32_MAX - 1 - n || (first < ids_end(ids) && !may_repeat))
        return false;
    *out_rows = n;
    for (uint32_t i = first; i < first + n; i++) {
        uint32_t id = row(d, c, i);
        if (c->bad)
            return false;
        if (i >= ids_end(ids))
            ids_add(ids, i, id);
    }
    return true;
}

/* A table of named rows, or something with a shape of its own. */
static const struct {
    row_reader row;
    size_t ids; /* where in the decoder */
    bool may_repeat;
    bool (*whole)(struct decoder *d, struct cursor *c, size_t *out_rows);
} decoders[CHUNK_TYPE_COUNT] = {
    [CHUNK_STRINGS]   = {string_row,   offsetof(struct decoder, strings)},
    [CHUNK_MAPPINGS]  = {mapping_row,  offsetof(struct decoder, mappings)},
    [CHUNK_FUNCTIONS] = {function_row, offsetof(struct decoder, functions)},
    [CHUNK_FRAMES]    = {frame_row,    offsetof(struct decoder, frames)},
    [CHUNK_STACKS]    = {stack_row,    offsetof(struct decoder, stacks)},
    [CHUNK_PROCESSES] = {process_row,  offsetof(struct decoder, processes), .may_repeat = true},
    [CHUNK_THREADS]   = {thread_row,   offsetof(struct decoder, threads), .may_repeat = true},
    [CHUNK_LABELS]    = {labels_row,   offsetof(struct decoder, labels)},
    [CHUNK_CONTEXTS]  = {context_row,  offsetof(struct decoder, contexts)},
    [CHUNK_SAMPLES]   = {.whole = decode_samples},
    [CHUNK_SPANS]     = {.whole = decode_spans},
    [CHUNK_SPAN_CHANGES] = {.whole = decode_span_changes},
    [CHUNK_READINGS]  = {.whole = decode_readings},
    [CHUNK_FACTS]     = {.whole = decode_facts},
    [CHUNK_LOSSES]    = {.whole = decode_losses},
    [CHUNK_NOTES]     = {.whole = decode_notes},
    [CHUNK_CLOCK]     = {.whole = decode_clock},
    [CHUNK_LATEST]    = {.whole = decode_latest},
};

bool decode_chunk(struct decoder *d, const struct chunk *chunk, size_t *out_rows)
{
    struct cursor c = cursor_over(chunk->payload);
    *out_rows = 0;
    if (decoders[chunk->type].whole)
        return decoders[chunk->type].whole(d, &c, out_rows);
    if (!decoders[chunk->type].row)
        return true; /* the index, and what only a newer version knows */
    struct ids *ids = (struct ids *)(void *)((char *)d + decoders[chunk->type].ids);
    return decode_rows(d, &c, ids, decoders[chunk->type].row, decoders[chunk->type].may_repeat, out_rows);
}
