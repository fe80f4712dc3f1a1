/*
 * /tmp/perf-PID.map: "START SIZE name" on each line, numbers in hex, spaces allowed in
 * names. Lines that are something else are passed over, as perf does.
 */
#include "symbols/jit_pieces.h"

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

/* Takes "0x12ab " off the front. */
static bool read_hex(struct view *line, uint64_t *out)
{
    size_t at = view_starts(*line, VIEW("0x")) ? 2 : 0, from = at;
    uint64_t v = 0;
    for (int d; at < line->n && (d = hex_digit(line->at[at])) >= 0; at++) {
        if (v >> 60)
            return false;
        v = v << 4 | (uint64_t)d;
    }
    if (at == from || at == line->n || line->at[at] != ' ')
        return false;
    *line = (struct view){line->at + at + 1, line->n - at - 1};
    *out = v;
    return true;
}

bool perf_map_parse(struct jit_pieces *p, const struct jit_input *in, uint64_t *out_used, struct err *e)
{
    (void)e; /* any file is a map, of no lines at worst */
    const char *at = in->bytes.at, *end = at + in->bytes.n;
    for (const char *eol; at < end && (eol = memchr(at, '\n', (size_t)(end - at))); at = eol + 1) {
        struct view line = view_between(at, eol);
        uint64_t start, bytes;
        if (line.n && line.at[line.n - 1] == '\r')
            line.n--;
        if (read_hex(&line, &start) && read_hex(&line, &bytes))
            jit_pieces_add(p, start, bytes, line);
    }
    *out_used = (uint64_t)(at - in->bytes.at);
    return true;
}
