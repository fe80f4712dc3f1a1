/*
 * flame_label.h - a function's name in as much room as there is
 *
 *     std::vector<std::pair<int, int> >::push_back(std::pair<int, int> const&)     all of it
 *     std::vector<…>::push_back                                                    without arguments
 *     …push_back                                                                   without where it belongs
 *     push_b…                                                                      as far as it goes
 *
 * What a reader looks for is the name of the function, so that goes last.
 */
#pragma once
#include "base/sink.h"

/* Columns a text takes in a fixed-width face; characters of East Asia count two, bytes shown as \x1b four. */
size_t label_columns(struct view text);

/* Nothing, when not even three columns are there. The bytes are text, not markup. */
void label_fit(struct buf *out, struct view name, size_t columns);
