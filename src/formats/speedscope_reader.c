/*
 * A file is read in one pass although its parts may come in any order: the
 * names of the frames usually stand behind the samples that use them, the unit
 * of a profile may stand behind its numbers. So until the end
 *
 *   - stacks are paths of frame indices in one tree for the whole file,
 *   - a profile is a track: rows of (path, number), the number as exact as it
 *     was written,
 *
 * and only then do indices become frames, paths stacks and numbers values.
 *
 * In time both kinds of track are the same thing, a row of positions:
 *
 *     sampled    start ── weight ──┬── weight ──┬── weight ──┐
 *     evented    at ───────────────at ──────────at ──────────at
 *
 * The value of a row is the difference of two *rounded* positions. Each may be
 * off by half a nanosecond, their sum is not: it is last minus first.
 */
#include "base/arena.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "formats/fixed_point.h"
#include "formats/path_tree.h"
#include "formats/speedscope.h"

#include <inttypes.h>

enum dimension { TIME, COUNT, BYTES, DIMENSION_COUNT };

static const struct unit_row {
    struct view word;
    enum dimension dimension;
    unsigned ns_digits; /* a unit of time is 10^this ns */
} units[] = {
    {VIEW("none"),         COUNT, 0},
    {VIEW("bytes"),        BYTES, 0},
    {VIEW("nanoseconds"),  TIME,  0},
    {VIEW("microseconds"), TIME,  3},
    {VIEW("milliseconds"), TIME,  6},
    {VIEW("seconds"),      TIME,  9},
};

/* What the profiles of one dimension become. */
static const struct set_row {
    struct view name;
    enum unit unit;
} sets[DIMENSION_COUNT] = {
    [TIME] = {VIEW("time"), UNIT_NS},
    [COUNT] = {VIEW("samples"), UNIT_COUNT},
    [BYTES] = {VIEW("bytes"), UNIT_BYTES},
};

enum track_kind { KIND_UNSAID, SAMPLED, EVENTED };

struct track {
    struct view name;
    const struct unit_row *unit;
    enum track_kind kind;
    fixed start;

    uint32_t *paths;  /* sampled: of each sample; evented: what is open after each event */
    size_t n_paths, cap_paths;
    fixed *numbers;   /* sampled: weights; evented: when */
    size_t n_numbers, cap_numbers;
    unsigned decimals; /* behind the point of any of the numbers */
    size_t n_events, n_open;
    uint32_t largest_frame;
    bool has_frames;
};

struct file {
    struct builder *b;
    struct json_reader *j;
    struct arena names;
    struct path_tree paths;
    struct track *tracks;
    size_t n_tracks, cap_tracks;
    frame_id *frames;
    size_t n_frames, cap_frames;

    struct { uint32_t frame, path; } *last; /* the stack of the sample before, root first */
    size_t n_last, cap_last;
};

static void file_done(struct file *f)
{
    for (size_t i = 0; i < f->n_tracks; i++) {
        free(f->tracks[i].paths);
        free(f->tracks[i].numbers);
    }
    free(f->tracks);
    free(f->frames);
    free(f->last);
    arena_done(&f->names);
    path_tree_done(&f->paths);
}
DEFINE_OWN_IN_PLACE(file, struct file)

/* The value of a key: a text or null, which is as good as absent. */
static bool read_text(struct file *f, struct view *out, struct err *e)
{
    struct json_token t;
    if (!json_next(f->j, &t, e))
        return false;
    if (t.kind != JSON_TEXT && t.kind != JSON_NULL)
        return err_set(e, ERR_MALFORMED, "line %" PRIu64 ": expected a text, found %s", t.line, json_kind_name(t.kind));
    *out = t.text;
    return true;
}

static bool to_number(const struct json_token *t, fixed *out, struct err *e)
{
    if (t->kind != JSON_NUMBER)
        return err_set(e, ERR_MALFORMED, "line %" PRIu64 ": expected a number, found %s", t->line, json_kind_name(t->kind));
    if (!fixed_from_text(t->text, out))
        return err_set(e, ERR_LIMIT, "line %" PRIu64 ": a number of 10^19 or more", t->line);
    return true;
}

