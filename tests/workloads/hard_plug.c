/* A library that is loaded, used and unloaded again and again, by hard_host. */
#include "truth.h"

void plug_burn(unsigned rounds);
KEPT void plug_burn(unsigned rounds) { BURN(rounds, 0x7); }
