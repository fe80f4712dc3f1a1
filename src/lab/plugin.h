/*
 * plugin.h - kernels from somebody else's shared object (include/inferom/lab_plugin.h)
 *
 * What a plug-in says about itself is looked at before any of it runs; one that does not keep to the header is refused
 * with the reason.
 *
 * Owns: the loaded object. It stays until plugin_free().
 */
#pragma once
#include "lab/kernels.h"

struct plugin;

bool plugin_load(struct plugin **out, const char *path, struct err *e) MUST_CHECK;
void plugin_free(struct plugin *p); /* NULL is fine */
DEFINE_OWN(plugin, struct plugin *)

const struct kernel *plugin_kernel_at(const struct plugin *p, size_t i); /* NULL past the end */
