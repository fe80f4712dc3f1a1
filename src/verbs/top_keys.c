#include "verbs/top_keys.h"

#define MS UINT64_C(1000000)

static const uint64_t intervals_ns[] = {500 * MS, 1000 * MS, 2000 * MS, 5000 * MS, 10000 * MS, 30000 * MS, 60000 * MS};
enum { INTERVALS = sizeof intervals_ns / sizeof *intervals_ns };

static void sort_self(struct top_keys *k) { k->order = TOP_BY_SELF; }
static void sort_total(struct top_keys *k) { k->order = TOP_BY_TOTAL; }
static void sort_name(struct top_keys *k) { k->order = TOP_BY_NAME; }
static void begin_filter(struct top_keys *k) { k->is_typing = true; }
static void pause_or_go_on(struct top_keys *k) { k->is_paused = !k->is_paused; }
static void help_or_back(struct top_keys *k) { k->is_help = !k->is_help; }
static void quit(struct top_keys *k) { k->has_quit = true; }

static void slower(struct top_keys *k)
{
    for (size_t i = 0; i < INTERVALS; i++)
        if (intervals_ns[i] > k->interval_ns) {
            k->interval_ns = intervals_ns[i];
            return;
        }
}

static void faster(struct top_keys *k)
{
    for (size_t i = INTERVALS; i-- > 0;)
        if (intervals_ns[i] < k->interval_ns) {
            k->interval_ns = intervals_ns[i];
            return;
        }
}

static const struct key {
    char key;
    void (*press)(struct top_keys *k);
    const char *what;
} keys[] = {
    {'s', sort_self,      "sort by self: what a function took itself"},
    {'t', sort_total,     "sort by total: what was taken while it was anywhere on the stack"},
    {'n', sort_name,      "sort by name"},
    {'f', begin_filter,   "show only functions whose name contains some text; Enter keeps it, Esc clears it"},
    {'p', pause_or_go_on, "pause, and go on"},
    {'+', slower,         "draw less often"},
    {'-', faster,         "draw more often"},
    {'?', help_or_back,   "this help, and back"},
    {'q', quit,           "quit"},
};
enum { KEYS = sizeof keys / sizeof *keys };

/* The filter, letter by letter. */
static void type(struct top_keys *k, char c)
{
    size_t n = strlen(k->filter);
    if (c == '\n' || c == '\r')
        k->is_typing = false;
    else if ((c == 0x7f || c == '\b') && n)
        k->filter[n - 1] = '\0';
    else if ((unsigned char)c > ' ' && c != 0x7f && n + 1 < sizeof k->filter)
        memcpy(k->filter + n, (char[]){c, '\0'}, 2);
}

static void press(struct top_keys *k, char c)
{
    if (k->is_typing) {
        type(k, c);
        return;
    }
    for (size_t i = 0; i < KEYS; i++)
        if (keys[i].key == c)
            keys[i].press(k);
}

/* ESC [ ... letter, ESC O letter: the bytes of one key that has no letter of its own. 0: a lone Esc. */
static size_t function_key(struct view v)
{
    if (v.n < 2 || (v.at[1] != '[' && v.at[1] != 'O'))
        return 0;
    size_t n = 2;
    while (n < v.n && (v.at[n] < '@' || v.at[n] > '~'))
        n++;
    return n < v.n ? n + 1 : n;
}

static void escape(struct top_keys *k)
{
    k->filter[0] = '\0';
    k->is_typing = k->is_help = false;
}

void top_keys_press(struct top_keys *k, struct view typed)
{
    while (typed.n) {
        size_t used = 1;
        if (typed.at[0] != '\033')
            press(k, typed.at[0]);
        else if (!(used = function_key(typed))) {
            escape(k);
            used = 1;
        }
        typed.at += used;
        typed.n -= used;
    }
}

void top_keys_note(const struct top_keys *k, struct buf *out)
{
    static const char *const orders[TOP_ORDER_COUNT] = {[TOP_BY_SELF] = "self", [TOP_BY_TOTAL] = "total", [TOP_BY_NAME] = "name"};
    if (k->is_typing) {
        buf_printf(out, "filter: %s_   (Enter keeps it, Esc clears it)", k->filter);
        return;
    }
    buf_printf(out, "%sby %s, every %g s", k->is_paused ? "PAUSED, " : "", orders[k->order], (double)k->interval_ns / 1e9);
    if (*k->filter)
        buf_printf(out, ", only *%s*", k->filter);
    buf_puts(out, "   keys: s t n sort, f filter, p pause, + - interval, ? help, q quit");
}

void top_keys_help(struct sink *out)
{
    sink_puts(out, "inferom top: functions, threads, CPU and memory of a running program\n\n");
    for (size_t i = 0; i < KEYS; i++)
        sink_printf(out, "  %c   %s\n", keys[i].key, keys[i].what);
    sink_puts(out, "\nCPU is of one core: two threads that never rest show 200 %. Shares of functions are of the\n"
                   "CPU time in the window. ? goes back.\n");
}
