/*
 * system_info.h - the machine a recording was made on, and the program it is about
 *
 * From the facts of the profile, never from the machine that shows it. A profile of another tool has
 * few facts or none: then a line says so, and unknown is "-".
 */
#pragma once
#include "model/profile.h"

struct json_writer;

#define SYSTEM_ROOM 320

struct system_line {
    const char *title; /* "CPU Model" */
    const char *key;   /* "cpu_model" */
};

size_t system_lines(void);
const struct system_line *system_line_at(size_t i);
struct view system_value(const struct profile *p, size_t i, char room[SYSTEM_ROOM]); /* empty: the profile does not say */
bool system_is_known(const struct profile *p);                                       /* any of it */
void system_json(const struct profile *p, struct json_writer *w); /* an object, inside a larger answer */
