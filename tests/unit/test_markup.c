/* test_markup.c - names of others stay names in Markdown, CSV and tables of HTML */
#include "base/buf.h"
#include "check.h"
#include "render/markup.h"
#include "render/table.h"

static const struct {
    const char *what, *name, *code, *text, *csv;
} cases[] = {
    {"plain", "matmul_q8", "`matmul_q8`", "matmul_q8", "\"matmul_q8\""},
    {"a bar ends a cell", "operator|", "<code>operator&#124;</code>", "operator&#124;", "\"operator|\""},
    {"a backtick ends code", "a`b", "<code>a&#96;b</code>", "a&#96;b", "\"a`b\""},
    {"tags", "<script>x</script>", "`<script>x</script>`", "&#60;script&#62;x&#60;/script&#62;", "\"<script>x</script>\""},
    {"stars, links", "*[a](b)", "`*[a](b)`", "&#42;&#91;a&#93;(b)", "\"*[a](b)\""},
    {"addresses are no links", "http://x www.y.z", "`http://x www.y.z`", "http&#58;//x www&#46;y.z", "\"http://x www.y.z\""},
    {"underscores around", "_x_ x_y", "`_x_ x_y`", "&#95;x&#95; x_y", "\"_x_ x_y\""},
    {"control bytes", "a\033[31m\nb", "`a\\x1b[31m\\x0ab`", "a&#92;x1b&#91;31m&#92;x0ab", "\"a\\x1b[31m\\x0ab\""},
    {"not UTF-8", "\377", "`\\xff`", "&#92;xff", "\"\\xff\""},
    {"a backslash at the end", "a\\", "<code>a&#92;</code>", "a&#92;", "\"a\\\""},
    {"a formula", "=1+1", "`=1+1`", "&#61;1+1", "\"'=1+1\""},
    {"a formula with a sign", "-x", "`-x`", "&#45;x", "\"'-x\""},
    {"another", "@SUM(A1)", "`@SUM(A1)`", "&#64;SUM(A1)", "\"'@SUM(A1)\""},
    {"and another", "+y", "`+y`", "&#43;y", "\"'+y\""},
    {"quotes", "\"q\",", "`\"q\",`", "&#34;q&#34;,", "\"\"\"q\"\",\""},
    {"blanks at the ends", " x ", "<code> x </code>", " x ", "\" x \""},
    {"a heading", "# x", "`# x`", "&#35; x", "\"# x\""},
};

static void check_names(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct view name = view_of(cases[i].name);
        own(buf) struct buf got;
        struct sink to;
        printf("%s\n", cases[i].what);
        buf_init(&got, 1 << 16);
        sink_to_buf(&to, &got);
        markdown_code(&to, name, 0);
        CHECK(sink_flush(&to, NULL));
        CHECK_STR(got.data, cases[i].code);
        buf_clear(&got);
        markdown_text(&to, name, 0);
        CHECK(sink_flush(&to, NULL));
        CHECK_STR(got.data, cases[i].text);
        buf_clear(&got);
        csv_text(&to, name);
        CHECK(sink_flush(&to, NULL));
        CHECK_STR(got.data, cases[i].csv);
    }
}

static void check_tables(void)
{
    static const struct column columns[] = {
        {"Name", "name", COLUMN_CODE, 0}, {"Share", "share", COLUMN_SHARE, 0}, {"Time (ms)", "ms", COLUMN_FIXED, 2}, {"Count", "count", COLUMN_COUNT, 1},
    };
    own(table) struct table *t = table_new(columns, 4);
    table_text(t, VIEW("a<b"));
    table_number(t, 0.125);
    table_number(t, 1.5);
    table_number(t, 15);
    table_text(t, VIEW("=x|y"));
    for (int i = 0; i < 3; i++)
        table_number(t, UNKNOWN);
    own(buf) struct buf got;
    struct sink to;
    buf_init(&got, 1 << 16);
    sink_to_buf(&to, &got);
    table_markdown(t, &to);
    CHECK(sink_flush(&to, NULL));
    CHECK_STR(got.data, "| Name | Share | Time (ms) | Count |\n|---|---:|---:|---:|\n| `a<b` | 12.5 % | 1.50 | 1.5 |\n"
                        "| <code>&#61;x&#124;y</code> | - | - | - |\n");
    buf_clear(&got);
    table_csv(t, &to);
    CHECK(sink_flush(&to, NULL));
    CHECK_STR(got.data, "name,share,ms,count\r\n\"a<b\",0.125,1.5,1.5\r\n\"'=x|y\",,,\r\n");
    buf_clear(&got);
    table_html(t, "id", &to);
    CHECK(sink_flush(&to, NULL));
    CHECK(strstr(got.data, "<code>a&lt;b</code>") != NULL);
    CHECK(strstr(got.data, "<td class=\"n bar\" style=\"--part:12.50%\" data-value=\"0.125\">12.5 %</td>") != NULL);
    CHECK(strstr(got.data, "<td class=\"n\">-</td>") != NULL);
}

int main(void)
{
    check_names();
    check_tables();
    return CHECK_DONE();
}