static bool to_frame(const struct json_token *t, struct track *to, uint32_t *out, struct err *e)
{
    uint64_t n;
    if (t->kind != JSON_NUMBER || !text_to_uint(t->text, &n) || n >= UINT32_MAX)
        return err_set(e, ERR_MALFORMED, "line %" PRIu64 ": the index of a frame is a whole number", t->line);
    *out = (uint32_t)n;
    to->has_frames = true;
    if (*out > to->largest_frame)
        to->largest_frame = *out;
    return true;
}

static void add_path(struct track *t, uint32_t path)
{
    GROW(t->paths, t->cap_paths, t->n_paths + 1);
    t->paths[t->n_paths++] = path;
}

static void add_number(struct track *t, fixed n)
{
    GROW(t->numbers, t->cap_numbers, t->n_numbers + 1);
    t->numbers[t->n_numbers++] = n;
    unsigned decimals = fixed_decimals(n);
    if (decimals > t->decimals)
        t->decimals = decimals;
}

/* Sampled. One stack; as far as it is the one before, its path is known. */
static bool read_stack(struct file *f, struct track *to, struct err *e)
{
    struct json_token t;
    uint32_t path = 0, frame = 0;
    size_t depth = 0;
    bool as_before = true;
    while (json_next_item(f->j, &t, e)) {
        if (!to_frame(&t, to, &frame, e))
            return false;
        as_before = as_before && depth < f->n_last && f->last[depth].frame == frame;
        if (!as_before) {
            GROW(f->last, f->cap_last, depth + 1);
            f->last[depth].frame = frame;
            f->last[depth].path = path_tree_push(&f->paths, path, frame);
        }
        path = f->last[depth++].path;
    }
    f->n_last = depth;
    add_path(to, path);
    return !e->kind;
}

static bool begins(struct track *t, enum track_kind kind, struct err *e)
{
    if (t->kind != KIND_UNSAID && t->kind != kind)
        return err_set(e, ERR_MALFORMED, "both sampled and evented");
    t->kind = kind;
    return true;
}

static bool read_samples(struct file *f, struct track *to, struct err *e)
{
    struct json_token t;
    if (!begins(to, SAMPLED, e) || !json_expect(f->j, JSON_ARRAY, &t, e))
        return false;
    while (json_next_item(f->j, &t, e)) {
        if (t.kind != JSON_ARRAY)
            return err_set(e, ERR_MALFORMED, "line %" PRIu64 ": sample %zu is not an array", t.line, to->n_paths + 1);
        if (!read_stack(f, to, e))
            return false;
    }
    return !e->kind;
}

static bool read_weights(struct file *f, struct track *to, struct err *e)
{
    struct json_token t;
    if (!begins(to, SAMPLED, e) || !json_expect(f->j, JSON_ARRAY, &t, e))
        return false;
    while (json_next_item(f->j, &t, e)) {
        fixed weight;
        if (!to_number(&t, &weight, e))
            return false;
        if (weight < 0)
            return err_set(e, ERR_MALFORMED, "weight %zu is negative", to->n_numbers + 1);
        add_number(to, weight);
    }
    return !e->kind;
}

/* Evented. */

struct event {
    char type; /* 'O', 'C'; 0: not said */
    bool has_frame, has_at;
    uint32_t frame;
    fixed at;
};

static bool read_event_key(struct file *f, struct track *to, struct view key, struct event *out, struct err *e)
{
    struct json_token t;
    struct view word;
    if (view_same(key, VIEW("type"))) {
        if (!read_text(f, &word, e))
            return false;
        out->type = word.n == 1 ? word.at[0] : '?';
        return true;
    }
    if (view_same(key, VIEW("frame"))) {
        out->has_frame = true;
        return json_next(f->j, &t, e) && to_frame(&t, to, &out->frame, e);
    }
    if (view_same(key, VIEW("at"))) {
        out->has_at = true;
        return json_next(f->j, &t, e) && to_number(&t, &out->at, e);
    }
    return json_skip(f->j, e);
}

