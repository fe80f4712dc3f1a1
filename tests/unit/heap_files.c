/*
 * heap_files STORY FILE.inferom - a heap recording from a story of allocations (heap_story.h)
 *
 * Files in tests/e2e with known answers come from here; each has its story beside it.
 */
#include "heap_story.h"
#include "base/outfile.h"
#include "base/reader.h"
#include "model/capture_writer.h"

static bool tell(const char *story, const char *path, struct err *e)
{
    own(reader) struct reader in = {.fd = -1};
    own(outfile) struct outfile out = {.fd = -1};
    if (!reader_open(&in, story, e) || !reader_fill(&in, 1 << 20, e))
        return false;
    struct view text = reader_here(&in);
    own(free) char *copy = mem_text(text.at, text.n);
    own(profile) struct profile *p = heap_story_told(copy);
    return outfile_open(&out, path, e) && capture_write_profile(p, CHUNK_PLAIN, &out.sink, e) && outfile_commit(&out, e);
}

int main(int argc, char **argv)
{
    struct err e = {0};
    if (argc != 3) {
        fprintf(stderr, "usage: heap_files STORY FILE.inferom\n");
        return 2;
    }
    if (!tell(argv[1], argv[2], &e)) {
        fprintf(stderr, "heap_files: %s\n", e.text);
        return 1;
    }
    return CHECK_DONE();
}
