/* A stream of prompts as it is written and read; and the line of a turn, to the letter. */
#include "check.h"
#include "formats/prompt_stream.h"
#include "formats/timing_stats.h"

#include <math.h>

static void check_writing(void)
{
    static const struct {
        const char *what, *text, *stream;
    } cases[] = {
        {"one line", "Hello", "\\\nHello\n\\\n"},
        {"several lines", "a\n\nb", "\\\na\n\nb\n\\\n"},
        {"nothing", "", "\\\n\n\\\n"},
        {"the word that ends", "q", "\\\nq\n\\\n"},
        {"a line end at the end", "a\n", "\\\na\n\n\\\n"},
        {"a backslash", "\\", "\\\n\\\\\n\\\n"},
        {"two, and one in a text", "\\\\\na\\", "\\\n\\\\\\\na\\\n\\\n"},
        {"a backslash, as Windows ends lines", "\\\r\nx", "\\\n\\\\\r\nx\n\\\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct err e = {0};
        struct sink s;
        own(buf) struct buf stream;
        own(buf) struct buf back;
        own(reader) struct reader r;
        buf_init(&stream, 1 << 12);
        buf_init(&back, 1 << 12);
        sink_to_buf(&s, &stream);
        prompt_write(&s, view_of(cases[i].text));
        CHECK(sink_flush(&s, &e));
        printf("%s\n", cases[i].what);
        CHECK_STR(stream.data, cases[i].stream);
        reader_over(&r, "test", buf_view(&stream));
        CHECK(prompt_read(&r, NULL, &back, &e));
        CHECK_STR(back.data, cases[i].text);
        CHECK(!prompt_read(&r, NULL, &back, &e) && !e.kind);
    }
}

static void check_reading(void)
{
    static const struct {
        const char *what, *stream, *prompts, *error;
    } cases[] = {
        {"typed", "Hello\n\r\nHow are you?\r\n", "[Hello][How are you?]", NULL},
        {"the end", "a\nq\nb\n", "[a]", NULL},
        {"no line end", "a", "[a]", NULL},
        {"nothing", "", "", NULL},
        {"mixed", "\\\r\none\r\ntwo\n\\\r\nthree\n", "[one\r\ntwo][three]", NULL},
        {"half", "a\n\\\nb", "[a]", "test: the input ends inside the prompt that begins in line 2"},
        {"too large", "\\\n12345678901234567890\n\\\n", "", "test: line 1: this prompt is larger than 0 MiB"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct err e = {0};
        own(buf) struct buf prompt;
        own(buf) struct buf all;
        own(reader) struct reader r;
        buf_init(&prompt, 16);
        buf_init(&all, 1 << 12);
        reader_over(&r, "test", view_of(cases[i].stream));
        while (prompt_read(&r, NULL, &prompt, &e))
            buf_printf(&all, "[%s]", prompt.data);
        printf("%s\n", cases[i].what);
        CHECK_STR(all.data, cases[i].prompts);
        CHECK_STR(e.text, cases[i].error ? cases[i].error : "");
    }
}

static void check_timings(void)
{
    struct err e = {0};
    struct sink s;
    own(buf) struct buf text;
    buf_init(&text, 1 << 12);
    sink_to_buf(&s, &text);
    timing_stats_row(&s, &(struct timing_row){.index = 1, .ended_ns = 1769608902499803000, .prompt_tokens = 114, .generated_tokens = 5,
                                              .prefill_s = 0.5, .elapsed_s = 2, .since_last_start_s = NAN, .context = 512});
    CHECK(sink_flush(&s, &e));
    const char *want = "TIMING_STATS\t1\t2026-01-28T14:01:42.499803Z\t1769608902.499803\t114\t114\t5\t5\t0.500000000\t2.000000000\t2.500000000\t"
                       "None\t512\tNone\tNone\tNone\t0\t";
    CHECK(view_starts(buf_view(&text), view_of(want)));
    printf("%s", text.data);
}

int main(void)
{
    check_writing();
    check_reading();
    check_timings();
    return CHECK_DONE();
}