static bool read_event(struct file *f, struct track *to, struct event *out, struct err *e)
{
    struct json_token t;
    *out = (struct event){0};
    while (json_next_key(f->j, &t, e))
        if (!read_event_key(f, to, t.text, out, e))
            return false;
    return !e->kind;
}

static bool check_event(const struct track *t, const struct event *ev, size_t no, struct err *e)
{
    if (!ev->has_frame || !ev->has_at || !ev->type)
        return err_set(e, ERR_MALFORMED, "event %zu has no '%s'", no, !ev->type ? "type" : !ev->has_at ? "at" : "frame");
    if (ev->type != 'O' && ev->type != 'C')
        return err_set(e, ERR_MALFORMED, "event %zu is neither 'O' (opens) nor 'C' (closes)", no);
    if (t->n_numbers && ev->at < t->numbers[t->n_numbers - 1])
        return err_set(e, ERR_MALFORMED, "event %zu goes back in time", no);
    return true;
}

static bool apply_event(struct file *f, struct track *t, const struct event *ev, struct err *e)
{
    size_t no = ++t->n_events;
    if (!check_event(t, ev, no, e))
        return false;
    uint32_t open = t->n_paths ? t->paths[t->n_paths - 1] : 0;
    if (ev->type == 'O') {
        t->n_open++;
        open = path_tree_push(&f->paths, open, ev->frame);
    } else if (!t->n_open) {
        return err_set(e, ERR_MALFORMED, "event %zu closes frame %u, but none is open", no, ev->frame);
    } else if (f->paths.rows[open].step != ev->frame) {
        return err_set(e, ERR_MALFORMED, "event %zu closes frame %u, but the innermost open one is %u", no, ev->frame,
                       f->paths.rows[open].step);
    } else {
        t->n_open--;
        open = f->paths.rows[open].before;
    }
    add_path(t, open);
    add_number(t, ev->at);
    return true;
}

static bool read_events(struct file *f, struct track *to, struct err *e)
{
    struct json_token t;
    struct event ev;
    if (!begins(to, EVENTED, e) || !json_expect(f->j, JSON_ARRAY, &t, e))
        return false;
    while (json_next_item(f->j, &t, e)) {
        if (t.kind != JSON_OBJECT)
            return err_set(e, ERR_MALFORMED, "event %zu is not an object", to->n_events + 1);
        if (!read_event(f, to, &ev, e) || !apply_event(f, to, &ev, e))
            return false;
    }
    return !e->kind;
}

/* The other keys of a profile. */

static bool read_type(struct file *f, struct track *to, struct err *e)
{
    struct view word;
    if (!read_text(f, &word, e))
        return false;
    if (view_same(word, VIEW("sampled")))
        return begins(to, SAMPLED, e);
    if (view_same(word, VIEW("evented")))
        return begins(to, EVENTED, e);
    return err_set(e, ERR_UNSUPPORTED, "neither \"sampled\" nor \"evented\"");
}

static bool read_unit(struct file *f, struct track *to, struct err *e)
{
    struct view word;
    if (!read_text(f, &word, e))
        return false;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (view_same(word, units[i].word)) {
            to->unit = &units[i];
            return true;
        }
    return err_set(e, ERR_UNSUPPORTED, "a unit that is none of none, bytes, nanoseconds, microseconds, milliseconds, seconds");
}

static bool read_name(struct file *f, struct track *to, struct err *e)
{
    struct view name;
    if (!read_text(f, &name, e))
        return false;
    to->name = (struct view){arena_text(&f->names, name), name.n};
    return true;
}

static bool read_start(struct file *f, struct track *to, struct err *e)
{
    struct json_token t;
    return json_next(f->j, &t, e) && to_number(&t, &to->start, e);
}

