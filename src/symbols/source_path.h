/*
 * source_path.h - where a source file was when it was compiled
 *
 * Compilers note paths relative to the folder they ran in ("../src/x.c" in "/home/a/build").
 * Put together and tidied, one file has one name wherever it was included from.
 */
#pragma once
#include "symbols/name_table.h"

/* Folder may be NULL; the result is kept in `names`. Empty for a file of NULL. */
struct view source_path_kept(struct name_table *names, const char *folder, const char *file);

/* "/a/./b//../c" is "/a/c". ".." that lead out of a relative path stay. In place; the new length. */
size_t source_path_tidy(char *path, size_t n);
