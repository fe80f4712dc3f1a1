#include "render/memory_text.h"
#include "base/json.h"
#include "base/text.h"
#include "render/markup.h"
#include "render/memory_chart.h"

bool memory_is_there(const struct profile *p)
{
    own(memory_use) struct memory_use m;
    return memory_use_of(p, &m);
}

/* Tables. */

static const struct column owner_columns[] = {
    {"PSS",       "pss_bytes",  COLUMN_BYTES}, {"Most",  "most_bytes", COLUMN_BYTES}, {"Last",   "last_bytes",   COLUMN_BYTES},
    {"Anonymous", "anon_bytes", COLUMN_BYTES}, {"Files", "file_bytes", COLUMN_BYTES}, {"Shared", "shared_bytes", COLUMN_BYTES},
    {"Swapped",   "swap_bytes", COLUMN_BYTES}, {"pid",   "pid",        COLUMN_ID},    {"Process", "process",     COLUMN_TEXT},
};
enum { OWNER_COLUMNS = sizeof owner_columns / sizeof *owner_columns };

static size_t at_most(size_t n, size_t most) { return most && most < n ? most : n; }

/* PSS has a column where somebody read it. */
static struct table *owner_table(const struct memory_use *m, size_t most)
{
    bool has_pss = false;
    for (size_t i = 0; i < m->n_owners; i++)
        has_pss |= m->owners[i].of[MEMORY_USE_PSS] != NULL;
    struct table *t = has_pss ? table_new(owner_columns, OWNER_COLUMNS) : table_new(owner_columns + 1, OWNER_COLUMNS - 1);
    for (size_t i = 0; i < at_most(m->n_owners, most); i++) {
        const struct memory_owner *o = &m->owners[i];
        if (has_pss)
            table_number(t, o->last[MEMORY_USE_PSS]);
        table_number(t, o->most[MEMORY_USE_RSS]);
        table_number(t, o->last[MEMORY_USE_RSS]);
        table_number(t, o->most[MEMORY_USE_ANON]);
        table_number(t, o->most[MEMORY_USE_FILE]);
        table_number(t, o->most[MEMORY_USE_SHARED]);
        table_number(t, o->most[MEMORY_USE_SWAP]);
        table_number(t, (double)o->pid);
        table_text(t, o->name);
    }
    return t;
}

static const struct column mapping_columns[] = {
    {"Touched", "touched_bytes",       COLUMN_BYTES}, {"Resident", "resident_bytes", COLUMN_BYTES},
    {"Most",    "most_resident_bytes", COLUMN_BYTES}, {"Mapped",   "mapped_bytes",   COLUMN_BYTES},
    {"Kind",    "kind",                COLUMN_TEXT},  {"pid",      "pid",            COLUMN_ID},    {"What", "what", COLUMN_TEXT},
};
enum { MAPPING_COLUMNS = sizeof mapping_columns / sizeof *mapping_columns };

/* A region without a name of its own is called by where it begins; the rest of a kind is nobody's in particular. */
static struct view what_is(const struct memory_mapping *m)
{
    return m->path.n ? m->path : m->region.n ? m->region : VIEW("(the rest)");
}

static struct table *mapping_table(const struct memory_use *m, size_t most, bool every_column)
{
    bool has_touched = every_column;
    for (size_t i = 0; i < m->n_mappings; i++)
        has_touched |= m->mappings[i].touched != NULL;
    struct table *t = has_touched ? table_new(mapping_columns, MAPPING_COLUMNS) : table_new(mapping_columns + 1, MAPPING_COLUMNS - 1);
    for (size_t i = 0; i < at_most(m->n_mappings, most); i++) {
        const struct memory_mapping *r = &m->mappings[i];
        if (has_touched)
            table_number(t, r->touched_bytes);
        table_number(t, r->resident_bytes);
        table_number(t, r->most_resident_bytes);
        table_number(t, r->mapped_bytes);
        table_text(t, r->is_weights ? VIEW("weights") : r->kind);
        table_number(t, (double)r->pid);
        table_text(t, what_is(r));
    }
    return t;
}

/* Sentences. */

static const char what_it_says[] =
    "The largest readings of each kind, which need not be of the same moment; processes are not added up, since they may share pages.";

