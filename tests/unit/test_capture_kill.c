/*
 * A recorder killed with -9 at a hundred random moments.
 *
 * The victim numbers its samples and says on a page shared with us how many it
 * has told and how many of those a flush has reported as written. Whatever the
 * moment: the file opens, holds every flushed sample and none that was not told,
 * each with its own stack, and says that it was not closed.
 */
#include "capture_fixture.h"

#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>

#define KILLS 100
#define STACKS 64

struct page {
    _Atomic uint64_t told, flushed;
    _Atomic bool opened;
};

static char path[64];

static stack_id stack_for(struct builder *names, uint64_t number)
{
    char name[32];
    int n = snprintf(name, sizeof name, "f%u", (unsigned)(number / 100 % STACKS));
    return builder_push(names, STACK_ROOT, builder_frame_named(names, (struct view){name, (size_t)n}));
}

/* Flushes of all sizes, so that death comes between them, inside them, and inside their writes. */
static _Noreturn void be_the_victim(struct page *page, uint64_t random)
{
    struct capture_writer *w = NULL;
    if (!capture_open(&w, path, 0, NULL))
        _exit(1);
    struct builder *names = capture_names(w);
    set_id set = builder_set(names, VIEW("cpu"), &(struct measure_spec){VIEW("n"), UNIT_COUNT, VIEW(""), 0}, 1);
    atomic_store(&page->opened, true);
    for (uint64_t n = 0;;) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        for (uint64_t end = n + 1 + (random >> 33) % (random & 1024 ? 40 : 9000); n < end; n++) {
            atomic_store(&page->told, n + 1);
            capture_sample(w, set, n * 1000, CONTEXT_NONE, stack_for(names, n), (int64_t[]){(int64_t)n});
        }
        if (!capture_flush(w, NULL))
            _exit(1);
        atomic_store(&page->flushed, n);
    }
}

static void kill_after(pid_t victim, const struct page *page, long ns)
{
    while (!atomic_load(&page->opened))
        usleep(100);
    nanosleep(&(struct timespec){.tv_nsec = ns}, NULL);
    kill(victim, SIGKILL);
    int status;
    CHECK(waitpid(victim, &status, 0) == victim && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static bool is_sample(const struct profile *p, const struct sample_set *s, size_t i)
{
    char name[32];
    snprintf(name, sizeof name, "f%u", (unsigned)(i / 100 % STACKS));
    return s->values[0][i] == (int64_t)i && s->time_ns[i] == i * 1000 &&
           view_same(profile_frame_name(p, profile_stack(p, s->stacks[i])->frame), view_of(name));
}

static size_t check_what_is_left(const struct page *page, struct capture_report *report)
{
    own(reader) struct reader in;
    own(builder) struct builder *b = builder_new();
    own(profile) struct profile *p = NULL;
    struct err e = {0};
    CHECK(reader_open(&in, path, &e) && capture_read(b, &in, report, &e) && builder_finish(take(b), &p, &e));
    CHECK_STR(e.text, "");
    const struct sample_set *s = p && profile_sets(p) ? profile_set(p, (set_id){0}) : NULL;
    size_t n = s ? s->n : 0, right = 0;
    while (right < n && is_sample(p, s, right))
        right++;
    CHECK_EQ(right, n);
    CHECK(n >= atomic_load(&page->flushed));
    CHECK(n <= atomic_load(&page->told));
    CHECK(!report->is_closed && !report->is_being_written && !report->lost_chunks && !report->lost_samples);
    CHECK(p && strstr(profile_damage(p, 0).at, "not closed properly"));
    CHECK(p && profile_damages(p) == (report->damaged_bytes ? 2 : 1)); /* and the half chunk, if there is one */
    return n;
}

int main(void)
{
    snprintf(path, sizeof path, "test_kill_%ld.inferom", (long)getpid());
    struct page *page = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    uint64_t random = 1, samples = 0, unfinished = 0;
    for (int i = 0; i < KILLS && !check_failures; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        *page = (struct page){0};
        fflush(stdout);
        pid_t victim = fork();
        if (victim == 0)
            be_the_victim(page, random);
        kill_after(victim, page, (long)((random >> 33) % 30000000));
        struct capture_report report = {0};
        samples += check_what_is_left(page, &report);
        unfinished += report.damaged_bytes > 0;
    }
    printf("%d recorders killed; %llu samples found, all that were flushed; %llu files ended in half a chunk\n", KILLS,
           (unsigned long long)samples, (unsigned long long)unfinished);
    unlink(path);
    return CHECK_DONE();
}
