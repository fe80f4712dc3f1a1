/*
 * shared_memory.h - has this process our memory mapped?
 *
 * What guests write into shared memory names processes. One that does not have the memory mapped cannot have written there: then
 * somebody else gave us its number, and we do not look into it. True also when it is gone: then it can do no harm.
 *
 * Threads: any. Fails: it says false.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

bool shared_memory_is_in(int32_t pid, dev_t device, ino_t inode);
