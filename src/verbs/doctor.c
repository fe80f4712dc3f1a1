#include "base/json.h"
#include "capture/host/ability.h"
#include "verbs/verb.h"

struct doctor {
    bool json;
    const char *root;
};

static const struct option doctor_options[] = {
    FLAG(0, "json", struct doctor, json, "print an array of {name, state, why, fix}"),
    TEXT(0, "root", struct doctor, root, "DIR", "look at a copy of /proc and /sys below DIR, for example from another machine"),
    OPTIONS_END
};

enum { STATE_COLUMNS = 9, NAME_COLUMNS = 17, INDENT = STATE_COLUMNS + NAME_COLUMNS };

static const char *const colours[STATE_COUNT] = {"\033[32m", "\033[33m", "\033[31m"};

/* Words as far as they fit, then a new line under the first; 0 columns: all on one line. */
static void put_wrapped(struct sink *out, const char *text, unsigned width)
{
    size_t room = width > INDENT + 20 ? width - INDENT : 0, used = 0;
    while (*text) {
        size_t word = strcspn(text, " "), gap = used ? 1 : 0;
        if (room && used && used + gap + word > room) {
            sink_printf(out, "\n%*s", INDENT, "");
            used = gap = 0;
        }
        sink_printf(out, "%s%.*s", gap ? " " : "", (int)word, text);
        used += gap + word;
        text += word;
        text += strspn(text, " ");
    }
    sink_char(out, '\n');
}

/* A fix is never wrapped: it is there to be copied. */
static void put_finding(struct sink *out, const char *name, const struct finding *f, const struct look *look)
{
    sink_printf(out, "%s%-*s%s%-*s", look->colour ? colours[f->state] : "", STATE_COLUMNS, state_names[f->state],
                look->colour ? "\033[0m" : "", NAME_COLUMNS, name);
    put_wrapped(out, f->why, look->width);
    if (*f->fix)
        sink_printf(out, "%*sfix: %s\n", STATE_COLUMNS, "", f->fix);
}

static void put_json(struct sink *out, const struct finding *found)
{
    struct json_writer w;
    json_to_pretty(&w, out);
    json_open(&w, '[');
    for (enum ability a = 0; a < ABILITY_COUNT; a++) {
        const struct finding *f = &found[a];
        if (!f->is_asked)
            continue;
        json_open(&w, '{');
        json_key(&w, "name");
        json_text(&w, view_of(ability_name(a)));
        json_key(&w, "state");
        json_text(&w, view_of(state_names[f->state]));
        json_key(&w, "why");
        json_text(&w, view_of(f->why));
        json_key(&w, "fix");
        if (*f->fix)
            json_text(&w, view_of(f->fix));
        else
            json_null(&w);
        json_close(&w, '}');
    }
    json_close(&w, ']');
    sink_char(out, '\n');
}

static bool can_profile_cpu(const struct finding *found)
{
    return found[ABILITY_CPU_SAMPLING].state != STATE_OFF || found[ABILITY_CPU_TIMERS].state != STATE_OFF;
}

/* What it comes to, in one sentence. */
static void put_summary(struct sink *out, const struct finding *found)
{
    static const char *const by_events[STATE_COUNT] = {
        "CPU profiling works, kernel code included",
        "CPU profiling works for user code",
        NULL,
    };
    const char *cpu = by_events[found[ABILITY_CPU_SAMPLING].state];
    if (!cpu)
        cpu = can_profile_cpu(found) ? "CPU profiling works for programs that inferom starts, by timers"
                                     : "CPU profiling is not possible";
    const char *attach = found[ABILITY_ATTACH].state == STATE_WORKS ? "running processes can be read"
                                                                    : "running processes cannot be read";
    bool has_gpu = found[ABILITY_NVIDIA].state != STATE_OFF || found[ABILITY_AMD].state != STATE_OFF;
    sink_printf(out, "\n%s; %s; %s.\n", cpu, attach, has_gpu ? "the GPU can be measured" : "no GPU can be measured");
}

static bool doctor(const struct call *c, struct err *e)
{
    const struct doctor *s = c->settings;
    struct host h = host_here();
    if (*s->root)
        h = (struct host){.root = s->root};
    if (!host_has(&h, "/proc"))
        return err_set(e, ERR_NOT_FOUND, "there is no folder %s/proc", s->root);

    struct finding found[ABILITY_COUNT];
    abilities_find(&h, found);
    if (s->json) {
        put_json(c->out, found);
    } else {
        for (enum ability a = 0; a < ABILITY_COUNT; a++)
            if (found[a].is_asked)
                put_finding(c->out, ability_name(a), &found[a], &c->look);
        put_summary(c->out, found);
    }
    return can_profile_cpu(found) ||
           err_set(e, ERR_UNSUPPORTED, "CPU profiling is not possible here; the first lines of the answer say why");
}

const struct verb verb_doctor = {
    .name = "doctor",
    .args = "",
    .what = "say what this machine and user can measure, and how to get the rest",
    .about = "Tries each thing a measurement needs and says for each: works, limited or off, why, and what to type. "
             "Nothing on the machine is changed.\n"
             "\n"
             "The exit status is 0 when CPU profiling is possible in some way, and 5 when it is not.\n"
             "\n"
             "With --root only files are read and no system call is tried: the answer is what the kernel's rules say "
             "about that machine, and lines that need the running machine (disk space) are left out.",
    .example = "inferom doctor",
    .options = doctor_options,
    .defaults = &(const struct doctor){.root = ""},
    .settings_size = sizeof(struct doctor),
    .run = doctor,
};
