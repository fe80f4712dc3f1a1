#include "base/clock.h"
#include "base/outfile.h"
#include "base/progress.h"
#include "base/text.h"
#include "formats/prompt_stream.h"
#include "formats/timing_stats.h"
#include "lab/chat.h"
#include "verbs/model_options.h"
#include "verbs/verb.h"

#include <inttypes.h>
#include <math.h>

struct lab_chat {
    struct model_settings model;
    uint64_t most_tokens, most_prompts;
    const char *timings;
};

#define S struct lab_chat
static const struct option lab_chat_options[] = {
    NUMBER('n', "max-tokens", S, most_tokens, "N", "length of an answer at most", 1, 1000000),
    NUMBER(0, "limit", S, most_prompts, "N", "end after so many prompts; 0 is never", 0, 0),
    TEXT(0, "timings", S, timings, "FILE", "where the TIMING_STATS lines go (else to standard error)"),
    MODEL_OPTIONS(S),
    OPTIONS_END
};
#undef S

struct conversation {
    const struct call *c;
    struct chat chat;
    struct sink *timings;
    bool is_typed; /* by somebody who also reads the answers here */
    uint64_t turns, last_start_ns;
    struct buf tail; /* the beginning of a character whose other bytes are still to come */
};

/*
 * Pieces are bytes, and a character may be spread over several. What is whole goes out; what is no text at all,
 * or would move the cursor, is shown as \x1b. Line ends and tabs are themselves.
 */
static void put_text(struct sink *out, struct view text)
{
    for (size_t from = 0, i = 0; i <= text.n; i++) {
        if (i < text.n && text.at[i] != '\n' && text.at[i] != '\t')
            continue;
        text_safe(out, (struct view){text.at + from, i - from}, 0);
        if (i < text.n)
            sink_char(out, text.at[i]);
        from = i + 1;
    }
}

/* Bytes at the end that could still become a character: at most three. */
static size_t unfinished(struct view text)
{
    for (size_t n = 1; n <= 3 && n <= text.n; n++) {
        unsigned char first = (unsigned char)text.at[text.n - n];
        if ((first & 0xc0) == 0x80)
            continue;
        size_t wants = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;
        return wants > n ? n : 0;
    }
    return 0;
}

static void put_piece(void *self, struct view piece)
{
    struct conversation *v = self;
    struct err ignored = {0}; /* the sink remembers, and the door looks */
    buf_add(&v->tail, piece.at, piece.n);
    size_t whole = v->tail.len - unfinished(buf_view(&v->tail));
    put_text(v->c->out, (struct view){v->tail.data, whole});
    memmove(v->tail.data, v->tail.data + whole, v->tail.len - whole);
    v->tail.len -= whole;
    v->tail.data[v->tail.len] = '\0';
    if (!sink_flush(v->c->out, &ignored))
        return;
}

static void end_answer(struct conversation *v)
{
    put_text(v->c->out, buf_view(&v->tail));
    buf_clear(&v->tail);
    sink_char(v->c->out, '\n');
}

static void put_timing(struct conversation *v, const struct chat_turn *t)
{
    struct timing_row row = {
        .index = v->turns, .ended_ns = (uint64_t)((int64_t)t->ended_ns + clock_wall_offset_ns()), .prompt_tokens = t->prompt_tokens,
        .cached_tokens = t->cached_tokens, .generated_tokens = t->answer_tokens, .prefill_s = (double)(t->fed_ns - t->begun_ns) / 1e9,
        .elapsed_s = (double)(t->ended_ns - t->begun_ns) / 1e9,
        .since_last_start_s = v->last_start_ns ? (double)(t->begun_ns - v->last_start_ns) / 1e9 : NAN,
        .context = session_position(v->chat.session) + session_room(v->chat.session),
    };
    if (v->turns == 1)
        timing_stats_header(v->timings);
    timing_stats_row(v->timings, &row);
    v->last_start_ns = t->begun_ns;
}

/* For somebody at a terminal, who did not ask for columns. */
static void put_speed(const struct chat_turn *t)
{
    double seconds = (double)(t->ended_ns - t->fed_ns) / 1e9;
    fprintf(stderr, "(%zu tokens, %.1f a second, after %.2f s)\n", t->answer_tokens, (double)t->answer_tokens / (seconds > 0 ? seconds : 1),
            (double)(t->fed_ns - t->begun_ns) / 1e9);
}

