/*
 * names.h - what functions, threads and measures are called in an answer
 */
#pragma once
#include "model/profile.h"
#include "render/table.h"

#define NAME_ROOM 320

/* The function's name; "[libfoo.so]" when only its module is known; "[unknown]" when nothing is. */
struct view name_of_function(const struct profile *p, func_id id, char room[NAME_ROOM]);
struct view name_of_module(const struct profile *p, func_id id);                   /* last part of the path; may be "" */
struct view name_of_place(const struct profile *p, func_id id, char room[NAME_ROOM]); /* "decode.c:42"; may be "" */

enum column_kind column_of(const struct measure *m); /* how values of this measure are shown */
void value_text(char out[32], const struct measure *m, int64_t value);
