#include "verbs/overhead_runs.h"
#include "base/json.h"
#include "base/mem.h"
#include "render/table.h"

#include <inttypes.h>
#include <math.h>

bool scratch_make(struct scratch *s, struct err *e)
{
    const char *tmp = getenv("TMPDIR");
    snprintf(s->folder, sizeof s->folder, "%s/inferom-overhead-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (!mkdtemp(s->folder)) {
        err_os(e, "making the folder %s", s->folder);
        s->folder[0] = '\0';
        return false;
    }
    snprintf(s->file, sizeof s->file, "%s/run.inferom", s->folder);
    return true;
}

void scratch_done(struct scratch *s)
{
    if (!s->folder[0])
        return;
    unlink(s->file);
    rmdir(s->folder);
}

/* What the recorder says at its end. */

static double number_of(const struct json_token *t)
{
    char text[64];
    if (t->kind != JSON_NUMBER || t->text.n >= sizeof text)
        return UNKNOWN;
    memcpy(text, t->text.at, t->text.n);
    text[t->text.n] = '\0';
    return strtod(text, NULL);
}

static double *field_named(struct recorded_run *r, struct view key)
{
    const struct {
        const char *key;
        double *field;
    } fields[] = {
        {"command_cpu_ns",      &r->command_cpu_ns},
        {"recorder_peak_bytes", &r->recorder_peak_bytes},
        {"samples",             &r->samples},
    };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (view_same(key, view_of(fields[i].key)))
            return fields[i].field;
    return NULL;
}

static bool read_summary(struct recorded_run *out, struct view text, struct err *e)
{
    own(reader) struct reader bytes;
    own(json_reader) struct json_reader j;
    struct json_token t;
    reader_over(&bytes, "the recorder's summary", text);
    json_from(&j, &bytes);
    if (!json_expect(&j, JSON_OBJECT, &t, e))
        return false;
    while (json_next_key(&j, &t, e)) {
        double *field = field_named(out, t.text);
        if (!json_next(&j, &t, e) || !json_skip_rest(&j, &t, e))
            return false;
        if (field)
            *field = number_of(&t);
    }
    if (e->kind)
        return false;
    return !isnan(out->command_cpu_ns) || err_set(e, ERR_MALFORMED, "the recorder does not say what the command took");
}

/* The words in front of the command; the command's own, and the NULL behind them, follow. */
static char *const *record_command(const struct scratch *s, const struct recording_way *way, const char *rate, char *const *command)
{
    const char *const front[] = {"/proc/self/exe", "record", "--json",   "--quiet-command", "--engine", way->engine, "--rate",
                                 rate,             "--output", s->file, way->with_heap ? "--heap=auto" : "--heap=",   "--"};
    enum { FRONT = sizeof front / sizeof *front };
    size_t n = 0;
    while (command[n])
        n++;
    const char **words = mem_new((FRONT + n + 1) * sizeof *words);
    memcpy(words, front, sizeof front);
    memcpy(words + FRONT, command, n * sizeof *command);
    return (char *const *)words;
}

bool run_recorded(struct recorded_run *out, const struct scratch *s, const struct recording_way *way, char *const *command,
                  const volatile sig_atomic_t *stop, struct err *e)
{
    enum { SUMMARY_MOST = 1 << 20 };
    char rate[32];
    snprintf(rate, sizeof rate, "%" PRIu64, way->rate_hz);
    own(free) char *const *words = record_command(s, way, rate, command);
    own(buf) struct buf said;
    buf_init(&said, SUMMARY_MOST);
    struct timed_run run;
    *out = (struct recorded_run){.command_cpu_ns = UNKNOWN, .recorder_peak_bytes = UNKNOWN, .samples = UNKNOWN};
    if (!timed_run(&run, words, &said, stop, e))
        return err_in(e, "recording with %s at %s Hz", way->engine, rate);
    if (!read_summary(out, buf_view(&said), e))
        return err_in(e, "recording with %s at %s Hz", way->engine, rate);
    out->wall_ns = (double)run.wall_ns;
    out->recorder_cpu_ns = (double)run.cpu_ns - out->command_cpu_ns;
    return true;
}
