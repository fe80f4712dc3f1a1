/* version.h - which inferom this is, and what it was built from */
#pragma once
#include "base/sink.h"

void version_print(struct sink *out, bool is_verbose);
