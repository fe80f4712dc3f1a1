#include "symbols/demangle.h"

#ifdef HAVE_DEMANGLER
#include <libiberty/demangle.h>
#include <setjmp.h>

/*
 * Longer names stay as they are: the library puts several dozen bytes per character on the
 * stack. Its own limit is 1 KiB, too short for what Eigen and LLVM make of templates.
 */
#define MANGLED_MOST ((size_t)8 << 10)
#define LIMITED_MOST ((size_t)1 << 10)

struct output {
    struct buf *to;
    jmp_buf enough;
};

static void add(const char *text, size_t n, void *opaque)
{
    struct output *o = opaque;
    buf_add(o->to, text, n);
    if (o->to->full)
        longjmp(o->enough, 1); /* the callbacks cannot say stop, and 2^60 bytes might follow */
}

bool demangle(const char *mangled, struct buf *out)
{
    bool is_rust = mangled[0] == '_' && mangled[1] == 'R';
    bool is_itanium = mangled[0] == '_' && mangled[1] == 'Z';
    size_t n = strlen(mangled);
    if ((!is_rust && !is_itanium) || n > MANGLED_MOST)
        return false;
    const int options = DMGL_PARAMS | DMGL_ANSI | (n > LIMITED_MOST ? DMGL_NO_RECURSE_LIMIT : 0);
    struct output o = {.to = out};
    if (setjmp(o.enough)) {
        buf_clear(out);
        return false;
    }
    /* Rust's old scheme is Itanium with a hash at the end, so Rust is asked first. */
    if (rust_demangle_callback(mangled, options, add, &o))
        return out->len > 0;
    buf_clear(out);
    if (is_itanium && cplus_demangle_v3_callback(mangled, options, add, &o))
        return out->len > 0;
    buf_clear(out);
    return false;
}
#else
bool demangle(const char *mangled, struct buf *out)
{
    (void)mangled;
    (void)out;
    return false;
}
#endif
