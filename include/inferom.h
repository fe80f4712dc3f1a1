/*
 * inferom.h - the public face of libinferom, the client library of Inferometer
 *
 * A program that links it can be asked which version it speaks. Compare the two:
 * the macros say what the program was compiled with, the function what it runs.
 *
 *     cc app.c $(pkg-config --cflags --libs inferom)
 */
#ifndef INFEROM_H
#define INFEROM_H

#ifdef __cplusplus
extern "C" {
#endif

#define INFEROM_VERSION_MAJOR 0
#define INFEROM_VERSION_MINOR 1
#define INFEROM_VERSION_PATCH 0
#define INFEROM_VERSION "0.1.0"

/* One number to compare: 10203 is 1.2.3. */
#define INFEROM_VERSION_NUMBER (INFEROM_VERSION_MAJOR * 10000 + INFEROM_VERSION_MINOR * 100 + INFEROM_VERSION_PATCH)

#define INFEROM_API __attribute__((visibility("default")))

INFEROM_API const char *inferom_version(void); /* "0.1.0"; never freed */

#ifdef __cplusplus
}
#endif

#endif
