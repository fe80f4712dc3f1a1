/* A library that fx-serve loads when it has been running for a while: keeps a block of 512 bytes each time. */
#include <stdlib.h>
#include <string.h>

__attribute__((visibility("default"))) void *plug_keep(void);

__attribute__((visibility("default"), noinline)) void *plug_keep(void)
{
    char *p = malloc(512);
    if (p)
        memset(p, 2, 512);
    __asm__ volatile("" ::: "memory");
    return p;
}
