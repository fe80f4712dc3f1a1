/*
 * markup.h - names and values of others inside Markdown and CSV (HTML and XML: text_markup() in text.h)
 *
 * Names come from other people's programs, and a document has characters that mean something.
 * Each of these writes a text so that a reader of that kind of document sees the text and
 * nothing else: control bytes and bytes that are not UTF-8 as \x1b (text_safe() in text.h),
 * then what the document itself would take for markup.
 *
 * most_columns cuts as text_safe() does; 0 does not.
 */
#pragma once
#include "base/sink.h"
#include "base/view.h"

/* Markdown: as text, whatever stars and brackets are in it; and as code, `like this`, also within a table. */
void markdown_text(struct sink *out, struct view text, size_t most_columns);
void markdown_code(struct sink *out, struct view text, size_t most_columns);

/*
 * One cell of a CSV file (RFC 4180), in quotes. A spreadsheet would compute a cell that begins with
 * = + - or @: such a text gets an apostrophe in front, which spreadsheets take as "this is text".
 */
void csv_text(struct sink *out, struct view text);
