/* inlined.h - a chain of inlined calls whose lines are known, for the tests of symbols */
#pragma once

extern const char inlined_mark[]; /* an address inside inlined_inner(), inside inlined_middle(), inside inlined_outer() */
extern const unsigned inlined_inner_line, inlined_middle_line, inlined_outer_line, inlined_outer_begin;

int inlined_outer(int x);
