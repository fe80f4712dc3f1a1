#include "unwind/function_ranges.h"
#include "base/mem.h"
#include "unwind/eh_frame.h"

struct function_ranges {
    uint64_t *starts;  /* ascending */
    uint32_t *lengths; /* one that is longer than 4 GiB is no function */
    size_t n;
};

bool function_ranges_new(struct function_ranges **out, const struct unwind_sections *s, struct err *e)
{
    own(eh_frame) struct eh_frame eh = {0};
    if (!eh_frame_read(&eh, s, e))
        return false;
    struct function_ranges *f = mem_new(sizeof *f);
    f->starts = mem_new(eh.n_fdes * sizeof *f->starts);
    f->lengths = mem_new(eh.n_fdes * sizeof *f->lengths);
    for (size_t i = 0; i < eh.n_fdes; i++) {
        uint64_t length = eh.fdes[i].end - eh.fdes[i].start;
        if (length > UINT32_MAX || (f->n && f->starts[f->n - 1] == eh.fdes[i].start))
            continue;
        f->starts[f->n] = eh.fdes[i].start;
        f->lengths[f->n++] = (uint32_t)length;
    }
    *out = f;
    return true;
}

void function_ranges_free(struct function_ranges *f)
{
    if (!f)
        return;
    free(f->starts);
    free(f->lengths);
    free(f);
}

bool function_ranges_at(const struct function_ranges *f, uint64_t address, struct unwind_range *out)
{
    size_t low = 0, high = f->n; /* the last that begins at or before the address */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (f->starts[middle] <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (!low || address - f->starts[low - 1] >= f->lengths[low - 1])
        return false;
    *out = (struct unwind_range){f->starts[low - 1], f->starts[low - 1] + f->lengths[low - 1]};
    return true;
}

size_t function_ranges_bytes(const struct function_ranges *f)
{
    return sizeof *f + f->n * (sizeof *f->starts + sizeof *f->lengths);
}
