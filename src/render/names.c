#include "render/names.h"
#include "base/text.h"

struct view name_of_module(const struct profile *p, func_id id)
{
    mapping_id m = profile_function(p, id)->mapping;
    return view_last_part(profile_string(p, profile_mapping(p, m)->path));
}

/* Kernel and vDSO mappings come in brackets already. */
struct view name_of_function(const struct profile *p, func_id id, char room[NAME_ROOM])
{
    struct view name = profile_string(p, profile_function(p, id)->name);
    if (name.n)
        return name;
    struct view module = name_of_module(p, id);
    if (!module.n)
        return VIEW("[unknown]");
    if (module.at[0] == '[')
        return module;
    int n = snprintf(room, NAME_ROOM, "[%.*s]", (int)(module.n < 300 ? module.n : 300), module.at);
    return (struct view){room, (size_t)n};
}

struct view name_of_place(const struct profile *p, func_id id, char room[NAME_ROOM])
{
    const struct function *f = profile_function(p, id);
    struct view file = profile_string(p, f->file);
    if (!file.n || !f->line)
        return file;
    int n = snprintf(room, NAME_ROOM, "%.*s:%u", (int)(file.n < 300 ? file.n : 300), file.at, f->line);
    return (struct view){room, (size_t)n};
}

enum column_kind column_of(const struct measure *m)
{
    return m->unit == UNIT_NS ? COLUMN_NS : m->unit == UNIT_BYTES ? COLUMN_BYTES : COLUMN_COUNT;
}

void value_text(char out[32], const struct measure *m, int64_t value)
{
    switch (column_of(m)) {
    case COLUMN_NS: text_ns(out, (double)value); return;
    case COLUMN_BYTES: text_bytes(out, (double)value); return;
    default: break;
    }
    if (m->decimals)
        text_decimal(out, value, m->decimals);
    else
        text_count(out, value);
}
