#include "base/text.h"
#include "render/markup.h"
#include "render/table.h"

#include <inttypes.h>

enum { MARKDOWN_COLUMNS = 120, HTML_COLUMNS = 200 }; /* of a name */

/* Markdown. */

static void markdown_cell(const struct table *t, size_t row, size_t column, struct sink *out)
{
    char room[32];
    struct view shown = table_shown(t, row, column, room);
    if (table_column(t, column)->kind == COLUMN_CODE)
        markdown_code(out, shown, MARKDOWN_COLUMNS);
    else if (column_is_text(table_column(t, column)))
        markdown_text(out, shown, MARKDOWN_COLUMNS);
    else
        sink_add(out, shown);
}

void table_markdown(const struct table *t, struct sink *out)
{
    for (size_t c = 0; c < table_width(t); c++)
        sink_printf(out, "%s %s ", "|", table_column(t, c)->title);
    sink_puts(out, "|\n");
    for (size_t c = 0; c < table_width(t); c++)
        sink_puts(out, column_is_text(table_column(t, c)) ? "|---" : "|---:");
    sink_puts(out, "|\n");
    for (size_t row = 0; row < table_rows(t); row++) {
        for (size_t c = 0; c < table_width(t); c++) {
            sink_puts(out, "| ");
            markdown_cell(t, row, c, out);
            sink_char(out, ' ');
        }
        sink_puts(out, "|\n");
    }
}

/* HTML. A share has a bar behind it. */

static void html_head(const struct table *t, struct sink *out)
{
    sink_puts(out, "<thead><tr>");
    for (size_t c = 0; c < table_width(t); c++) {
        sink_printf(out, "<th scope=\"col\"%s>", column_is_text(table_column(t, c)) ? "" : " class=\"n\"");
        text_markup(out, view_of(table_column(t, c)->title), 0);
        sink_puts(out, "</th>");
    }
    sink_puts(out, "</tr></thead>\n");
}

static void html_number(const struct table *t, size_t row, size_t column, struct sink *out)
{
    char room[32];
    double value = table_value(t, row, column);
    sink_puts(out, "<td class=\"n");
    if (!isnan(value) && table_column(t, column)->kind == COLUMN_SHARE)
        sink_printf(out, " bar\" style=\"--part:%.2f%%", 100 * fmin(1, fmax(0, value)));
    if (isnan(value))
        sink_puts(out, "\">");
    else
        sink_printf(out, "\" data-value=\"%.15g\">", value);
    text_markup(out, table_shown(t, row, column, room), 0);
    sink_puts(out, "</td>");
}

static void html_text(const struct table *t, size_t row, size_t column, struct sink *out)
{
    char room[32];
    struct view text = table_shown(t, row, column, room);
    bool is_code = table_column(t, column)->kind == COLUMN_CODE;
    sink_puts(out, is_code ? "<td class=\"code\"><code>" : "<td>");
    text_markup(out, text, HTML_COLUMNS);
    sink_puts(out, is_code ? "</code></td>" : "</td>");
}

void table_html(const struct table *t, const char *id, struct sink *out)
{
    sink_printf(out, "<div class=\"scroll\"><table id=\"%s\">\n", id);
    html_head(t, out);
    sink_puts(out, "<tbody>\n");
    for (size_t row = 0; row < table_rows(t); row++) {
        sink_puts(out, "<tr>");
        for (size_t c = 0; c < table_width(t); c++)
            (column_is_text(table_column(t, c)) ? html_text : html_number)(t, row, c, out);
        sink_puts(out, "</tr>\n");
    }
    sink_puts(out, "</tbody></table></div>\n");
}

/* CSV. */

static void csv_number(const struct column *c, double value, struct sink *out)
{
    char text[32];
    if (isnan(value))
        return;
    if (c->kind == COLUMN_COUNT && c->decimals) {
        text_decimal(text, llround(value), c->decimals);
        sink_puts(out, text);
    } else {
        sink_printf(out, "%.15g", value + 0.0);
    }
}

static void csv_head(const struct table *t, struct sink *out)
{
    for (size_t c = 0; c < table_width(t); c++)
        sink_printf(out, "%s%s", c ? "," : "", table_column(t, c)->key);
    sink_puts(out, "\r\n");
}

void table_csv_rows(const struct table *t, struct sink *out)
{
    for (size_t row = 0; row < table_rows(t); row++) {
        for (size_t c = 0; c < table_width(t); c++) {
            char room[32];
            sink_puts(out, c ? "," : "");
            if (column_is_text(table_column(t, c)))
                csv_text(out, table_shown(t, row, c, room));
            else
                csv_number(table_column(t, c), table_value(t, row, c), out);
        }
        sink_puts(out, "\r\n");
    }
}

void table_csv(const struct table *t, struct sink *out)
{
    csv_head(t, out);
    table_csv_rows(t, out);
}
