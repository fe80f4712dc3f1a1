#include "capture/cpu/code_files.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/intern.h"
#include "symbols/symbols.h"
#include "unwind/function_ranges.h"

#include <elf.h>
#include <inttypes.h>
#include <sys/auxv.h>

struct code_file {
    struct view path, build_id; /* the key; owned by the arena */
    uint64_t device, inode;
    bool is_asked;              /* opening was tried */
    bool is_twin;               /* image and table belong to another row: the same file under two keys */
    struct image *image;        /* NULL: could not be opened */
    struct unwind_table *table; /* NULL: no rules */
    struct function_ranges *ranges; /* NULL: nobody has asked, or there are none */
    bool is_asked_for_ranges;
    mapping_id mapping;
};

/* What an address stands for: a run of frames, innermost first. */
struct resolved {
    uint64_t address;
    code_file_id file;
    uint32_t first, n;
};

struct code_files {
    struct builder *names;
    char *proc;
    struct arena texts;
    struct code_file *rows; /* row 0 is no file */
    size_t n, cap;
    struct idmap by_key;
    struct resolved *resolved;
    size_t n_resolved, resolved_cap;
    struct idmap by_address;
    frame_id *frames; /* the runs, end to end */
    size_t n_frames, frames_cap;
};

struct code_files *code_files_new(struct builder *names, const char *proc)
{
    struct code_files *cs = mem_new(sizeof *cs);
    cs->names = names;
    cs->proc = mem_text(proc, strlen(proc));
    idmap_init(&cs->by_key);
    idmap_init(&cs->by_address);
    GROW(cs->rows, cs->cap, 1);
    cs->rows[cs->n++] = (struct code_file){.is_asked = true};
    return cs;
}

void code_files_free(struct code_files *cs)
{
    if (!cs)
        return;
    for (size_t i = 0; i < cs->n; i++) {
        if (cs->rows[i].is_twin)
            continue;
        function_ranges_free(cs->rows[i].ranges);
        image_free(cs->rows[i].image);
        unwind_table_free(cs->rows[i].table);
    }
    idmap_done(&cs->by_key);
    idmap_done(&cs->by_address);
    arena_done(&cs->texts);
    free(cs->frames);
    free(cs->resolved);
    free(cs->rows);
    free(cs->proc);
    free(cs);
}

/* Who is who. A build id says more than a name; without one the file system's number has to do. */

static bool same_file(const void *rows, uint32_t i, const void *key)
{
    const struct code_file *c = (const struct code_file *)rows + i;
    const struct code_file_key *k = key;
    return c->device == k->device && c->inode == k->inode && view_same(c->build_id, k->build_id) &&
           view_same(c->path, k->path);
}

code_file_id code_files_find(struct code_files *cs, const struct code_file_key *key)
{
    if (!key->path.n)
        return CODE_FILE_NONE;
    uint64_t h = idmap_hash(&cs->by_key, key->path.at, key->path.n) ^ key->inode * UINT64_C(0x9e3779b97f4a7c15);
    uint32_t row = idmap_find(&cs->by_key, h, same_file, cs->rows, key);
    if (row != IDMAP_NONE)
        return (code_file_id){row};
    GROW(cs->rows, cs->cap, cs->n + 1);
    struct code_file c = {.device = key->device, .inode = key->inode};
    c.path = (struct view){arena_text(&cs->texts, key->path), key->path.n};
    c.build_id = (struct view){arena_text(&cs->texts, key->build_id), key->build_id.n};
    cs->rows[cs->n] = c;
    idmap_add(&cs->by_key, h, (uint32_t)cs->n);
    return (code_file_id){(uint32_t)cs->n++};
}

/* Opening. */

static bool is_vdso(const struct code_file *c) { return view_same(c->path, VIEW("[vdso]")); }

/* The kernel gives every 64-bit process the same vDSO, us included; it says itself how large it is. */
static bool open_vdso(struct code_file *c, struct err *e)
{
    const char *at = (const char *)getauxval(AT_SYSINFO_EHDR); /* NOLINT(performance-no-int-to-ptr): that is where it is */
    if (!at)
        return err_set(e, ERR_UNSUPPORTED, "this kernel has no vDSO");
    Elf64_Ehdr head;
    memcpy(&head, at, sizeof head);
    struct image_file f = {.bytes = {at, head.e_shoff + (size_t)head.e_shnum * head.e_shentsize}};
    return image_open(&c->image, &f, e);
}

/*
 * Through the process's own root first; then through the link the kernel keeps to a
 * file that was deleted or replaced; then, when the process has ended before we came,
 * by the path as we see it. With a build id the wrong file is refused each time;
 * without one only the first two can be trusted to be what was mapped.
 */
