/*
 * The kernel's own list has addresses and names, no sizes:
 *
 *     ffffffff810c0bc0 T schedule
 *     ffffffffc0201000 t ftrace_trampoline	[ftrace]
 *
 * A function reaches to the next symbol of any kind. Data is kept as nameless pieces, so
 * that the last function before it does not grow into it. A name is stored with its module
 * behind it, one NUL between: what is found by address leads to both.
 */
#include "base/arena.h"
#include "base/mem.h"
#include "base/reader.h"
#include "symbols/symbol_index.h"
#include "symbols/symbols.h"

#define FUNCTION_MOST ((uint64_t)64 << 10) /* the largest are half of that; behind the last of a module is nothing */
#define SYMBOLS_MOST ((size_t)8 << 20)

struct kernel_symbols {
    struct name_ranges ranges;
    struct arena names;
};

struct line {
    uint64_t address;
    char type;
    struct view name, module;
};

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return -1;
}

static bool read_address(struct view *rest, uint64_t *out)
{
    uint64_t v = 0;
    size_t n = 0;
    for (int d; n < rest->n && n < 16 && (d = hex_digit(rest->at[n])) >= 0; n++)
        v = v << 4 | (uint64_t)d;
    if (!n || n == rest->n || rest->at[n] != ' ')
        return false;
    *rest = (struct view){rest->at + n + 1, rest->n - n - 1};
    *out = v;
    return true;
}

static bool read_line(struct view text, struct line *out)
{
    struct line l = {0};
    if (!read_address(&text, &l.address) || text.n < 3 || text.at[1] != ' ')
        return false;
    l.type = text.at[0];
    l.name = (struct view){text.at + 2, text.n - 2};
    const char *tab = memchr(l.name.at, '\t', l.name.n);
    if (tab) {
        l.module = view_between(tab + 1, l.name.at + l.name.n);
        l.name = view_between(l.name.at, tab);
        if (l.module.n > 2 && l.module.at[0] == '[' && l.module.at[l.module.n - 1] == ']')
            l.module = (struct view){l.module.at + 1, l.module.n - 2};
    }
    *out = l;
    return l.name.n > 0;
}

static enum symbol_rank rank_of(char type)
{
    switch (type) {
    case 'T':
    case 'W':
    case 'w': return SYMBOL_SHARED;
    case 't': return SYMBOL_LOCAL;
    default: return SYMBOL_HIDDEN;
    }
}

static void add(struct symbol_index *x, struct arena *names, const struct line *l)
{
    struct view stored = VIEW("");
    enum symbol_rank rank = rank_of(l->type);
    uint64_t bound = 0;
    if (rank != SYMBOL_HIDDEN) {
        char *both = arena_new(names, l->name.n + l->module.n + 2);
        memcpy(both, l->name.at, l->name.n);
        both[l->name.n] = '\0';
        if (l->module.n)
            memcpy(both + l->name.n + 1, l->module.at, l->module.n);
        both[l->name.n + 1 + l->module.n] = '\0';
        stored = (struct view){both, l->name.n};
    }
    if (__builtin_add_overflow(l->address, FUNCTION_MOST, &bound))
        bound = UINT64_MAX;
    symbol_index_add(x, (struct symbol){l->address, l->address, bound, stored, rank});
}

static bool read_all(struct kernel_symbols *k, struct reader *in, struct err *e)
{
    own(symbol_index) struct symbol_index found = {0};
    struct view text;
    bool has_addresses = false;
    struct err none = {0};
    while (reader_line(in, &text, &none)) {
        struct line l;
        if (!read_line(text, &l))
            return err_set(e, ERR_MALFORMED, "line %llu is not 'address type name'", (unsigned long long)in->line_no);
        has_addresses |= l.address != 0;
        add(&found, &k->names, &l);
        if (found.n > SYMBOLS_MOST)
            return err_set(e, ERR_LIMIT, "more than %zu symbols", SYMBOLS_MOST);
    }
    if (none.kind)
        return err_set(e, none.kind, "%s", none.text);
    if (found.n && !has_addresses) {
        err_set(e, ERR_DENIED, "the kernel hides the addresses of its functions");
        return err_hint(e, "as root: sysctl kernel.kptr_restrict=0, or run with CAP_SYSLOG");
    }
    k->ranges = symbol_index_ranges(&found);
    return true;
}

bool kernel_symbols_open(struct kernel_symbols **out, const char *kallsyms_path, struct err *e)
{
    own(kernel_symbols) struct kernel_symbols *k = mem_new(sizeof *k);
    own(reader) struct reader in = {.fd = -1};
    if (!reader_open(&in, kallsyms_path, e))
        return false;
    if (!read_all(k, &in, e))
        return err_in(e, "%s", kallsyms_path);
    *out = take(k);
    return true;
}

void kernel_symbols_free(struct kernel_symbols *k)
{
    if (!k)
        return;
    name_ranges_done(&k->ranges);
    arena_done(&k->names);
    free(k);
}

struct view kernel_symbols_at(const struct kernel_symbols *k, uint64_t address, struct view *out_module)
{
    struct view name = name_ranges_at(&k->ranges, address);
    if (out_module)
        *out_module = name.n ? view_of(name.at + name.n + 1) : VIEW("");
    return name;
}
