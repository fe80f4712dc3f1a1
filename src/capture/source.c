#include "capture/source.h"
#include "source_list.h" /* SOURCE_LIST(X), made by the build from meson.build */

#define X(name) extern const struct source source_##name;
SOURCE_LIST(X)
#undef X

#define X(name) &source_##name,
const struct source *const sources[] = {SOURCE_LIST(X) NULL};
#undef X
