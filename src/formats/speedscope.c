#include "formats/speedscope.h"

static bool contains(struct view text, struct view part) { return memmem(text.at, text.n, part.at, part.n) != NULL; }

/* The schema's address says it all; without it, an object that has the two tables we read. */
static int sniff(struct view head)
{
    size_t blank = 0;
    while (blank < head.n && strchr(" \t\r\n", head.at[blank]) && head.at[blank])
        blank++;
    if (blank == head.n || head.at[blank] != '{')
        return 0;
    if (contains(head, VIEW("speedscope.app/file-format-schema")))
        return 100;
    bool has_profiles = contains(head, VIEW("\"profiles\"")) && contains(head, VIEW("\"unit\""));
    bool has_frames = contains(head, VIEW("\"shared\"")) && contains(head, VIEW("\"frames\""));
    return has_profiles || has_frames ? 60 : 0;
}

const struct format format_speedscope = {
    .name = "speedscope",
    .suffix = ".speedscope.json",
    .what = "JSON of speedscope and py-spy, sampled and evented",
    .sniff = sniff,
    .read = speedscope_read,
    .write = speedscope_write,
};
