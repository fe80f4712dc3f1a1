/* The library that tx-crowd loads and drops: some code of its own to be sampled in. */
#include "truth.h"

void plug_work(uint64_t rounds);

static KEPT void plug_burn(uint64_t rounds) { BURN(rounds, 0xf); }

__attribute__((visibility("default"))) void plug_work(uint64_t rounds)
{
    plug_burn(rounds);
    STAY();
}
