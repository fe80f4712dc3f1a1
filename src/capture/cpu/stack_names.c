#include "capture/cpu/stack_names.h"

frame_id stack_names_frame(struct stack_names *sn, struct view name, struct view module, enum frame_kind kind)
{
    mapping_id m = module.n ? builder_mapping(sn->names, (struct mapping){.path = builder_string(sn->names, module)}) : MAPPING_NONE;
    func_id f = builder_function(sn->names, (struct function){.name = builder_string(sn->names, name), .mapping = m});
    return builder_frame(sn->names, (struct frame){.function = f, .kind = kind});
}

static void push(struct stack_names *sn, const frame_id *frames, size_t n)
{
    size_t room = sn->most_depth - sn->n_frames, fits = n < room ? n : room;
    memcpy(sn->leaf_first + sn->n_frames, frames, fits * sizeof *frames);
    sn->n_frames += fits;
    sn->is_full |= fits < n;
}

/* Kernel addresses are not kept: they would tell every reader of the file where this kernel lies in memory. */
static frame_id kernel_frame(struct stack_names *sn, uint64_t address)
{
    struct view module = {0}, name = {0};
    if (sn->kernel)
        name = kernel_symbols_at(sn->kernel, address, &module);
    return stack_names_frame(sn, name.n ? name : VIEW("[kernel]"), module.n ? module : VIEW("[kernel]"), FRAME_KERNEL);
}

static void push_step(struct stack_names *sn, const struct step *step)
{
    size_t n = 1;
    frame_id kernel;
    const frame_id *frames = &step->frame;
    if (step->is_kernel) {
        kernel = kernel_frame(sn, step->address);
        frames = &kernel;
    } else if (step->file.i) {
        frames = code_files_frames(sn->files, step->file, step->address, &n);
    }
    push(sn, frames, n);
}

static const struct view marks[UNWIND_END_COUNT] = {
    [UNWIND_CUT] = {"[truncated]", 11},
    [UNWIND_TOO_DEEP] = {"[truncated]", 11},
    [UNWIND_NO_RULE] = {"[unknown caller]", 16},
    [UNWIND_BROKEN] = {"[unknown caller]", 16},
};

static stack_id turned_round(struct stack_names *sn, enum unwind_end end)
{
    frame_id root_first[DEPTH_MOST + 1];
    size_t n = 0;
    if (marks[end].n)
        root_first[n++] = builder_frame_named(sn->names, marks[end]);
    for (size_t i = sn->n_frames; i > 0; i--)
        root_first[n++] = sn->leaf_first[i - 1];
    return builder_stack(sn->names, root_first, n);
}

stack_id stack_names_stack(struct stack_names *sn, const struct step *steps, size_t n, enum unwind_end *end)
{
    sn->n_frames = 0;
    sn->is_full = false;
    for (size_t i = 0; i < n && !sn->is_full; i++)
        push_step(sn, &steps[i]);
    if (sn->is_full)
        *end = UNWIND_TOO_DEEP;
    return turned_round(sn, *end);
}
