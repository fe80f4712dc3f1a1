/*
 * ranges.h - scopes of programs that know nothing of us
 *
 * Other tools' ranges are pushed and popped, each thread having its own; a pop says nothing about which.
 *
 * Threads: any. Fails: never; what is too deep is counted by its owner and not recorded.
 */
#pragma once
#include "client.h"

int range_push(const char *name); /* NULL: something, with no name. Returns how many were open before */
int range_pop(void);              /* returns how many are open now; -1: none was */
