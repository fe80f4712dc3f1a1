/*
 * pages.h - which pages of a process are in memory
 *
 * /proc/PID/pagemap has a word for every page of a process. Since Linux 6.7 the kernel
 * counts for us (PAGEMAP_SCAN) and steps over what is not there; before, the words are
 * read. Both tell what this process has mapped. (mincore() would tell what the page cache
 * has, and for files of others just says "everything".)
 *
 *     own(pages) struct pages p;
 *     if (!pages_open(&p, &here, pid, e)) ...
 *     uint64_t at = start;
 *     while (at < end && !late())
 *         if (!pages_count(&p, &at, end, &count, e)) ...     // a slice, and `at` behind it
 *
 * A slice is as long as takes the kernel about a tenth of a millisecond, however many pages
 * are in it: it keeps the process from mapping memory meanwhile.
 *
 * Owns:     a descriptor. It is of the program that runs now: after an exec there is nothing behind it.
 * Threads:  one at a time.
 * Fails:    not ours to look at; gone.
 */
#pragma once
#include "base/err.h"
#include "base/own.h"
#include "capture/host/host.h"

struct pages {
    int fd;
    bool has_scan;         /* the kernel counts */
    uint64_t page_bytes;
    uint64_t slice_bytes;  /* the next one; adapts */
};

struct page_count {
    uint64_t file;    /* bytes of pages of files, and of memory that is shared */
    uint64_t private; /* of this process alone; without the page of zeros, which is nobody's memory */
};

bool pages_open(struct pages *p, const struct host *h, int32_t pid, struct err *e) MUST_CHECK;
void pages_done(struct pages *p);
DEFINE_OWN_IN_PLACE(pages, struct pages)

bool pages_count(struct pages *p, uint64_t *at, uint64_t end, struct page_count *add_to, struct err *e) MUST_CHECK;

/* What the kernel writes, for those who plant it. */
struct page_region { /* PAGEMAP_SCAN's answer: struct page_region of linux/fs.h, which older headers lack */
    uint64_t start, end, categories;
};
uint64_t pages_add_regions(const struct page_region *regions, size_t n, uint64_t start, uint64_t end, struct page_count *add_to); /* where it stopped */
void pages_add_words(const uint64_t *words, size_t n, uint64_t page_bytes, struct page_count *add_to);
