/*
 * The recorder with sources that are scripts, the target that is launched or found, and a
 * kernel that refuses: the system table lies, the engine says so in a sentence.
 */
#include "capture/recorder.h"
#include "check.h"
#include "model/capture_reader.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define FILE_NAME "test_recorder.inferom"

/* exec() and its friends take texts they promise not to change, in a type from before there was a word for that. */
#define WORDS(...) ((char *const *)(const char *const[]){__VA_ARGS__, NULL})

static int refuse_with = EACCES;

static int refuses(struct perf_event_attr *a, pid_t pid, int cpu, int group, unsigned long flags)
{
    (void)a, (void)pid, (void)cpu, (void)group, (void)flags;
    errno = refuse_with;
    return -1;
}

static int no_timers(void) { return EPERM; } /* else another engine would step in */

/* Lets a probe pass and refuses from then on: the limit of open files, a thread that is not ours. */
static int refuses_per_cpu(struct perf_event_attr *a, pid_t pid, int cpu, int group, unsigned long flags)
{
    return cpu < 0 ? sys_real.perf_event_open(a, pid, cpu, group, flags) : refuses(a, pid, cpu, group, flags);
}

static bool file_is_there(void)
{
    struct stat st;
    return stat(FILE_NAME, &st) == 0;
}