static void put_fact(const struct profile *p, const char *before, struct view key, void (*put)(struct sink *, struct view), struct sink *out)
{
    const struct fact *f = profile_fact_named(p, key);
    if (!f)
        return;
    sink_puts(out, before);
    put(out, profile_string(p, f->value));
}

static void put_safe(struct sink *out, struct view text) { text_safe(out, text, 0); }
static void put_in_markdown(struct sink *out, struct view text) { markdown_text(out, text, 0); }
static void put_in_markup(struct sink *out, struct view text) { text_markup(out, text, 0); }

static void put_notes(const struct profile *p, const char *after, void (*put)(struct sink *, struct view), struct sink *out)
{
    put_fact(p, "Pages were ", VIEW("memory.residency"), put, out);
    sink_puts(out, profile_fact_named(p, VIEW("memory.residency")) ? after : "");
    put_fact(p, "Not seen: ", VIEW("memory.not_seen"), put, out);
    sink_puts(out, profile_fact_named(p, VIEW("memory.not_seen")) ? after : "");
    put_fact(p, "PSS was not read: ", VIEW("memory.pss_not_seen"), put, out);
    sink_puts(out, profile_fact_named(p, VIEW("memory.pss_not_seen")) ? after : "");
}

static void short_name(struct view path, char out[64])
{
    own(buf) struct buf safe;
    struct sink to;
    buf_init(&safe, 256);
    sink_to_buf(&to, &safe);
    text_safe(&to, view_last_part(path), 40);
    (void)!sink_flush(&to, NULL);
    size_t n = safe.len < 63 ? safe.len : 63;
    while (n && n < safe.len && (safe.data[n] & 0xc0) == 0x80) /* not in the middle of a character */
        n--;
    memcpy(out, safe.data, n);
    out[n] = '\0';
}

void memory_finding_text(const struct weights_twice *w, char out[MEMORY_FINDING_TEXT])
{
    char name[64], saving[32], copy[32];
    short_name(w->file->path, name);
    text_bytes(saving, w->saving_bytes);
    text_bytes(copy, w->copy_bytes);
    snprintf(out, MEMORY_FINDING_TEXT,
             "%s %s in memory twice: %s of its pages are resident beside %s of anonymous memory at %.20s that %s (process %lld). Giving the pages "
             "of the file back (munmap, or madvise MADV_DONTNEED) would save %s. %s",
             name, w->is_touch_known ? "is" : "may be", saving, copy, w->region->region.at,
             w->is_order_seen ? "came after it" : "was there already, like the file, when the recording began", (long long)w->file->pid, saving,
             w->is_touch_known ? "Those pages were not used when that was last looked at."
                               : "Wrong if the program still reads the file, or if that memory is something else, such as a cache: 'record --touched' tells.");
}

typedef void (*put_sentence)(struct sink *out, struct view text);

static size_t put_findings(const struct memory_use *m, const char *before, put_sentence put, const char *after, struct sink *out)
{
    struct weights_twice found[MEMORY_FINDINGS_MOST];
    char text[MEMORY_FINDING_TEXT];
    size_t n = weights_twice_of(m, found, MEMORY_FINDINGS_MOST);
    for (size_t i = 0; i < n; i++) {
        memory_finding_text(&found[i], text);
        sink_puts(out, before);
        put(out, view_of(text));
        sink_puts(out, after);
    }
    return n;
}

void memory_print_findings(const struct profile *p, struct sink *out)
{
    own(memory_use) struct memory_use m;
    if (memory_use_of(p, &m))
        put_findings(&m, "found: ", put_safe, "\n", out);
}

/* The whole. */

static void put_rest(const struct memory_use *m, size_t most, const char *before, const char *after, struct sink *out)
{
    size_t more = m->n_mappings - at_most(m->n_mappings, most);
    if (more)
        sink_printf(out, "%s%zu more mapping%s%s", before, more, more == 1 ? "" : "s", after);
}

void memory_print(const struct profile *p, size_t most_rows, const struct table_style *style, struct sink *out)
{
    own(memory_use) struct memory_use m;
    memory_use_of(p, &m);
    own(table) struct table *owners = owner_table(&m, most_rows), *mappings = mapping_table(&m, most_rows, false);
    table_print(owners, style, out);
    if (table_rows(mappings)) {
        sink_char(out, '\n');
        table_print(mappings, style, out);
        put_rest(&m, most_rows, "(", ")\n", out);
    }
    sink_printf(out, "\n%s\n", what_it_says);
    put_notes(p, ".\n", put_safe, out);
    put_findings(&m, "\n", put_safe, "\n", out);
}

