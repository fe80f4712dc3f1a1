/*
 * eh_pointer.h - the spellings of an address in .eh_frame
 *
 *     encoding:  7        6 5 4            3 2 1 0
 *                indirect relative to what how it is written
 *
 * What FDEs really use is relative to the place itself (pcrel) or absolute. Relative
 * to text, data or function needs bases that no section tells; such an entry is left out.
 */
#pragma once
#include "unwind/eh_cursor.h"

enum { EH_PCREL = 0x10, EH_OMITTED = 0xff };

/* `here` is the address the cursor stands at. False: an encoding we cannot follow. */
static inline bool eh_pointer(struct eh_cursor *c, uint8_t encoding, uint64_t here, uint64_t *out)
{
    *out = 0;
    uint8_t relative_to = encoding & 0xf0;
    if (encoding == EH_OMITTED || (relative_to != 0 && relative_to != EH_PCREL))
        return false;
    switch (encoding & 0x0f) {
    case 0x0: case 0x4: case 0xc: *out = eh_uint(c, 8); break;
    case 0x1: *out = eh_uleb(c); break;
    case 0x2: *out = eh_uint(c, 2); break;
    case 0x3: *out = eh_uint(c, 4); break;
    case 0x9: *out = (uint64_t)eh_sleb(c); break;
    case 0xa: *out = (uint64_t)eh_sint(c, 2); break;
    case 0xb: *out = (uint64_t)eh_sint(c, 4); break;
    default: return false;
    }
    if (relative_to == EH_PCREL)
        *out += here;
    return !c->is_short;
}
