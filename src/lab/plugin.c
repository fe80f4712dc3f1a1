#include "lab/plugin.h"
#include "base/mem.h"
#include "inferom/lab_plugin.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>

enum { KERNELS_MOST = 256, NAME_MOST = 48 };

struct plugin {
    void *object;
    struct kernel *kernels;
    size_t n;
};

/* As a kernel of ours. */

static const struct inferom_lab_kernel *theirs(const struct kernel_run *r) { return r->kernel->self; }

static bool prepare_theirs(struct kernel_run *r, struct err *e)
{
    r->plugin = theirs(r)->prepare(r->size);
    return r->plugin || err_set(e, ERR_UNSUPPORTED, "the plug-in cannot prepare it");
}

static void work_theirs(struct kernel_run *r, unsigned worker, unsigned workers)
{
    (void)workers;
    if (worker == 0)
        theirs(r)->run(r->plugin);
}

static struct kernel_amount amount_theirs(const struct kernel_run *r)
{
    const struct inferom_lab_kernel *k = theirs(r);
    double bytes = k->bytes ? k->bytes(r->size) : 0;
    return (struct kernel_amount){
        .flops = k->flops ? k->flops(r->size) : 0, .bytes = bytes, .elements = (double)r->size, .working_set = bytes > 0 ? (uint64_t)bytes : 0,
    };
}

static void check_theirs(struct kernel_run *r, struct kernel_check *out)
{
    out->tolerance = 1e-5;
    out->worst = theirs(r)->check(r->plugin);
}

static void done_theirs(struct kernel_run *r)
{
    if (r->plugin)
        theirs(r)->done(r->plugin);
}

/* The same sizes in every mode: whoever asks for a plug-in wants to see it. */
static struct kernel kernel_of(const struct inferom_lab_kernel *k)
{
    struct kernel ours = {
        .name = k->name, .what = k->what ? k->what : "", .peak = ops_best()->name, .beyond = "triad", .from = KERNELS_BASIC, .self = k,
        .prepare = prepare_theirs, .work = work_theirs, .amount = amount_theirs, .check = k->check ? check_theirs : NULL, .done = done_theirs,
    };
    for (size_t mode = 0; mode < KERNEL_MODE_COUNT; mode++)
        for (size_t i = 0; k->sizes[i]; i++)
            ours.sizes[mode][i] = k->sizes[i];
    return ours;
}

/* Looking at it. */

static bool check_sizes(const struct inferom_lab_kernel *k, struct err *e)
{
    size_t n = 0;
    while (n < KERNEL_SIZES_MOST && k->sizes[n])
        n++;
    if (!n)
        return err_set(e, ERR_MALFORMED, "kernel '%s' has no sizes", k->name);
    if (n == KERNEL_SIZES_MOST)
        return err_set(e, ERR_LIMIT, "kernel '%s' has more than %d sizes, or no 0 behind them", k->name, KERNEL_SIZES_MOST - 1);
    return true;
}

static bool check_kernel(const struct inferom_lab_kernel *k, size_t i, struct err *e)
{
    if (k->struct_size != sizeof *k)
        return err_set(e, ERR_MALFORMED, "kernel %zu says that it has %zu bytes; this build knows %zu", i, k->struct_size, sizeof *k);
    if (!k->name || !*k->name)
        return err_set(e, ERR_MALFORMED, "kernel %zu has no name", i);
    if (strnlen(k->name, NAME_MOST + 1) > NAME_MOST)
        return err_set(e, ERR_LIMIT, "the name of kernel %zu is longer than %d bytes", i, NAME_MOST);
    if (!k->prepare || !k->run || !k->done)
        return err_set(e, ERR_MALFORMED, "kernel '%s' has no %s", k->name, !k->prepare ? "prepare" : !k->run ? "run" : "done");
    if (!k->sizes)
        return err_set(e, ERR_MALFORMED, "kernel '%s' has no sizes", k->name);
    return check_sizes(k, e);
}

static bool check_plugin(const struct inferom_lab_plugin *p, struct err *e)
{
    if (!p)
        return err_set(e, ERR_MALFORMED, "it has no symbol 'inferom_lab_plugin'");
    if (p->version != INFEROM_LAB_PLUGIN_VERSION)
        return err_set(e, ERR_UNSUPPORTED, "it is made for version %u of plug-ins; this build takes version %d", p->version,
                       INFEROM_LAB_PLUGIN_VERSION);
    if (!p->n_kernels || !p->kernels)
        return err_set(e, ERR_MALFORMED, "it has no kernels");
    if (p->n_kernels > KERNELS_MOST)
        return err_set(e, ERR_LIMIT, "it has %u kernels; %d are enough", p->n_kernels, KERNELS_MOST);
    for (size_t i = 0; i < p->n_kernels; i++)
        if (!check_kernel(&p->kernels[i], i, e))
            return false;
    return true;
}

/* dlopen() looks in the system's folders for a name without a slash; here a file is meant. */
static void *open_object(const char *path, struct err *e)
{
    own(free) char *file = NULL;
    if (access(path, R_OK) != 0)
        return err_os(e, "%s", path), NULL;
    if (asprintf(&file, "%s%s", strchr(path, '/') ? "" : "./", path) < 0)
        return err_os(e, "%s", path), NULL;
    void *object = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!object) {
        const char *why = dlerror();
        err_set(e, ERR_MALFORMED, "%s: it cannot be loaded: %s", path, why ? why : "for no reason given");
    }
    return object;
}

bool plugin_load(struct plugin **out, const char *path, struct err *e)
{
    own(plugin) struct plugin *p = mem_new(sizeof *p);
    p->object = open_object(path, e);
    if (!p->object)
        return false;
    const struct inferom_lab_plugin *said = dlsym(p->object, "inferom_lab_plugin");
    if (!check_plugin(said, e))
        return err_in(e, "%s", path);
    p->kernels = mem_new(said->n_kernels * sizeof *p->kernels);
    for (; p->n < said->n_kernels; p->n++)
        p->kernels[p->n] = kernel_of(&said->kernels[p->n]);
    *out = take(p);
    return true;
}

void plugin_free(struct plugin *p)
{
    if (!p)
        return;
    free(p->kernels);
    if (p->object)
        dlclose(p->object);
    free(p);
}

const struct kernel *plugin_kernel_at(const struct plugin *p, size_t i) { return i < p->n ? &p->kernels[i] : NULL; }
