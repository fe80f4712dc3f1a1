/*
 * hurry.h - being let in early on a machine where many want to run
 *
 * Among 256 busy threads whoever wakes up waits for half of them, a few milliseconds each, and
 * meanwhile the kernel's rings fill. Two things help: a higher priority, for those who may have
 * one; and asking for short turns, which anybody may (since Linux 6.12): the scheduler takes
 * the one whose turn would be over first. A recorder needs little time, but soon.
 *
 * Threads: for the one that calls. Fails: never; where nothing is allowed everything stays as it is.
 */
#pragma once

void hurry(void);