void memory_markdown(const struct profile *p, size_t most_rows, struct sink *out)
{
    own(memory_use) struct memory_use m;
    memory_use_of(p, &m);
    own(table) struct table *owners = owner_table(&m, most_rows), *mappings = mapping_table(&m, most_rows, false);
    table_markdown(owners, out);
    sink_printf(out, "\n%s ", what_it_says);
    put_notes(p, ". ", put_in_markdown, out);
    sink_char(out, '\n');
    if (table_rows(mappings)) {
        sink_char(out, '\n');
        table_markdown(mappings, out);
        put_rest(&m, most_rows, "\n", ".\n", out);
    }
    put_findings(&m, "\n- ", put_in_markdown, "\n", out);
}

void memory_html(const struct profile *p, size_t most_rows, struct sink *out)
{
    own(memory_use) struct memory_use m;
    memory_use_of(p, &m);
    own(table) struct table *owners = owner_table(&m, most_rows), *mappings = mapping_table(&m, most_rows, false);
    if (m.n_owners)
        memory_chart(p, &m.owners[0], out);
    table_html(owners, "memory-processes", out);
    sink_printf(out, "<p class=\"rest\">%s ", what_it_says);
    put_notes(p, ". ", put_in_markup, out);
    sink_puts(out, "</p>\n");
    put_findings(&m, "<p class=\"warn\">", put_in_markup, "</p>\n", out);
    if (table_rows(mappings)) {
        sink_puts(out, "<h3>What was mapped</h3>\n");
        table_html(mappings, "memory-mappings", out);
        put_rest(&m, most_rows, "<p class=\"rest\">", ".</p>\n", out);
    }
}

/* For machines. */

static void json_readings(struct json_writer *w, const char *key, const struct series *s)
{
    if (!s)
        return;
    json_key(w, key);
    json_open(w, '[');
    for (size_t i = 0; i < s->n; i++) {
        json_open(w, '[');
        json_uint(w, s->readings[i].time_ns);
        json_double(w, s->readings[i].value);
        json_close(w, ']');
    }
    json_close(w, ']');
}

static void json_owner(struct json_writer *w, const struct memory_owner *o)
{
    json_open(w, '{');
    json_key(w, "pid");
    json_int(w, o->pid);
    json_key(w, "process");
    json_text(w, o->name);
    for (size_t k = 0; k < MEMORY_KIND_COUNT; k++)
        json_readings(w, memory_kind_names[k], o->of[k]);
    json_close(w, '}');
}

static void json_findings(struct json_writer *w, const struct memory_use *m)
{
    struct weights_twice found[MEMORY_FINDINGS_MOST];
    char text[MEMORY_FINDING_TEXT];
    size_t n = weights_twice_of(m, found, MEMORY_FINDINGS_MOST);
    json_key(w, "weights_twice");
    json_open(w, '[');
    for (size_t i = 0; i < n; i++) {
        const struct weights_twice *f = &found[i];
        memory_finding_text(f, text);
        json_open(w, '{');
        json_key(w, "path");
        json_text(w, f->file->path);
        json_key(w, "region");
        json_text(w, f->region->region);
        json_key(w, "pid");
        json_int(w, f->file->pid);
        json_key(w, "saving_bytes");
        json_double(w, f->saving_bytes);
        json_key(w, "copy_bytes");
        json_double(w, f->copy_bytes);
        json_key(w, "is_order_seen");
        json_bool(w, f->is_order_seen);
        json_key(w, "is_touch_known");
        json_bool(w, f->is_touch_known);
        json_key(w, "text");
        json_text(w, view_of(text));
        json_close(w, '}');
    }
    json_close(w, ']');
}

void memory_json(const struct profile *p, struct json_writer *w)
{
    own(memory_use) struct memory_use m;
    memory_use_of(p, &m);
    json_key(w, "process_memory");
    json_open(w, '{');
    json_key(w, "processes");
    json_open(w, '[');
    for (size_t i = 0; i < m.n_owners; i++)
        json_owner(w, &m.owners[i]);
    json_close(w, ']');
    own(table) struct table *mappings = mapping_table(&m, 0, true);
    json_key(w, "mappings");
    table_json(mappings, w);
    json_findings(w, &m);
    json_close(w, '}');
}
