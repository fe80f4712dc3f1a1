#include "cli/version.h"
#include "build_info.h" /* VERSION, COMPILER, BUILD_OPTIONS, FEATURE_LIST(X); made by the build */

#include <xxhash.h>
#include <zlib.h>
#include <zstd.h>

static const struct feature {
    const char *name;
    bool is_on;
} features[] = {
#define FEATURE(name, is_on) {name, is_on},
    FEATURE_LIST(FEATURE)
#undef FEATURE
    {NULL, false},
};

static void print_features(struct sink *out)
{
    if (!features[0].name)
        sink_puts(out, "optional  nothing in this version\n");
    for (const struct feature *f = features; f->name; f++)
        sink_printf(out, "optional  %s: %s\n", f->name, f->is_on ? "on" : "off");
}

void version_print(struct sink *out, bool is_verbose)
{
    sink_puts(out, "inferom " VERSION "\n");
    if (!is_verbose)
        return;
    unsigned xx = XXH_versionNumber();
    sink_puts(out, "compiler  " COMPILER "\n"
                   "build     " BUILD_OPTIONS "\n");
    sink_printf(out, "library   zstd %s\n", ZSTD_versionString());
    sink_printf(out, "library   zlib %s\n", zlibVersion());
    sink_printf(out, "library   xxhash %u.%u.%u\n", xx / 10000, xx / 100 % 100, xx % 100);
    print_features(out);
}
