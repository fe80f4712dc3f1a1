/*
 * operators.h - what libinferom_heap_new.so tells libinferom_heap.so
 *
 * A block that was allocated or is about to be freed by an operator of the allocator's own; from where, as agent.h's struct here. Threads: any.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

void inferom_heap_allocated(void *p, size_t size, uint64_t pc, uint64_t sp, uint64_t fp);
void inferom_heap_freed(void *p, uint64_t sp);
