/*
 * process_labels.h - the labels of a series that is about one process: its name and its number
 *
 *     process = llama-server, pid = 4711
 */
#pragma once
#include "capture/host/host.h"
#include "model/builder.h"

/* `more` labels may be there already, in labels[0 .. more); the two are written behind them. Returns how many there are now. */
size_t process_labels_add(const struct host *h, struct builder *names, int32_t pid, struct label *labels, size_t more);
labels_id process_labels(const struct host *h, struct builder *names, int32_t pid); /* the two alone */
