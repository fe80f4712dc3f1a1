#include "formats/speedscope_tracks.h"
#include "base/mem.h"

static const struct track_unit units[] = {
    {VIEW("none"),         DIMENSION_COUNT, 0},
    {VIEW("bytes"),        DIMENSION_BYTES, 0},
    {VIEW("nanoseconds"),  DIMENSION_TIME,  0},
    {VIEW("microseconds"), DIMENSION_TIME,  3},
    {VIEW("milliseconds"), DIMENSION_TIME,  6},
    {VIEW("seconds"),      DIMENSION_TIME,  9},
};

/* What the profiles of one dimension become. */
static const struct {
    struct view name;
    enum unit unit;
} sets[DIMENSION_KIND_COUNT] = {
    [DIMENSION_TIME] = {VIEW("time"), UNIT_NS},
    [DIMENSION_COUNT] = {VIEW("samples"), UNIT_COUNT},
    [DIMENSION_BYTES] = {VIEW("bytes"), UNIT_BYTES},
};

void tracks_init(struct tracks *t)
{
    *t = (struct tracks){0};
    path_tree_init(&t->paths);
}

void tracks_done(struct tracks *t)
{
    for (size_t i = 0; i < t->n; i++) {
        free(t->rows[i].paths);
        free(t->rows[i].numbers);
    }
    free(t->rows);
    free(t->functions);
    arena_done(&t->names);
    path_tree_done(&t->paths);
}

const struct track_unit *track_unit_named(struct view word)
{
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (view_same(word, units[i].word))
            return &units[i];
    return NULL;
}

void track_add_path(struct track *t, uint32_t path)
{
    GROW(t->paths, t->cap_paths, t->n_paths + 1);
    t->paths[t->n_paths++] = path;
}

void track_add_number(struct track *t, fixed n)
{
    GROW(t->numbers, t->cap_numbers, t->n_numbers + 1);
    t->numbers[t->n_numbers++] = n;
    unsigned decimals = fixed_decimals(n);
    if (decimals > t->decimals)
        t->decimals = decimals;
}

/* Its name as far as it can be printed. */
bool tracks_in(const struct tracks *t, size_t i, struct err *e)
{
    char name[48];
    struct view v = t->rows[i].name;
    size_t n = v.n < sizeof name ? v.n : sizeof name - 1;
    for (size_t c = 0; c < n; c++)
        name[c] = v.at[c] >= 0x20 && v.at[c] < 0x7f ? v.at[c] : '?';
    name[n] = '\0';
    return n ? err_in(e, "profile %zu '%s'", i + 1, name) : err_in(e, "profile %zu", i + 1);
}

static bool check_frames(const struct tracks *all, struct err *e)
{
    for (size_t i = 0; i < all->n; i++)
        if (all->rows[i].has_frames && all->rows[i].largest_frame >= all->n_functions) {
            err_set(e, ERR_MALFORMED, "frame %u does not exist: there are %zu, counted from 0",
                    all->rows[i].largest_frame, all->n_functions);
            return tracks_in(all, i, e);
        }
    if (all->paths.full)
        return err_set(e, ERR_LIMIT, "more than 4 294 967 295 different stacks");
    return true;
}

/* Where lines move they are the frame's, or a function would be another one on each of its lines. */
static frame_id make_frame(const struct tracks *all, struct builder *b, struct function function)
{
    struct frame frame = {0};
    if (all->lines_move) {
        frame.line = function.line;
        function.line = 0;
        if (view_ends(profile_string(builder_view(b), function.file), VIEW(".py")))
            frame.kind = FRAME_PYTHON;
    }
    frame.function = builder_function(b, function);
    return builder_frame(b, frame);
}

static stack_id *make_stacks(const struct tracks *all, struct builder *b)
{
    own(free) frame_id *frames = mem_resize(NULL, (all->n_functions + 1) * sizeof *frames);
    for (size_t i = 0; i < all->n_functions; i++)
        frames[i] = make_frame(all, b, all->functions[i]);
    stack_id *stacks = mem_resize(NULL, all->paths.n * sizeof *stacks);
    stacks[0] = STACK_ROOT;
    for (size_t i = 1; i < all->paths.n; i++)
        stacks[i] = builder_push(b, stacks[all->paths.rows[i].before], frames[all->paths.rows[i].step]);
    return stacks;
}

