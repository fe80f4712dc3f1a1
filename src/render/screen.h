/*
 * screen.h - the whole terminal for a while, and as it was before afterwards
 *
 * Open, the terminal shows what screen_show() is given and nothing else; keys come as
 * they are typed, unechoed. Ctrl-C and Ctrl-Z mean what they always do.
 *
 *     if (!screen_open(e))
 *         return false;
 *     while (...) {
 *         screen_show(text);
 *         size_t n = screen_keys(keys, sizeof keys, &is_gone);
 *     }
 *     screen_close();
 *
 * However the program ends - by screen_close(), by exit(), by a signal that asks, by a crash -
 * the terminal gets back its modes, its cursor and what was on it. Only SIGKILL is quicker.
 * While stopped by Ctrl-Z, too, the terminal is as it was.
 *
 * Threads:  one. There is one terminal, so there is one screen, and nothing to pass around.
 * Fails:    screen_open(), when standard input or output is no terminal.
 */
#pragma once
#include "base/err.h"
#include "base/view.h"

struct screen_size {
    unsigned rows, columns;
};

bool screen_is_possible(struct err *e) MUST_CHECK; /* ask before anything is started that wants to be seen */
bool screen_open(struct err *e) MUST_CHECK;
void screen_close(void);   /* also when it is not open */
bool screen_is_open(void); /* false after a signal has closed it */

struct screen_size screen_size(void);
bool screen_was_resized(void); /* since it was last asked */

void screen_show(struct view lines); /* from the top; lines and columns that do not fit are left out */

/* What was typed since, at most `most` bytes; never waits. *out_gone: nobody can type any more. */
size_t screen_keys(char *out, size_t most, bool *out_gone);