static const struct {
    struct view key;
    bool (*read)(struct file *f, struct track *to, struct err *e);
} profile_keys[] = {
    {VIEW("type"),       read_type},
    {VIEW("name"),       read_name},
    {VIEW("unit"),       read_unit},
    {VIEW("startValue"), read_start},
    {VIEW("samples"),    read_samples},
    {VIEW("weights"),    read_weights},
    {VIEW("events"),     read_events},
};

static bool read_profile_key(struct file *f, struct track *to, struct view key, struct err *e)
{
    for (size_t i = 0; i < sizeof profile_keys / sizeof *profile_keys; i++)
        if (view_same(key, profile_keys[i].key))
            return profile_keys[i].read(f, to, e);
    return json_skip(f->j, e);
}

static bool check_track(const struct track *t, struct err *e)
{
    if (t->kind == KIND_UNSAID)
        return err_set(e, ERR_MALFORMED, "neither samples nor events");
    if (t->kind == SAMPLED && t->n_paths != t->n_numbers)
        return err_set(e, ERR_MALFORMED, "%zu samples, but %zu weights", t->n_paths, t->n_numbers);
    if (t->n_open)
        return err_set(e, ERR_MALFORMED, "frames are still open after the last event: %zu", t->n_open);
    return true;
}

static bool read_profile(struct file *f, struct track *to, struct err *e)
{
    struct json_token t;
    while (json_next_key(f->j, &t, e))
        if (!read_profile_key(f, to, t.text, e))
            return false;
    return !e->kind && check_track(to, e);
}

/* Which profile it was about; its name as far as it can be printed. */
static bool in_track(const struct file *f, size_t i, struct err *e)
{
    char name[48];
    struct view v = f->tracks[i].name;
    size_t n = v.n < sizeof name ? v.n : sizeof name - 1;
    for (size_t c = 0; c < n; c++)
        name[c] = v.at[c] >= 0x20 && v.at[c] < 0x7f ? v.at[c] : '?';
    name[n] = '\0';
    return n ? err_in(e, "profile %zu '%s'", i + 1, name) : err_in(e, "profile %zu", i + 1);
}

static bool read_profiles(struct file *f, struct err *e)
{
    struct json_token t;
    if (!json_expect(f->j, JSON_ARRAY, &t, e))
        return false;
    while (json_next_item(f->j, &t, e)) {
        size_t i = f->n_tracks;
        if (t.kind != JSON_OBJECT)
            return err_set(e, ERR_MALFORMED, "line %" PRIu64 ": profile %zu is not an object", t.line, i + 1);
        GROW(f->tracks, f->cap_tracks, i + 1);
        f->tracks[f->n_tracks++] = (struct track){.unit = &units[0]};
        f->n_last = 0;
        if (!read_profile(f, &f->tracks[i], e))
            return in_track(f, i, e);
    }
    return !e->kind;
}

/* The frames all profiles share. */

static bool read_line_no(struct file *f, uint32_t *out, struct err *e)
{
    struct json_token t;
    uint64_t n;
    if (!json_next(f->j, &t, e))
        return false;
    if (t.kind == JSON_NUMBER && text_to_uint(t.text, &n) && n <= UINT32_MAX)
        *out = (uint32_t)n;
    return json_skip_rest(f->j, &t, e);
}

static bool read_frame(struct file *f, struct err *e)
{
    struct function function = {0};
    bool has_name = false;
    struct json_token t;
    struct view text;
    while (json_next_key(f->j, &t, e)) {
        bool is_name = view_same(t.text, VIEW("name"));
        if (is_name || view_same(t.text, VIEW("file"))) {
            if (!read_text(f, &text, e))
                return false;
            *(is_name ? &function.name : &function.file) = builder_string(f->b, text);
            has_name |= is_name;
        } else if (view_same(t.text, VIEW("line")) ? !read_line_no(f, &function.line, e) : !json_skip(f->j, e)) {
            return false;
        }
    }
    if (e->kind)
        return false;
    if (!has_name)
        return err_set(e, ERR_MALFORMED, "frame %zu has no name", f->n_frames);
    GROW(f->frames, f->cap_frames, f->n_frames + 1);
    f->frames[f->n_frames++] = builder_frame(f->b, (struct frame){.function = builder_function(f->b, function)});
    return true;
}

