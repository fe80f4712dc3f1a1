/*
 * machine.h - what the machine is, as facts of a recording
 *
 * Processor, cores, memory and kernel: what somebody needs to judge a number months later. The
 * name of the host is left out; a profile is often shown to strangers.
 */
#pragma once
#include "capture/host/host.h"
#include "model/capture_writer.h"

void machine_facts(const struct host *h, struct capture_writer *into);
