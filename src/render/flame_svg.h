/*
 * flame_svg.h - a flame graph as one SVG file
 *
 * A complete picture for whoever only shows pictures (an <img>, a document, a printer):
 * nothing is fetched, nothing needs to run. Opened in a browser by itself it can also be
 * zoomed and searched; the small script for that is flame_svg.js.
 */
#pragma once
#include "render/flame_page.h"
#include "base/sink.h"

/* Fails when there is nothing to show, or less than nothing anywhere. What the sink says is the caller's to ask. */
bool flame_svg_write(const struct flame_page *page, struct sink *out, struct err *e) MUST_CHECK;
