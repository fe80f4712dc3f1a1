/*
 * machine.h - what the machine is, as facts of a recording
 *
 * Processor and its vector instructions, cores, memory, clock governor, system and kernel: what
 * somebody needs to judge a number months later. What the machine does not tell is no fact. The
 * name of the host is left out; a profile is often shown to strangers.
 */
#pragma once
#include "capture/host/host.h"
#include "model/capture_writer.h"

void machine_facts(const struct host *h, struct capture_writer *into);
