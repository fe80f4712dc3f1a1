/*
 * The terminal door: words in, an answer on standard output or one line on
 * standard error, an exit status from the list of errors.
 */
#include "base/log.h"
#include "cli/terminal.h"
#include "cli/version.h"
#include "verbs/help.h"
#include "verbs/settings.h"
#include "verbs/settings_file.h"

struct request {
    const char *who; /* the verb a complaint comes from; "" before there is one */
    char **words;
    int n_words;
    const struct verb *verb;
    struct settings *program, *own;
    struct settings_file *file;
    struct sink *out;
    int exit_status; /* of a success */
};

static void request_done(struct request *r)
{
    settings_free(r->own);
    settings_free(r->program);
    settings_file_free(r->file); /* last: settings borrow its texts */
}
DEFINE_OWN_IN_PLACE(request, struct request)

static const struct program *program_of(const struct request *r) { return r->program->values; }

static struct look look_of(const struct request *r) { return terminal_look((enum colour_choice)program_of(r)->colour); }

/* "inferom lab", "inferom lab --help": the first word of several verbs, and nothing that chooses one. */
static bool asks_for_group(const struct request *r)
{
    const char *next = r->n_words > 1 ? r->words[1] : "--help";
    return verb_is_group(r->words[0]) && (!strcmp(next, "--help") || !strcmp(next, "-h"));
}

/* What stands in front of the verb. True with *out_done: that was already all. */
static bool read_front(struct request *r, bool *out_done, struct err *e)
{
    own(settings) struct settings *front =
        settings_new((struct owner){"", front_options, &front_defaults, sizeof front_defaults});
    r->program = settings_new(owner_of_program());
    if (!settings_from_env(r->program, e) ||
        !settings_from_argv((struct settings *[]){r->program, front, NULL}, r->words, &r->n_words, true, e))
        return false;

    const struct front *f = front->values;
    struct look look = look_of(r);
    *out_done = true;
    if (f->version)
        version_print(r->out, f->verbose);
    else if (f->verbose)
        return err_set(e, ERR_USAGE, "--verbose goes with --version");
    else if (program_of(r)->help && !r->n_words)
        help_overview(r->out, &look);
    else if (!r->n_words)
        return err_set(e, ERR_USAGE, "which verb?"), err_hint(e, "'inferom help' lists them");
    else if (asks_for_group(r))
        help_group(r->words[0], r->out, &look);
    else
        *out_done = false;
    return true;
}

static bool read_verb(struct request *r, struct err *e)
{
    int used = 0;
    if (!verb_find(r->words, &r->verb, &used, e))
        return false;
    r->who = r->verb->name;
    r->words += used;
    r->own = settings_new(owner_of_verb(r->verb));
    return settings_from_env(r->own, e) &&
           settings_from_argv((struct settings *[]){r->own, r->program, NULL}, r->words, &r->n_words,
                              r->verb->takes_command, e);
}

/* Its faults are nobody's but its own: they are reported without a verb. */
static bool read_file(struct request *r, struct err *e)
{
    r->who = "";
    bool ok = settings_file_open(program_of(r)->config, &r->file, e) && settings_from_file(r->program, r->file, e) &&
              settings_from_file(r->own, r->file, e);
    if (ok)
        r->who = r->verb->name;
    return ok;
}

static bool check_args(const struct request *r, struct err *e)
{
    const struct verb *v = r->verb;
    if (r->n_words < v->least_args)
        err_set(e, ERR_USAGE, "%s is missing", v->args);
    else if (v->most_args >= 0 && r->n_words > v->most_args)
        err_set(e, ERR_USAGE, "one word too many: '%s'", r->words[v->most_args]);
    else
        return true;
    own(buf) struct buf usage;
    buf_init(&usage, sizeof e->hint);
    help_usage(v, &usage);
    return err_hint(e, "usage: %s", usage.data);
}

static bool run(struct request *r, struct err *e)
{
    log_set_level((enum log_level)program_of(r)->log);
    if (r->verb->watches_stop)
        terminal_ask_before_ending();
    struct call c = {
        .settings = r->own->values,
        .args = r->words,
        .n_args = r->n_words,
        .out = r->out,
        .look = look_of(r),
        .stop = &terminal_stop,
        .exit_status = &r->exit_status,
        .program = r->program,
        .file = r->file,
    };
    return r->verb->run(&c, e);
}

static bool answer(struct request *r, struct err *e)
{
    bool is_done = false;
    if (!read_front(r, &is_done, e))
        return false;
    if (is_done)
        return true;
    if (!read_verb(r, e))
        return false;
    if (program_of(r)->help) {
        struct look look = look_of(r);
        help_verb(r->verb, r->out, &look);
        return true;
    }
    return read_file(r, e) && check_args(r, e) && run(r, e);
}

int main(int argc, char **argv)
{
    struct sink out;
    struct err e = {0};
    own(request) struct request r = {.who = "", .words = argv + (argc > 0), .out = &out};
    terminal_start();
    terminal_output(&out);
    bool ok = answer(&r, &e);
    /* What a failed verb had to say before it failed is still worth reading; but its failure counts. */
    struct err unwritten = {0};
    if (!sink_flush(&out, &unwritten) && ok) {
        e = unwritten;
        ok = false;
    }
    if (ok || terminal_reader_is_gone())
        return r.exit_status;
    terminal_complain(r.who, &e);
    return err_exit_status(e.kind);
}
