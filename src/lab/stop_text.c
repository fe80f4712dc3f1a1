#include "lab/stop_text.h"
#include "base/text.h"

#define MOST_WAITING (1 << 20) /* a token and the longest stop text are far below it */

void stop_text_init(struct stop_text *s, const struct view *stops, size_t n_stops)
{
    *s = (struct stop_text){.stops = stops, .n_stops = n_stops};
    buf_init(&s->waiting, MOST_WAITING);
}

void stop_text_done(struct stop_text *s) { buf_done(&s->waiting); }

static void drop_gone(struct stop_text *s)
{
    memmove(s->waiting.data, s->waiting.data + s->gone, s->waiting.len - s->gone);
    s->waiting.len -= s->gone;
    s->gone = 0;
}

/* Where the first stop text begins; the length when there is none. */
static size_t first_stop(const struct stop_text *s, struct view text)
{
    size_t first = text.n;
    for (size_t i = 0; i < s->n_stops; i++) {
        const char *at = memmem(text.at, text.n, s->stops[i].at, s->stops[i].n);
        if (at && (size_t)(at - text.at) < first)
            first = (size_t)(at - text.at);
    }
    return first;
}

/* How many bytes at the end are the beginning of a stop text. */
static size_t begun_stop(const struct stop_text *s, struct view text)
{
    size_t most = 0;
    for (size_t i = 0; i < s->n_stops; i++)
        for (size_t n = s->stops[i].n - 1 < text.n ? s->stops[i].n - 1 : text.n; n > most; n--)
            if (!memcmp(text.at + text.n - n, s->stops[i].at, n))
                most = n;
    return most;
}

static size_t wanted_length(unsigned char first) { return first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2; }

/* How many bytes at the end are a character that is not complete; one that never will be is let go. */
static size_t begun_character(struct view text)
{
    for (size_t n = 1; n <= 3 && n <= text.n; n++) {
        unsigned char c = (unsigned char)text.at[text.n - n];
        if (c >= 0xc2 && c <= 0xf4)
            return n < wanted_length(c) ? n : 0;
        if (c < 0x80 || c > 0xbf)
            return 0;
    }
    return 0;
}

static struct view let_go(struct stop_text *s, size_t n)
{
    s->gone = n;
    return (struct view){s->waiting.data, n};
}

struct view stop_text_add(struct stop_text *s, struct view said)
{
    drop_gone(s);
    if (s->is_met)
        return (struct view){"", 0};
    buf_add(&s->waiting, said.at, said.n);
    struct view text = buf_view(&s->waiting);
    size_t first = first_stop(s, text);
    s->is_met = first < text.n;
    if (s->is_met) {
        s->waiting.len = first;
        return let_go(s, first);
    }
    text.n -= begun_stop(s, text);
    return let_go(s, text.n - begun_character(text));
}

struct view stop_text_end(struct stop_text *s)
{
    drop_gone(s);
    return let_go(s, s->waiting.len);
}
