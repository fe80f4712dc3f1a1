/*
 * log.h - what the program tells its user beside the answer, on standard error
 *
 *     log_warn("%s: 37 samples were lost", path);
 *
 * Lines below the chosen level cost a comparison. Safe from any thread: a line
 * is written with one call.
 */
#pragma once
#include "base/err.h"

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG, LOG_LEVEL_COUNT };

extern const char *const log_level_names[LOG_LEVEL_COUNT + 1]; /* ends with NULL */

void log_set_level(enum log_level level); /* LOG_WARN at the start */
void log_line(enum log_level level, const char *fmt, ...) PRINTF_LIKE(2, 3);

#define log_error(...) log_line(LOG_ERROR, __VA_ARGS__)
#define log_warn(...) log_line(LOG_WARN, __VA_ARGS__)
#define log_info(...) log_line(LOG_INFO, __VA_ARGS__)
#define log_debug(...) log_line(LOG_DEBUG, __VA_ARGS__)