static void put_losses(const struct conversation *v, const struct chat_turn *t)
{
    if (t->lost_tokens)
        fprintf(stderr, "inferom lab chat: prompt %" PRIu64 ": its first %zu tokens do not fit into the context and were left out\n", v->turns,
                t->lost_tokens);
    else if (t->began_anew)
        fprintf(stderr, "inferom lab chat: prompt %" PRIu64 ": the context is full; the conversation begins anew\n", v->turns);
}

static bool turn(struct conversation *v, struct view prompt, struct err *e)
{
    struct chat_turn t;
    v->turns++;
    bool ok = chat_say(&v->chat, prompt, put_piece, v, v->c->stop, &t, e);
    end_answer(v);
    if (!ok)
        return false;
    put_losses(v, &t);
    if (!sink_flush(v->c->out, e))
        return false;
    const struct lab_chat *s = v->c->settings;
    if (v->is_typed && !s->timings)
        put_speed(&t);
    else
        put_timing(v, &t);
    return sink_flush(v->timings, e);
}

static bool ask(const struct conversation *v, struct err *e)
{
    if (v->is_typed)
        sink_puts(v->c->out, "> ");
    return sink_flush(v->c->out, e);
}

/* Until there is nothing more to say, or somebody wants us to stop; then what was said stays said. */
static bool converse(struct conversation *v, struct err *e)
{
    const struct lab_chat *s = v->c->settings;
    own(reader) struct reader input;
    own(buf) struct buf prompt;
    buf_init(&prompt, PROMPT_MOST_BYTES);
    if (!reader_open(&input, "-", e))
        return false;
    v->is_typed = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
    progress_enable(false); /* whoever types needs no line that says how much was typed */
    while (!*v->c->stop && (!s->most_prompts || v->turns < s->most_prompts)) {
        if (!ask(v, e) || !prompt_read(&input, v->c->stop, &prompt, e))
            break;
        if (!turn(v, buf_view(&prompt), e))
            break;
    }
    if (*v->c->stop && !e->kind)
        return err_set(e, ERR_INTERRUPTED, "stopped after %" PRIu64 " prompt%s", v->turns, v->turns == 1 ? "" : "s");
    return !e->kind;
}

static bool chat_with(const struct call *c, struct model *m, const struct session_plan *plan, struct sink *timings, struct err *e)
{
    const struct lab_chat *s = c->settings;
    own(session) struct session *session = session_new(m, plan);
    struct conversation v = {.c = c, .timings = timings, .chat = {.model = m, .session = session, .most_tokens = (size_t)s->most_tokens}};
    buf_init(&v.tail, (size_t)1 << 20);
    bool ok = converse(&v, e);
    buf_done(&v.tail);
    return ok;
}

static bool lab_chat(const struct call *c, struct err *e)
{
    const struct lab_chat *s = c->settings;
    struct model_plan plan;
    struct session_plan session;
    own(model) struct model *m = NULL;
    if (!model_settings_read(&s->model, &plan, &session, e) || !model_open(c->n_args ? c->args[0] : "large", &plan, &m, e))
        return false;
    if (!s->timings) {
        struct sink to_stderr;
        sink_to_fd(&to_stderr, STDERR_FILENO, "standard error");
        return chat_with(c, m, &session, &to_stderr, e);
    }
    own(outfile) struct outfile f;
    if (!outfile_open(&f, s->timings, e))
        return false;
    bool ok = chat_with(c, m, &session, &f.sink, e);
    struct err why = {0};
    if (outfile_commit(&f, &why)) /* also what was there when it was stopped */
        return ok;
    if (ok)
        *e = why;
    return false;
}

const struct verb verb_lab_chat = {
    .name = "lab chat",
    .args = "[MODEL]",
    .most_args = 1,
    .what = "talk with the reference model, or let it answer a stream of prompts",
    .about = "Reads prompts from standard input and answers them on standard output. A line is a prompt; a line with one backslash "
             "begins a prompt of several lines, and another one ends it; a line 'q', or the end of the input, ends the conversation. "
             "Inside a prompt of several lines every line is text; one of backslashes alone is written with one more.\n"
             "\n"
             "For every answer a TIMING_STATS line goes to standard error (not when you type: then it is a short one), or to --timings: tokens, seconds of prefill and of the whole "
             "turn, tokens per second, in the columns of the original chat program. MODEL is a preset or a .gguf file, as for 'lab model'. "
             "Ctrl-C ends the answer and the conversation; what was measured stays.",
    .example = "echo 'How are you?' | inferom lab chat small --max-tokens 16",
    .options = lab_chat_options,
    .defaults = &(const struct lab_chat){.model = MODEL_DEFAULTS, .most_tokens = 64},
    .settings_size = sizeof(struct lab_chat),
    .watches_stop = true,
    .run = lab_chat,
};
