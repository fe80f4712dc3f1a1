#include "analyse/function_union.h"
#include "base/mem.h"

void function_union_init(struct function_union *u, struct builder *to)
{
    *u = (struct function_union){.to = to};
    idmap_init(&u->map);
}

void function_union_done(struct function_union *u)
{
    idmap_done(&u->map);
    free(u->keys);
    free(u->frames);
    *u = (struct function_union){0};
}

static bool same_key(const void *keys, uint32_t i, const void *key)
{
    return memcmp((const struct function_key *)keys + i, key, sizeof(struct function_key)) == 0;
}

static struct view module_of(const struct profile *p, const struct function *f)
{
    return profile_string(p, profile_mapping(p, f->mapping)->path);
}

static frame_id make_frame(struct builder *to, const struct profile *from, const struct frame *like)
{
    const struct function *f = profile_function(from, like->function);
    mapping_id module = builder_mapping(to, (struct mapping){.path = builder_string(to, module_of(from, f))});
    struct function made = {.name = builder_string(to, profile_string(from, f->name)),
                            .file = builder_string(to, profile_string(from, f->file)),
                            .line = f->line,
                            .mapping = module};
    return builder_frame(to, (struct frame){.function = builder_function(to, made), .kind = like->kind});
}

static frame_id common_frame(struct function_union *u, const struct profile *from, const struct frame *like)
{
    const struct function *f = profile_function(from, like->function);
    struct function_key key = {.name = builder_string(u->to, profile_string(from, f->name)),
                               .module = builder_string(u->to, view_last_part(module_of(from, f))),
                               .file = builder_string(u->to, view_last_part(profile_string(from, f->file)))};
    uint64_t h = idmap_hash(&u->map, &key, sizeof key);
    uint32_t row = idmap_find(&u->map, h, same_key, u->keys, &key);
    if (row != IDMAP_NONE)
        return u->frames[row];
    GROW(u->keys, u->cap_keys, u->n + 1);
    GROW(u->frames, u->cap_frames, u->n + 1);
    u->keys[u->n] = key;
    u->frames[u->n] = make_frame(u->to, from, like);
    idmap_add(&u->map, h, (uint32_t)u->n);
    return u->frames[u->n++];
}

stack_id *function_union_stacks(struct function_union *u, const struct profile *from)
{
    size_t n = profile_stacks(from);
    own(free) frame_id *frame_of = mem_new(profile_functions(from) * sizeof *frame_of); /* by function; 0: not yet */
    stack_id *made = mem_new(n * sizeof *made);
    for (uint32_t s = 1; s < n; s++) {
        const struct stack *row = profile_stack(from, (stack_id){s});
        const struct frame *frame = profile_frame(from, row->frame);
        frame_id *known = &frame_of[frame->function.i];
        if (!known->i)
            *known = common_frame(u, from, frame);
        made[s] = builder_push(u->to, made[row->caller.i], *known);
    }
    return made;
}