static bool open_file(const struct code_files *cs, struct code_file *c, const struct code_file_place *at, struct err *e)
{
    static const char gone[] = " (deleted)";
    bool is_gone = view_ends(c->path, VIEW(" (deleted)"));
    char root[64], link[128];
    snprintf(root, sizeof root, "%s/%" PRId32 "/root", cs->proc, at->pid);
    snprintf(link, sizeof link, "%s/%" PRId32 "/map_files/%" PRIx64 "-%" PRIx64, cs->proc, at->pid, at->start, at->end);
    own(free) char *path = mem_text(c->path.at, is_gone ? c->path.n - (sizeof gone - 1) : c->path.n);
    if (!is_gone && image_open(&c->image, &(struct image_file){.path = path, .root = root, .build_id = c->build_id}, e))
        return true;
    return image_open(&c->image, &(struct image_file){.path = link, .build_id = c->build_id}, NULL) ||
           ((c->build_id.n || !is_gone) && image_open(&c->image, &(struct image_file){.path = path, .build_id = c->build_id}, e));
}

static bool arch_of(int machine, enum unwind_arch *out)
{
    *out = machine == EM_AARCH64 ? UNWIND_ARM64 : UNWIND_X86_64;
    return machine == EM_AARCH64 || machine == EM_X86_64;
}

static bool sections_of(const struct code_file *c, struct unwind_sections *out)
{
    *out = (struct unwind_sections){0};
    out->eh_frame = image_section(c->image, ".eh_frame", &out->eh_frame_address);
    return arch_of(image_machine(c->image), &out->arch);
}

static void build_table(struct code_file *c)
{
    static const char *const plts[] = {".plt", ".plt.sec", ".plt.got"};
    struct unwind_sections s;
    if (!sections_of(c, &s))
        return;
    s.text = image_section(c->image, ".text", &s.text_address);
    s.text_stays = true; /* image and table of a row go together */
    for (size_t i = 0; i < sizeof plts / sizeof *plts; i++) {
        uint64_t address = 0;
        struct view bytes = image_section(c->image, plts[i], &address);
        if (bytes.n)
            s.plt[i] = (struct unwind_range){address, address + bytes.n};
    }
    struct err e = {0};
    if (!unwind_table_new(&c->table, &s, &e))
        log_info("%.*s: no unwind table: %s", (int)c->path.n, c->path.at, e.text);
}

/* The same file may have come under another key: by build id from the kernel, by inode from /proc/PID/maps. */
static bool take_twin(const struct code_files *cs, struct code_file *c)
{
    struct view id = image_build_id(c->image);
    for (size_t i = 1; id.n && i < cs->n; i++) {
        const struct code_file *other = &cs->rows[i];
        if (other == c || !other->image || other->is_twin || !view_same(image_build_id(other->image), id))
            continue;
        image_free(c->image);
        c->image = other->image;
        c->table = other->table;
        c->mapping = other->mapping;
        return c->is_twin = true;
    }
    return false;
}

static mapping_id mapping_of(struct builder *names, const struct code_file *c)
{
    static const char digits[] = "0123456789abcdef";
    struct view id = c->image ? image_build_id(c->image) : c->build_id;
    char hex[128];
    size_t n = 0;
    for (size_t i = 0; i < id.n && n + 2 <= sizeof hex; i++) {
        hex[n++] = digits[(uint8_t)id.at[i] >> 4];
        hex[n++] = digits[(uint8_t)id.at[i] & 15];
    }
    return builder_mapping(names, (struct mapping){.path = builder_string(names, c->path),
                                                   .build_id = builder_string(names, (struct view){hex, n})});
}

void code_files_open(struct code_files *cs, code_file_id id, const struct code_file_place *at)
{
    struct code_file *c = &cs->rows[id.i];
    if (c->is_asked)
        return;
    c->is_asked = true;
    struct err e = {0};
    if (!(is_vdso(c) ? open_vdso(c, &e) : open_file(cs, c, at, &e)))
        log_info("%.*s: no names: %s", (int)c->path.n, c->path.at, e.text);
    else if (!take_twin(cs, c))
        build_table(c);
    if (!c->is_twin)
        c->mapping = mapping_of(cs->names, c);
}

const struct unwind_table *code_files_table(const struct code_files *cs, code_file_id id) { return cs->rows[id.i].table; }

uint64_t code_files_address(const struct code_files *cs, code_file_id id, uint64_t file_offset)
{
    uint64_t address = file_offset;
    const struct code_file *c = &cs->rows[id.i];
    if (c->image && !image_virtual_address(c->image, file_offset, &address))
        return file_offset;
    return address;
}

/* Frames. */

static void add_frame(struct code_files *cs, frame_id f)
{
    GROW(cs->frames, cs->frames_cap, cs->n_frames + 1);
    cs->frames[cs->n_frames++] = f;
}

static struct view last_part(struct view path)
{
    const char *slash = path.n ? memrchr(path.at, '/', path.n) : NULL;
    return slash ? view_between(slash + 1, path.at + path.n) : path;
}

/* The row that image and table belong to. */
static struct code_file *owner_of(const struct code_files *cs, struct code_file *c)
{
    for (size_t i = 1; c->is_twin && i < cs->n; i++)
        if (!cs->rows[i].is_twin && cs->rows[i].image == c->image)
            return &cs->rows[i];
    return c;
}

