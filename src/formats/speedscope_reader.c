/* One pass over the JSON; what is read waits in tracks until all of it is there. */
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "formats/speedscope.h"
#include "formats/speedscope_tracks.h"

#include <inttypes.h>

struct file {
    struct builder *b;
    struct json_reader *j;
    struct tracks tracks;
    struct { uint32_t frame, path; } *last; /* the stack of the sample before, root first */
    size_t n_last, cap_last;
};

static void file_done(struct file *f)
{
    free(f->last);
    tracks_done(&f->tracks);
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
            f->last[depth].path = path_tree_push(&f->tracks.paths, path, frame);
        }
        path = f->last[depth++].path;
    }
    f->n_last = depth;
    track_add_path(to, path);
    return !e->kind;
}

static bool begins(struct track *t, enum track_kind kind, struct err *e)
{
    if (t->kind != TRACK_UNSAID && t->kind != kind)
        return err_set(e, ERR_MALFORMED, "both sampled and evented");
    t->kind = kind;
    return true;
}

static bool read_samples(struct file *f, struct track *to, struct err *e)
{
    struct json_token t;
    if (!begins(to, TRACK_SAMPLED, e) || !json_expect(f->j, JSON_ARRAY, &t, e))
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
    if (!begins(to, TRACK_SAMPLED, e) || !json_expect(f->j, JSON_ARRAY, &t, e))
        return false;
    while (json_next_item(f->j, &t, e)) {
        fixed weight;
        if (!to_number(&t, &weight, e))
            return false;
        if (weight < 0)
            return err_set(e, ERR_MALFORMED, "weight %zu is negative", to->n_numbers + 1);
        track_add_number(to, weight);
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
        open = path_tree_push(&f->tracks.paths, open, ev->frame);
    } else if (!t->n_open) {
        return err_set(e, ERR_MALFORMED, "event %zu closes frame %u, but none is open", no, ev->frame);
    } else if (f->tracks.paths.rows[open].step != ev->frame) {
        return err_set(e, ERR_MALFORMED, "event %zu closes frame %u, but the innermost open one is %u", no, ev->frame,
                       f->tracks.paths.rows[open].step);
    } else {
        t->n_open--;
        open = f->tracks.paths.rows[open].before;
    }
    track_add_path(t, open);
    track_add_number(t, ev->at);
    return true;
}

static bool read_events(struct file *f, struct track *to, struct err *e)
{
    struct json_token t;
    struct event ev;
    if (!begins(to, TRACK_EVENTED, e) || !json_expect(f->j, JSON_ARRAY, &t, e))
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
        return begins(to, TRACK_SAMPLED, e);
    if (view_same(word, VIEW("evented")))
        return begins(to, TRACK_EVENTED, e);
    return err_set(e, ERR_UNSUPPORTED, "neither \"sampled\" nor \"evented\"");
}

static bool read_unit(struct file *f, struct track *to, struct err *e)
{
    struct view word;
    if (!read_text(f, &word, e))
        return false;
    to->unit = track_unit_named(word);
    return to->unit || err_set(e, ERR_UNSUPPORTED, "a unit that is none of none, bytes, nanoseconds, microseconds, "
                                                   "milliseconds, seconds");
}

static bool read_name(struct file *f, struct track *to, struct err *e)
{
    struct view name;
    if (!read_text(f, &name, e))
        return false;
    to->name = (struct view){arena_text(&f->tracks.names, name), name.n};
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
    if (t->kind == TRACK_UNSAID)
        return err_set(e, ERR_MALFORMED, "neither samples nor events");
    if (t->kind == TRACK_SAMPLED && t->n_paths != t->n_numbers)
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

static bool read_profiles(struct file *f, struct err *e)
{
    struct json_token t;
    if (!json_expect(f->j, JSON_ARRAY, &t, e))
        return false;
    while (json_next_item(f->j, &t, e)) {
        struct tracks *all = &f->tracks;
        size_t i = all->n;
        if (t.kind != JSON_OBJECT)
            return err_set(e, ERR_MALFORMED, "line %" PRIu64 ": profile %zu is not an object", t.line, i + 1);
        GROW(all->rows, all->cap, i + 1);
        all->rows[all->n++] = (struct track){.unit = track_unit_named(VIEW("none"))};
        if (!read_profile(f, &all->rows[i], e))
            return tracks_in(all, i, e);
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
        return err_set(e, ERR_MALFORMED, "frame %zu has no name", f->tracks.n_functions);
    GROW(f->tracks.functions, f->tracks.cap_functions, f->tracks.n_functions + 1);
    f->tracks.functions[f->tracks.n_functions++] = function;
    return true;
}

static bool read_frames(struct file *f, struct err *e)
{
    struct json_token t;
    if (!json_expect(f->j, JSON_ARRAY, &t, e))
        return false;
    while (json_next_item(f->j, &t, e)) {
        if (t.kind != JSON_OBJECT)
            return err_set(e, ERR_MALFORMED, "line %" PRIu64 ": frame %zu is not an object", t.line, f->tracks.n_functions);
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

/* Most tools tell where a function begins; py-spy tells which of its lines was running. */
static bool read_exporter(struct file *f, struct err *e)
{
    struct view value;
    if (!read_text(f, &value, e))
        return false;
    f->tracks.lines_move = view_starts(value, VIEW("py-spy"));
    if (value.n)
        builder_fact(f->b, VIEW("exporter"), value);
    return true;
}

static bool read_name_of_file(struct file *f, struct err *e)
{
    struct view value;
    if (!read_text(f, &value, e))
        return false;
    if (value.n)
        builder_fact(f->b, VIEW("name"), value);
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
            ok = read_name_of_file(f, e);
        else if (view_same(t.text, VIEW("exporter")))
            ok = read_exporter(f, e);
        else
            ok = json_skip(f->j, e);
    }
    if (!ok || e->kind || !json_expect(f->j, JSON_END, &t, e))
        return false;
    return has_profiles || err_set(e, ERR_MALFORMED, "no \"profiles\" in it");
}

bool speedscope_read(struct builder *b, struct reader *in, struct err *e)
{
    struct err unheard = {0};
    e = e ? e : &unheard; /* the JSON reader needs one */
    own(json_reader) struct json_reader j;
    json_from(&j, in);
    own(file) struct file f = {.b = b, .j = &j};
    tracks_init(&f.tracks);
    return read_file(&f, e) && tracks_emit(&f.tracks, b, e);
}
