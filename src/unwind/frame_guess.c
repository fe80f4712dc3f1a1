#include "unwind/frame_guess.h"

/* Bytes of `FF /2` (call through a register or memory) from its ModRM byte on, or 0. */
static size_t indirect_call_bytes(uint8_t modrm, uint8_t sib)
{
    unsigned mode = modrm >> 6, rm = modrm & 7;
    if (((modrm >> 3) & 7) != 2)
        return 0;
    if (mode == 3)
        return 2;
    size_t bytes = rm == 4 ? 3 : 2;
    if (mode == 1)
        return bytes + 1;
    bool has_base = rm == 4 ? (sib & 7) != 5 : rm != 5;
    return mode == 2 || !has_base ? bytes + 4 : bytes;
}

/* `n` bytes end at the return address; prefixes do not matter, they come before. */
static bool is_x86_call(const uint8_t *end, size_t n)
{
    if (n >= 5 && end[-5] == 0xe8)
        return true;
    for (size_t back = 2; back <= 7 && back <= n; back++) {
        const uint8_t *at = end - back;
        if (at[0] == 0xff && indirect_call_bytes(at[1], back > 2 ? at[2] : 0) == back)
            return true;
    }
    return false;
}

/* bl, blr, and blr with pointer authentication (blraa, blrab, blraaz, blrabz). */
static bool is_arm64_call(const uint8_t *end, size_t n)
{
    if (n < 4)
        return false;
    uint32_t code = end[-4] | (uint32_t)end[-3] << 8 | (uint32_t)end[-2] << 16 | (uint32_t)end[-1] << 24;
    return (code & 0xfc000000) == 0x94000000 || (code & 0xfffffc1f) == 0xd63f0000 || (code & 0xfefff800) == 0xd63f0800;
}

bool frame_follows_call(const struct unwind_table *t, uint64_t address)
{
    if (!frame_sees_text(t, address))
        return true;
    uint64_t offset = address - t->text_address;
    const uint8_t *end = (const uint8_t *)t->text.at + offset;
    return t->arch == UNWIND_ARM64 ? is_arm64_call(end, (size_t)offset) : is_x86_call(end, (size_t)offset);
}
