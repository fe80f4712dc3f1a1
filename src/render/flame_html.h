/*
 * flame_html.h - a flame graph as one file for a browser
 *
 * The viewer (web/flame), its style and the profile in one page: it opens from a
 * disk, asks nobody for anything, and its Content-Security-Policy lets it run
 * only what we built. The profile lies in the page as compressed columns; names
 * in it never were markup (see flame_data.h).
 *
 * A build without esbuild has no viewer: every page is then a refusal that says so.
 */
#pragma once
#include "base/sink.h"
#include "render/flame_page.h"

bool flame_html_write(const struct flame_page *page, struct sink *out, struct err *e) MUST_CHECK;
