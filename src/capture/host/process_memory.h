/*
 * process_memory.h - how much memory a process has in RAM
 */
#pragma once
#include "capture/host/host.h"

double process_rss_bytes(const struct host *h, int32_t pid); /* NAN: it has ended, or is not ours to ask */
