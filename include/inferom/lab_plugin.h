/*
 * lab_plugin.h - a scenario of your own in the lab
 *
 * A plug-in is a shared object with one symbol, `inferom_lab_plugin`. Its kernels are warmed up, timed, checked and reported
 * like those that are built in:
 *
 *     #include <inferom/lab_plugin.h>
 *     #include <stdlib.h>
 *
 *     struct saxpy { size_t n; float *x, *y; };
 *
 *     static void *prepare(size_t n)
 *     {
 *         struct saxpy *s = malloc(sizeof *s);
 *         *s = (struct saxpy){n, calloc(n, sizeof(float)), calloc(n, sizeof(float))};
 *         return s;
 *     }
 *     static void run(void *self) { struct saxpy *s = self; for (size_t i = 0; i < s->n; i++) s->y[i] += 2 * s->x[i]; }
 *     static void done(void *self) { struct saxpy *s = self; free(s->x); free(s->y); free(s); }
 *     static double flops(size_t n) { return 2.0 * n; }
 *     static double bytes(size_t n) { return 12.0 * n; }
 *
 *     static const size_t sizes[] = {1024, 1048576, 0};
 *     static const struct inferom_lab_kernel kernels[] = {{sizeof *kernels, "saxpy", "y += 2 x", sizes, prepare, run, done, flops, bytes, 0}};
 *     const struct inferom_lab_plugin inferom_lab_plugin = {INFEROM_LAB_PLUGIN_VERSION, 1, kernels};
 *
 *     cc -O2 -fPIC -shared -o saxpy.so saxpy.c && inferom lab kernels --plugin ./saxpy.so
 *
 * The code runs inside inferom, on one thread. What a plug-in of this version needs will stay as it is; new fields
 * come at the end, and struct_size says how many a kernel knows.
 */
#ifndef INFEROM_LAB_PLUGIN_H
#define INFEROM_LAB_PLUGIN_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define INFEROM_LAB_PLUGIN_VERSION 1

struct inferom_lab_kernel {
    size_t struct_size;          /* sizeof(struct inferom_lab_kernel) */
    const char *name;            /* "saxpy" */
    const char *what;            /* one line */
    const size_t *sizes;         /* to try, smallest first; ends with 0 */
    void *(*prepare)(size_t n);  /* room and data for a size; NULL: it cannot */
    void (*run)(void *self);     /* what is timed */
    void (*done)(void *self);    /* frees it */
    double (*flops)(size_t n);   /* of one run; NULL: not counted */
    double (*bytes)(size_t n);   /* that one run reads and writes; NULL: not counted */
    double (*check)(void *self); /* after one run: the largest relative error, right is below 1e-5; NULL: not checked */
};

struct inferom_lab_plugin {
    unsigned version; /* INFEROM_LAB_PLUGIN_VERSION */
    unsigned n_kernels;
    const struct inferom_lab_kernel *kernels;
};

extern const struct inferom_lab_plugin inferom_lab_plugin;

#ifdef __cplusplus
}
#endif

#endif