static bool read_frames(struct file *f, struct err *e)
{
    struct json_token t;
    if (!json_expect(f->j, JSON_ARRAY, &t, e))
        return false;
    while (json_next_item(f->j, &t, e)) {
        if (t.kind != JSON_OBJECT)
            return err_set(e, ERR_MALFORMED, "line %" PRIu64 ": frame %zu is not an object", t.line, f->n_frames);
        if (!read_frame(f, e))
            return false;
    }
    return !e->kind;
}

static bool read_shared(struct file *f, struct err *e)
{
    struct json_token t;
    if (!json_expect(f->j, JSON_OBJECT, &t, e))
        return false;
    while (json_next_key(f->j, &t, e))
        if (view_same(t.text, VIEW("frames")) ? !read_frames(f, e) : !json_skip(f->j, e))
            return false;
    return !e->kind;
}

static bool read_fact(struct file *f, struct view key, struct err *e)
{
    struct view value;
    if (!read_text(f, &value, e))
        return false;
    if (value.n)
        builder_fact(f->b, key, value);
    return true;
}

static bool read_file(struct file *f, struct err *e)
{
    struct json_token t;
    if (!json_expect(f->j, JSON_OBJECT, &t, e))
        return false;
    bool ok = true, has_profiles = false;
    while (ok && json_next_key(f->j, &t, e)) {
        if (view_same(t.text, VIEW("profiles")))
            ok = has_profiles = read_profiles(f, e);
        else if (view_same(t.text, VIEW("shared")))
            ok = read_shared(f, e);
        else if (view_same(t.text, VIEW("name")))
            ok = read_fact(f, VIEW("name"), e);
        else if (view_same(t.text, VIEW("exporter")))
            ok = read_fact(f, VIEW("exporter"), e);
        else
            ok = json_skip(f->j, e);
    }
    if (!ok || e->kind || !json_expect(f->j, JSON_END, &t, e))
        return false;
    return has_profiles || err_set(e, ERR_MALFORMED, "no \"profiles\" in it");
}

/* Everything is known now. */

static bool check_frames(const struct file *f, struct err *e)
{
    for (size_t i = 0; i < f->n_tracks; i++)
        if (f->tracks[i].has_frames && f->tracks[i].largest_frame >= f->n_frames) {
            err_set(e, ERR_MALFORMED, "frame %u does not exist: there are %zu, counted from 0",
                    f->tracks[i].largest_frame, f->n_frames);
            return in_track(f, i, e);
        }
    if (f->paths.full)
        return err_set(e, ERR_LIMIT, "more than 4 294 967 295 different stacks");
    return true;
}

static stack_id *make_stacks(struct file *f)
{
    stack_id *stacks = mem_resize(NULL, f->paths.n * sizeof *stacks);
    stacks[0] = STACK_ROOT;
    for (size_t i = 1; i < f->paths.n; i++)
        stacks[i] = builder_push(f->b, stacks[f->paths.rows[i].before], f->frames[f->paths.rows[i].step]);
    return stacks;
}

static size_t rows_of(const struct track *t)
{
    return t->kind == EVENTED && t->n_numbers ? t->n_numbers - 1 : t->n_numbers;
}

/* Where the first row begins. Counts and bytes have no place in time. */
static fixed first_position(const struct track *t)
{
    if (t->kind == EVENTED)
        return t->n_numbers ? t->numbers[0] : 0;
    return t->unit->dimension == TIME ? t->start : 0;
}

/*
 * Fractions of a count are kept: as many digits as any number of the dimension
 * needs, but no more than let the sum of all fit into 63 bits.
 */
