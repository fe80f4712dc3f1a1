/*
 * Ranges of programs that know nothing of us. NVTX is a header that many CUDA programs and frameworks carry; its calls do
 * nothing until a tool gives them functions. The tool is a library that an environment variable names:
 *
 *     NVTX_INJECTION64_PATH=/usr/local/lib/libinferom.so INFEROM_SCOPES=on python3 generate.py
 *
 * The first call of a program asks us for functions, here. Ranges that are pushed and popped become scopes, whatever
 * their domain. Ranges that one thread starts and another ends are no scopes; they and marks stay unheard.
 *
 * Numbers and layouts are NVTX's own (version 3); they never change, only grow.
 */
#include "ranges.h"

#include <wchar.h>

enum { TABLE_OF_CALLBACKS = 1, MODULE_CORE = 1, MODULE_CORE2 = 5 };
enum { CORE_PUSH_EX = 8, CORE_PUSH_A = 9, CORE_PUSH_W = 10, CORE_POP = 11 };
enum { CORE2_PUSH_EX = 4, CORE2_POP = 5, CORE2_STRING_A = 10, CORE2_STRING_W = 11 };
enum { MESSAGE_ASCII = 1, MESSAGE_WIDE = 2, MESSAGE_REGISTERED = 3 };
enum { NAME_BYTES = 512 };

typedef void (*any_function)(void);

struct callbacks {
    size_t bytes;
    int (*functions_of)(int module, any_function ***out_table, unsigned *out_size); /* by id: where the function is kept */
};

struct attributes {
    uint16_t version, bytes;
    uint32_t category;
    int32_t colour_type;
    uint32_t colour;
    int32_t payload_type, reserved;
    uint64_t payload;
    int32_t message_type;
    union {
        const char *ascii;
        const wchar_t *wide;
        const inferom_site *registered; /* what register_a() returned */
    } message;
};
_Static_assert(offsetof(struct attributes, message_type) == 32 && sizeof(struct attributes) == 48, "as NVTX has it");

/* UTF-8; what does not fit is cut. */
static const char *narrow(const wchar_t *wide, char out[NAME_BYTES])
{
    size_t n = 0;
    for (; wide && *wide && n + 5 < NAME_BYTES; wide++) {
        uint32_t c = (uint32_t)*wide;
        size_t more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
        out[n++] = (char)(more ? (0xff00 >> (more + 1) & 0xff) | c >> 6 * more : c);
        while (more--)
            out[n++] = (char)(0x80 | (c >> 6 * more & 0x3f));
    }
    out[n] = 0;
    return out;
}

static int push_wide(const wchar_t *name)
{
    char text[NAME_BYTES];
    return range_push(narrow(name, text));
}

static int push_attributes(const struct attributes *a)
{
    if (!a || a->bytes < sizeof *a)
        return range_push(NULL);
    if (a->message_type == MESSAGE_WIDE)
        return push_wide(a->message.wide);
    if (a->message_type == MESSAGE_REGISTERED)
        return range_push(a->message.registered ? site_name(a->message.registered) : NULL);
    return range_push(a->message_type == MESSAGE_ASCII ? a->message.ascii : NULL);
}

static int push_in_domain(const void *domain, const struct attributes *a)
{
    (void)domain;
    return push_attributes(a);
}

static int pop_in_domain(const void *domain)
{
    (void)domain;
    return range_pop();
}

static const inferom_site *register_a(const void *domain, const char *text)
{
    (void)domain;
    return text ? site_named(text, SITE_SCOPE) : NULL;
}

static const inferom_site *register_w(const void *domain, const wchar_t *text)
{
    char room[NAME_BYTES];
    return register_a(domain, narrow(text, room));
}

static const struct hook {
    int module;
    unsigned id;
    any_function function;
} hooks[] = {
    {MODULE_CORE, CORE_PUSH_EX, (any_function)push_attributes},
    {MODULE_CORE, CORE_PUSH_A, (any_function)range_push},
    {MODULE_CORE, CORE_PUSH_W, (any_function)push_wide},
    {MODULE_CORE, CORE_POP, (any_function)range_pop},
    {MODULE_CORE2, CORE2_PUSH_EX, (any_function)push_in_domain},
    {MODULE_CORE2, CORE2_POP, (any_function)pop_in_domain},
    {MODULE_CORE2, CORE2_STRING_A, (any_function)register_a},
    {MODULE_CORE2, CORE2_STRING_W, (any_function)register_w},
};

INFEROM_API int InitializeInjectionNvtx2(const void *(*table_of)(uint32_t id));

/* 1: we have taken what we could. An older program has shorter tables. */
int InitializeInjectionNvtx2(const void *(*table_of)(uint32_t id))
{
    const struct callbacks *c = table_of ? table_of(TABLE_OF_CALLBACKS) : NULL;
    if (!c || c->bytes < sizeof *c || !c->functions_of)
        return 0;
    for (size_t i = 0; i < sizeof hooks / sizeof *hooks; i++) {
        any_function **table = NULL;
        unsigned size = 0;
        if (c->functions_of(hooks[i].module, &table, &size) && table && hooks[i].id < size && table[hooks[i].id])
            *table[hooks[i].id] = hooks[i].function;
    }
    return 1;
}
