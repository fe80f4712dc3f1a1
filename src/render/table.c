#include "render/table.h"
#include "base/arena.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"

#include <math.h>

struct cell {
    struct view text;
    double number;
};

struct table {
    const struct column *columns;
    size_t n_columns;
    struct cell *cells;
    size_t n, cap;
    struct arena texts;
};

struct table *table_new(const struct column *columns, size_t n)
{
    struct table *t = mem_new(sizeof *t);
    t->columns = columns;
    t->n_columns = n;
    return t;
}

void table_free(struct table *t)
{
    if (!t)
        return;
    arena_done(&t->texts);
    free(t->cells);
    free(t);
}

static struct cell *next_cell(struct table *t)
{
    GROW(t->cells, t->cap, t->n + 1);
    return &t->cells[t->n++];
}

void table_text(struct table *t, struct view text)
{
    char *copy = arena_text(&t->texts, text);
    *next_cell(t) = (struct cell){.text = {copy, text.n}};
}

void table_number(struct table *t, double n) { *next_cell(t) = (struct cell){.number = n}; }

size_t table_rows(const struct table *t) { return t->n_columns ? t->n / t->n_columns : 0; }

static const struct cell *cell_at(const struct table *t, size_t row, size_t column)
{
    return &t->cells[row * t->n_columns + column];
}

bool column_is_text(const struct column *c) { return c->kind == COLUMN_TEXT || c->kind == COLUMN_CODE; }

/* For eyes. */

static void show_number(char out[32], const struct column *c, double n)
{
    if (isnan(n)) {
        snprintf(out, 32, "-");
        return;
    }
    switch (c->kind) {
    case COLUMN_NS: text_ns(out, n); return;
    case COLUMN_BYTES: text_bytes(out, n); return;
    case COLUMN_SHARE: snprintf(out, 32, "%.1f %%", 100 * n); return;
    case COLUMN_ID: snprintf(out, 32, "%.0f", n); return;
    case COLUMN_FIXED: snprintf(out, 32, "%.*f", (int)c->decimals, n + 0.0); return;
    case COLUMN_REAL: snprintf(out, 32, "%.6g", n + 0.0); return; /* no "-0" */
    case COLUMN_COUNT:
        if (c->decimals)
            text_decimal(out, llround(n), c->decimals);
        else
            text_count(out, llround(n));
        return;
    default: out[0] = '\0'; return;
    }
}

static size_t cell_columns(const struct table *t, size_t row, size_t column)
{
    const struct cell *c = cell_at(t, row, column);
    if (column_is_text(&t->columns[column]))
        return text_columns(c->text);
    char shown[32];
    show_number(shown, &t->columns[column], c->number);
    return strlen(shown);
}

static size_t widest(const struct table *t, size_t column)
{
    size_t most = strlen(t->columns[column].title);
    for (size_t row = 0; row < table_rows(t); row++) {
        size_t n = cell_columns(t, row, column);
        most = n > most ? n : most;
    }
    return most;
}

/* Text columns give way when the line is too long, the widest first, but stay readable. */
static void fit(const struct table *t, size_t *widths, unsigned width)
{
    enum { LEAST = 12, GAP = 2 };
    for (;;) {
        size_t all = 0, victim = t->n_columns;
        for (size_t c = 0; c < t->n_columns; c++) {
            all += widths[c] + (c ? GAP : 0);
            if (column_is_text(&t->columns[c]) && widths[c] > LEAST &&
                (victim == t->n_columns || widths[c] > widths[victim]))
                victim = c;
        }
        if (!width || all <= width || victim == t->n_columns)
            return;
        size_t over = all - width, can = widths[victim] - LEAST;
        widths[victim] -= over < can ? (over + 1) / 2 : (can + 1) / 2;
    }
}

/* Numbers to the right, texts to the left; the last column leaves no blanks behind it. */
static void print_cell(struct view shown, bool right, size_t width, bool last, struct sink *out)
{
    size_t n = text_columns(shown);
    if (right)
        sink_pad(out, width > n ? width - n : 0);
    size_t written = text_safe(out, shown, width);
    if (!right && !last)
        sink_pad(out, width > written ? width - written : 0);
}

/* Empty cells at the end of a row are not printed, nor are blanks in front of them. */
static size_t filled_columns(const struct table *t, size_t row)
{
    size_t n = t->n_columns;
    while (n && column_is_text(&t->columns[n - 1]) && !cell_at(t, row, n - 1)->text.n)
        n--;
    return n;
}

static void print_row(const struct table *t, const size_t *widths, size_t row, struct sink *out)
{
    size_t n = filled_columns(t, row);
    for (size_t c = 0; c < n; c++) {
        char number[32];
        const struct cell *cell = cell_at(t, row, c);
        bool is_text = column_is_text(&t->columns[c]);
        if (!is_text)
            show_number(number, &t->columns[c], cell->number);
        if (c)
            sink_puts(out, "  ");
        print_cell(is_text ? cell->text : view_of(number), !is_text, widths[c], c + 1 == n, out);
    }
    sink_char(out, '\n');
}

void table_print(const struct table *t, const struct table_style *s, struct sink *out)
{
    own(free) size_t *widths = mem_new(t->n_columns * sizeof *widths);
    for (size_t c = 0; c < t->n_columns; c++)
        widths[c] = widest(t, c);
    fit(t, widths, s->width);
    sink_puts(out, s->colour ? "\033[1m" : "");
    for (size_t c = 0; c < t->n_columns; c++) {
        sink_puts(out, c ? "  " : "");
        print_cell(view_of(t->columns[c].title), !column_is_text(&t->columns[c]), widths[c],
                   c + 1 == t->n_columns, out);
    }
    sink_puts(out, s->colour ? "\033[0m\n" : "\n");
    for (size_t row = 0; row < table_rows(t); row++)
        print_row(t, widths, row, out);
}

/* Cell by cell. */

size_t table_width(const struct table *t) { return t->n_columns; }
const struct column *table_column(const struct table *t, size_t column) { return &t->columns[column]; }
double table_value(const struct table *t, size_t row, size_t column) { return cell_at(t, row, column)->number; }

struct view table_shown(const struct table *t, size_t row, size_t column, char room[32])
{
    const struct cell *c = cell_at(t, row, column);
    if (column_is_text(&t->columns[column]))
        return c->text;
    show_number(room, &t->columns[column], c->number);
    return view_of(room);
}

/* For machines. */

static void json_cell(const struct column *c, const struct cell *cell, struct json_writer *w)
{
    json_key(w, c->key);
    if (column_is_text(c))
        json_text(w, cell->text);
    else if (c->kind == COLUMN_COUNT && c->decimals && !isnan(cell->number))
        json_decimal(w, llround(cell->number), c->decimals);
    else
        json_double(w, cell->number);
}

void table_json(const struct table *t, struct json_writer *w)
{
    json_open(w, '[');
    for (size_t row = 0; row < table_rows(t); row++) {
        json_open(w, '{');
        for (size_t c = 0; c < t->n_columns; c++)
            json_cell(&t->columns[c], cell_at(t, row, c), w);
        json_close(w, '}');
    }
    json_close(w, ']');
}