/* Where the function without a name begins; the address itself when not even that is known. */
static uint64_t start_of(const struct code_files *cs, struct code_file *c, uint64_t address)
{
    struct code_file *owner = owner_of(cs, c);
    struct unwind_sections s;
    struct unwind_range range;
    if (!owner->is_asked_for_ranges && owner->image && sections_of(owner, &s) && !function_ranges_new(&owner->ranges, &s, NULL))
        log_debug("%.*s: no ranges of functions", (int)c->path.n, c->path.at);
    owner->is_asked_for_ranges = true;
    return owner->ranges && function_ranges_at(owner->ranges, address, &range) ? range.start : address;
}

/* [libfoo.so+0x1234]; what is in brackets already keeps one pair: [vdso+0x1234]. */
static str_id nameless(struct builder *names, struct view module, uint64_t address)
{
    char text[320];
    if (module.n > 2 && module.at[0] == '[')
        module = (struct view){module.at + 1, module.n - 2};
    int n = snprintf(text, sizeof text, "[%.*s+0x%" PRIx64 "]", (int)(module.n < 256 ? module.n : 256), module.at, address);
    return builder_string(names, (struct view){text, (size_t)n});
}

static void add_place(struct code_files *cs, struct code_file *c, uint64_t address, const struct place *p, bool is_inlined)
{
    struct builder *b = cs->names;
    struct function f = {
        .name = p->name.n ? builder_string(b, p->name) : nameless(b, last_part(c->path), start_of(cs, c, address)),
        .file = builder_string(b, p->function_file.n ? p->function_file : p->file),
        .line = p->function_line,
        .mapping = c->mapping,
    };
    add_frame(cs, builder_frame(b, (struct frame){.function = builder_function(b, f), .line = p->line, .address = address,
                                                  .kind = is_inlined ? FRAME_INLINED : FRAME_NATIVE}));
}

static struct resolved resolve(struct code_files *cs, code_file_id id, uint64_t address)
{
    struct resolved r = {.address = address, .file = id, .first = (uint32_t)cs->n_frames};
    struct code_file *c = &cs->rows[id.i];
    struct place places[PLACES_MOST] = {0};
    size_t n = c->image ? image_places(c->image, address, places) : 1;
    for (size_t i = 0; i < n; i++)
        add_place(cs, c, address, &places[i], i + 1 < n);
    r.n = (uint32_t)(cs->n_frames - r.first);
    return r;
}

static bool same_address(const void *rows, uint32_t i, const void *key)
{
    const struct resolved *a = (const struct resolved *)rows + i, *k = key;
    return a->address == k->address && a->file.i == k->file.i;
}

const frame_id *code_files_frames(struct code_files *cs, code_file_id id, uint64_t address, size_t *out_n)
{
    struct resolved key = {.address = address, .file = id};
    uint64_t h = idmap_hash_pair(&cs->by_address, (uint32_t)address, (uint32_t)(address >> 32) ^ id.i << 16);
    uint32_t row = idmap_find(&cs->by_address, h, same_address, cs->resolved, &key);
    if (row == IDMAP_NONE) {
        struct resolved r = resolve(cs, id, address);
        GROW(cs->resolved, cs->resolved_cap, cs->n_resolved + 1);
        row = (uint32_t)cs->n_resolved;
        cs->resolved[cs->n_resolved++] = r;
        idmap_add(&cs->by_address, h, row);
    }
    *out_n = cs->resolved[row].n;
    return cs->frames + cs->resolved[row].first;
}

void code_files_begin_again(struct code_files *cs, struct builder *names)
{
    cs->names = names;
    cs->n_resolved = cs->n_frames = 0;
    idmap_done(&cs->by_address);
    idmap_init(&cs->by_address);
    for (size_t i = 1; i < cs->n; i++)
        if (cs->rows[i].is_asked && !cs->rows[i].is_twin)
            cs->rows[i].mapping = mapping_of(names, &cs->rows[i]);
    for (size_t i = 1; i < cs->n; i++)
        if (cs->rows[i].is_twin)
            cs->rows[i].mapping = owner_of(cs, &cs->rows[i])->mapping;
}

size_t code_files_known(const struct code_files *cs) { return cs->n; }

size_t code_files_count(const struct code_files *cs)
{
    size_t n = 0;
    for (size_t i = 1; i < cs->n; i++)
        n += cs->rows[i].image && !cs->rows[i].is_twin;
    return n;
}

size_t code_files_held_bytes(const struct code_files *cs)
{
    size_t n = cs->texts.held_bytes + cs->resolved_cap * sizeof *cs->resolved + cs->frames_cap * sizeof *cs->frames;
    for (size_t i = 1; i < cs->n; i++)
        if (!cs->rows[i].is_twin && cs->rows[i].image)
            n += image_held_bytes(cs->rows[i].image) + (cs->rows[i].table ? unwind_table_bytes(cs->rows[i].table) : 0) +
                 (cs->rows[i].ranges ? function_ranges_bytes(cs->rows[i].ranges) : 0);
    return n;
}
