#include "inlined.h"

#define IN static inline __attribute__((always_inline)) int

/* What __LINE__ says here is what DWARF says about the same line. */
IN inlined_inner(int x)
{
    __asm__ volatile(".globl inlined_mark\ninlined_mark:\n\tnop" : "+r"(x));
    return x;
}
const unsigned inlined_inner_line = __LINE__ - 3;

IN inlined_middle(int x)
{
    return inlined_inner(x + 1) * 3;
}
const unsigned inlined_middle_line = __LINE__ - 2;

const unsigned inlined_outer_begin = __LINE__ + 1;
__attribute__((noinline)) int inlined_outer(int x)
{
    return inlined_middle(x) - 7;
}
const unsigned inlined_outer_line = __LINE__ - 2;
