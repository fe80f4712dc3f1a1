#include "inferom.h"

const char *inferom_version(void) { return INFEROM_VERSION; }
