/* Feeds the saved inputs of a folder to a fuzz entry point, so that every plain test run covers them. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* In memory of exactly its size, so that a sanitizer sees a read past the end. */
static int feed(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f || fseek(f, 0, SEEK_END) < 0) {
        perror(path);
        return 1;
    }
    size_t size = (size_t)ftell(f);
    uint8_t *bytes = malloc(size ? size : 1);
    rewind(f);
    size_t got = bytes ? fread(bytes, 1, size, f) : 0;
    fclose(f);
    if (got == size)
        LLVMFuzzerTestOneInput(bytes, size);
    free(bytes);
    return got == size ? 0 : 1;
}

int main(int argc, char **argv)
{
    DIR *dir = argc == 2 ? opendir(argv[1]) : NULL;
    if (!dir) {
        fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
        return 2;
    }
    int failures = 0, files = 0;
    for (const struct dirent *d; (d = readdir(dir));) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", argv[1], d->d_name);
        if (d->d_name[0] == '.')
            continue;
        printf("%s\n", d->d_name);
        failures += feed(path);
        files++;
    }
    closedir(dir);
    return failures || !files;
}
