/*
 * terminal.h - the side of the door that faces the person: signals, standard output, the window
 */
#pragma once
#include "verbs/program.h"
#include "verbs/verb.h"

/*
 * From now on writing into a closed pipe is an error and not the end; Ctrl-C and
 * SIGTERM end the program, and leave no half-written file.
 */
void terminal_start(void);

/* For verbs that end well by themselves: the first Ctrl-C or SIGTERM raises the flag, the second ends the program. */
void terminal_ask_before_ending(void);
extern volatile sig_atomic_t terminal_stop;

/* Standard output. When its reader goes away (| head), terminal_stop is raised too. */
void terminal_output(struct sink *out);
bool terminal_reader_is_gone(void);

struct look terminal_look(enum colour_choice colour);

/* One line on standard error, whatever the text holds. */
void terminal_complain(const char *verb, const struct err *e);