static bool decimals_for(const struct file *f, enum dimension d, unsigned *out, struct err *e)
{
    unsigned decimals = 0;
    fixed sum = 0;
    for (size_t i = 0; i < f->n_tracks; i++) {
        const struct track *t = &f->tracks[i];
        if (t->unit->dimension != d)
            continue;
        decimals = t->decimals > decimals ? t->decimals : decimals;
        for (size_t k = 0; t->kind == SAMPLED && k < t->n_numbers && sum < FIXED_LARGEST; k++)
            sum += t->numbers[k];
        if (t->kind == EVENTED && t->n_numbers)
            sum += t->numbers[t->n_numbers - 1] - t->numbers[0];
        if (sum >= FIXED_LARGEST)
            return err_set(e, ERR_LIMIT, "the values of '%s' add up past 2^63", sets[d].name.at);
    }
    decimals = d == TIME ? 0 : decimals;
    while (decimals && fixed_rounded(sum, decimals) > INT64_MAX - (fixed)f->n_tracks) /* each may round up once */
        decimals--;
    *out = decimals;
    return true;
}

/* A position as the model has it: whole nanoseconds, or counts with so many decimals. */
static fixed in_model(const struct track *t, unsigned decimals, fixed position)
{
    return fixed_rounded(position, t->unit->ns_digits + decimals);
}

static bool emit_track(struct file *f, size_t i, set_id set, unsigned decimals, const stack_id *stacks, struct err *e)
{
    const struct track *t = &f->tracks[i];
    bool in_time = t->unit->dimension == TIME;
    thread_id thread = builder_thread(f->b, PROCESS_NONE, -(int32_t)i - 1); /* its number nobody said */
    builder_name_thread(f->b, thread, t->name);
    context_id context = builder_context(f->b, thread, LABELS_NONE);

    fixed position = first_position(t), from = in_model(t, decimals, position);
    for (size_t k = 0; k < rows_of(t); k++) {
        position = t->kind == EVENTED ? t->numbers[k + 1] : position + t->numbers[k];
        fixed to = in_model(t, decimals, position);
        if (position >= FIXED_LARGEST || to > INT64_MAX || to - from > INT64_MAX)
            return err_set(e, ERR_LIMIT, "the values add up past 2^63");
        int64_t value = (int64_t)(to - from);
        uint64_t time_ns = in_time && from >= 0 ? (uint64_t)from : TIME_NONE;
        /* Between events, nothing open or nothing passed is nothing measured. */
        if (t->kind == SAMPLED || (t->paths[k] && value))
            builder_sample(f->b, set, time_ns, context, stacks[t->paths[k]], &value);
        from = to;
    }
    return true;
}

static bool emit(struct file *f, struct err *e)
{
    if (!check_frames(f, e))
        return false;
    own(free) stack_id *stacks = make_stacks(f);
    unsigned decimals[DIMENSION_COUNT];
    for (enum dimension d = 0; d < DIMENSION_COUNT; d++)
        if (!decimals_for(f, d, &decimals[d], e))
            return false;
    for (size_t i = 0; i < f->n_tracks; i++) {
        enum dimension d = f->tracks[i].unit->dimension;
        struct measure_spec measure = {.name = sets[d].name, .unit = sets[d].unit, .decimals = decimals[d]};
        set_id set = builder_set(f->b, sets[d].name, &measure, 1);
        if (!emit_track(f, i, set, decimals[d], stacks, e))
            return in_track(f, i, e);
    }
    return true;
}

bool speedscope_read(struct builder *b, struct reader *in, struct err *e)
{
    struct err unheard = {0};
    e = e ? e : &unheard; /* the JSON reader needs one */
    own(json_reader) struct json_reader j;
    json_from(&j, in);
    own(file) struct file f = {.b = b, .j = &j};
    path_tree_init(&f.paths);
    return read_file(&f, e) && emit(&f, e);
}