static bool can_sample(void)
{
    struct perf_event_attr a = {.type = PERF_TYPE_SOFTWARE, .size = sizeof a, .config = PERF_COUNT_SW_CPU_CLOCK, .exclude_kernel = 1};
    int fd = sys_real.perf_event_open(&a, 0, -1, -1, 0);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

/* Whatever is wrong is said before the target runs, and no file is left behind. */
static void test_refusals(void)
{
    static const struct {
        const char *what;
        const char *command;
        int (*perf_event_open)(struct perf_event_attr *, pid_t, int, int, unsigned long);
        int with;
        enum err_kind kind;
        const char *says;
    } rows[] = {
        {"no perf_event_open", "true", refuses, EACCES, ERR_DENIED, "CPU sampling is not possible here: perf_event_open is refused: Permission denied"},
        {"not this process", "true", refuses_per_cpu, EPERM, ERR_DENIED, "the kernel does not let us sample process "},
        {"no such event", "true", refuses_per_cpu, ENOENT, ERR_UNSUPPORTED, "this machine does not count cpu-clock"},
        {"too many files", "true", refuses_per_cpu, EMFILE, ERR_LIMIT, "too many open files: 0 events so far"},
        {"no such program", "no-such-program", NULL, 0, ERR_NOT_FOUND, "no program called 'no-such-program' is in PATH"},
        {"no program at all", "/", NULL, 0, ERR_DENIED, "running /: Permission denied"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct sys sys = sys_real;
        if (rows[i].perf_event_open)
            sys.perf_event_open = rows[i].perf_event_open;
        sys.cpu_timer = no_timers;
        refuse_with = rows[i].with;
        struct host h = {.root = "", .sys = &sys};
        struct plan p = {.host = &h, .command = WORDS(rows[i].command), .rate_hz = 1000, .most_depth = 128, .want_children = true};
        struct recorder *r = NULL;
        struct err e = {0};
        CHECK(!recorder_open(&r, &p, FILE_NAME, &e));
        CHECK_EQ(e.kind, rows[i].kind);
        CHECK(view_starts(view_of(e.text), view_of(rows[i].says)) || (printf("%s: %s\n", rows[i].what, e.text), false));
        CHECK(!file_is_there());
        CHECK(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD); /* nobody is left at the gate */
    }
}

static void test_run(char *const *command, int want_status)
{
    static const volatile sig_atomic_t never = 0;
    struct host h = host_here();
    struct plan p = {.host = &h, .command = command, .rate_hz = 1000, .most_depth = 128, .want_children = true};
    own(recorder) struct recorder *r = NULL;
    struct err e = {0};
    if (!recorder_open(&r, &p, FILE_NAME, &e)) {
        CHECK_STR(e.text, "");
        return;
    }
    CHECK(recorder_run(r, &(struct recorder_until){.stop = &never}, &e));
    CHECK_EQ(recorder_result(r)->end, RECORDER_TARGET_ENDED);
    CHECK_STR(recorder_result(r)->engine, "perf_event");
    CHECK(recorder_close(r, &e));
    target_wait(recorder_target(r));
    CHECK_EQ(target_exit_status(recorder_target(r)), want_status);
    CHECK(file_is_there());
    unlink(FILE_NAME);
}

static struct profile *read_back(void)
{
    struct err e = {0};
    struct profile *p = NULL;
    own(reader) struct reader in;
    own(builder) struct builder *b = builder_new();
    CHECK(reader_open(&in, FILE_NAME, &e) && capture_read(b, &in, NULL, &e) && builder_finish(take(b), &p, &e));
    unlink(FILE_NAME);
    return p;
}

/* With room for no names at all the capture begins again with every drain; nothing of that is to be seen in the file. */
static void test_few_names(void)
{
    static const volatile sig_atomic_t never = 0;
    struct host h = host_here();
    struct plan p = {.host = &h, .command = WORDS("sh", "-c", "i=0; while [ $i -lt 300000 ]; do i=$((i + 1)); done"),
                     .rate_hz = 1000, .most_depth = 128, .want_children = true, .want_waits = true, .names_most_bytes = 1};
    own(recorder) struct recorder *r = NULL;
    struct err e = {0};
    CHECK(recorder_open(&r, &p, FILE_NAME, &e));
    CHECK(recorder_run(r, &(struct recorder_until){.stop = &never}, &e) && recorder_close(r, &e));
    target_wait(recorder_target(r));
    own(profile) struct profile *got = read_back();
    CHECK_EQ(profile_processes(got), 2); /* nobody, and sh */
    CHECK_EQ(profile_threads(got), 2);
    CHECK_STR(profile_string(got, profile_thread(got, (thread_id){1})->name).at, "sh");
    CHECK_EQ(profile_sets(got), 2);
    const struct sample_set *cpu = profile_set(got, (set_id){0});
    CHECK(cpu->n > 0 && cpu->contexts);
    CHECK_EQ(cpu->n, recorder_result(r)->samples);
    for (size_t i = 0; i < cpu->n; i++)
        CHECK_EQ(profile_context(got, cpu->contexts[i])->thread.i, 1);
    for (uint32_t i = 0; i < profile_series_count(got); i++) {
        const struct series *s = profile_series(got, (series_id){i});
        CHECK(profile_label(got, s->labels, VIEW("core")) || profile_label(got, s->labels, VIEW("pid")));
    }
}

static void test_no_such_process(void)
{
    struct host h = host_here();
    int32_t nobody = 2000000000;
    struct plan p = {.host = &h, .pids = &nobody, .n_pids = 1, .rate_hz = 1000, .most_depth = 128};
    struct recorder *r = NULL;
    struct err e = {0};
    CHECK(!recorder_open(&r, &p, FILE_NAME, &e));
    CHECK_STR(e.text, "there is no process 2000000000");
    CHECK(!file_is_there());
}

static void test_environment(void)
{
    own(environment) struct environment env;
    environment_init(&env, WORDS("A=1", "AB=2"));
    environment_set(&env, "A", "3");
    environment_set(&env, "NEW", "");
    CHECK_STR(environment_get(&env, "A"), "3");
    CHECK_STR(environment_get(&env, "AB"), "2");
    CHECK_STR(environment_get(&env, "NEW"), "");
    CHECK(!environment_get(&env, "B"));
    CHECK_EQ(env.n, 3);
    CHECK(!env.rows[env.n]);
}

int main(void)
{
    test_environment();
    test_no_such_process();
    if (!can_sample()) {
        printf("perf_event_open is refused here: the rest is skipped\n");
        return check_failures ? 1 : 77;
    }
    test_refusals();
    test_run(WORDS("true"), 0);
    test_run(WORDS("sh", "-c", "exit 7"), 7);
    test_run(WORDS("sh", "-c", "kill -9 $$"), 128 + 9);
    test_few_names();
    return CHECK_DONE();
}
