/* The library that tx-heap loads and drops: it allocates when it comes, while it is there, and when it goes. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void plug_work(uint64_t n);

static __thread char *of_this_thread;
static void *kept;

__attribute__((constructor)) static void come(void) { kept = malloc(5000); }

__attribute__((destructor)) static void go(void)
{
    free(kept);
    free(strdup("good-bye"));
}

__attribute__((visibility("default"))) void plug_work(uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        free(of_this_thread);
        of_this_thread = malloc(i + 1);
    }
    free(of_this_thread);
    of_this_thread = NULL;
}