static size_t rows_of(const struct track *t)
{
    return t->kind == TRACK_EVENTED && t->n_numbers ? t->n_numbers - 1 : t->n_numbers;
}

/* Where the first row begins. Counts and bytes have no place in time. */
static fixed first_position(const struct track *t)
{
    if (t->kind == TRACK_EVENTED)
        return t->n_numbers ? t->numbers[0] : 0;
    return t->unit->dimension == DIMENSION_TIME ? t->start : 0;
}

/*
 * Fractions of a count are kept: as many digits as any number of the dimension
 * needs, but no more than let the sum of all fit into 63 bits.
 */
static bool decimals_for(const struct tracks *all, enum dimension d, unsigned *out, struct err *e)
{
    unsigned decimals = 0;
    fixed sum = 0;
    for (size_t i = 0; i < all->n; i++) {
        const struct track *t = &all->rows[i];
        if (t->unit->dimension != d)
            continue;
        decimals = t->decimals > decimals ? t->decimals : decimals;
        for (size_t k = 0; t->kind == TRACK_SAMPLED && k < t->n_numbers && sum < FIXED_LARGEST; k++)
            sum += t->numbers[k];
        if (t->kind == TRACK_EVENTED && t->n_numbers)
            sum += t->numbers[t->n_numbers - 1] - t->numbers[0];
        if (sum >= FIXED_LARGEST)
            return err_set(e, ERR_LIMIT, "the values of '%s' add up past 2^63", sets[d].name.at);
    }
    decimals = d == DIMENSION_TIME ? 0 : decimals;
    while (decimals && fixed_rounded(sum, decimals) > INT64_MAX - (fixed)all->n) /* each may round up once */
        decimals--;
    *out = decimals;
    return true;
}

/* A position as the model has it: whole nanoseconds, or counts with so many decimals. */
static fixed in_model(const struct track *t, unsigned decimals, fixed position)
{
    return fixed_rounded(position, t->unit->ns_digits + decimals);
}

static bool emit_track(const struct tracks *all, size_t i, struct builder *b, set_id set, unsigned decimals,
                       const stack_id *stacks, struct err *e)
{
    const struct track *t = &all->rows[i];
    bool in_time = t->unit->dimension == DIMENSION_TIME;
    thread_id thread = builder_thread(b, PROCESS_NONE, -(int32_t)i - 1); /* its number nobody said */
    builder_name_thread(b, thread, t->name);
    context_id context = builder_context(b, thread, LABELS_NONE);

    fixed position = first_position(t), from = in_model(t, decimals, position);
    for (size_t k = 0; k < rows_of(t); k++) {
        position = t->kind == TRACK_EVENTED ? t->numbers[k + 1] : position + t->numbers[k];
        fixed to = in_model(t, decimals, position);
        if (position >= FIXED_LARGEST || to > INT64_MAX || to - from > INT64_MAX)
            return err_set(e, ERR_LIMIT, "the values add up past 2^63");
        int64_t value = (int64_t)(to - from);
        uint64_t time_ns = in_time && from >= 0 ? (uint64_t)from : TIME_NONE;
        /* Between events, nothing open or nothing passed is nothing measured. */
        if (t->kind == TRACK_SAMPLED || (t->paths[k] && value))
            builder_sample(b, set, time_ns, context, stacks[t->paths[k]], &value);
        from = to;
    }
    return true;
}

bool tracks_emit(const struct tracks *all, struct builder *b, struct err *e)
{
    if (!check_frames(all, e))
        return false;
    own(free) stack_id *stacks = make_stacks(all, b);
    unsigned decimals[DIMENSION_KIND_COUNT];
    for (enum dimension d = 0; d < DIMENSION_KIND_COUNT; d++)
        if (!decimals_for(all, d, &decimals[d], e))
            return false;
    for (size_t i = 0; i < all->n; i++) {
        enum dimension d = all->rows[i].unit->dimension;
        struct measure_spec measure = {.name = sets[d].name, .unit = sets[d].unit, .decimals = decimals[d]};
        set_id set = builder_set(b, sets[d].name, &measure, 1);
        if (!emit_track(all, i, b, set, decimals[d], stacks, e))
            return tracks_in(all, i, e);
    }
    return true;
}
