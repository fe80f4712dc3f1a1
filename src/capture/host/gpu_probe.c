/*
 * A GPU is measurable when four things are there: the card (PCI), the driver
 * (its device file), the right to open that file, and the vendor's library. The
 * first one missing is the answer; what comes after it would only be noise.
 */
#include "base/own.h"
#include "capture/host/probe.h"

#include <errno.h>
#include <stdlib.h>

/* Where libraries lie, for trees that cannot load anything. */
static const char *const library_folders[] = {
    "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib", "/usr/local/cuda/lib64",
    "/usr/local/cuda/extras/CUPTI/lib64", "/opt/rocm/lib",
};

static bool has_file(const struct host *h, const char *library, char *out_path, size_t size)
{
    for (size_t i = 0; i < sizeof library_folders / sizeof *library_folders; i++) {
        snprintf(out_path, size, "%s/%s", library_folders[i], library);
        if (host_has(h, out_path))
            return true;
    }
    return false;
}

/* By name, as the loader finds it; then by path, for toolkits that never told the loader where they are. */
static bool loads(const struct host *h, const char *library, char *why, size_t size)
{
    char path[160];
    bool is_there = has_file(h, library, path, sizeof path);
    if (!h->sys) {
        snprintf(why, size, "%s: not found", library);
        return is_there;
    }
    return h->sys->loads(library, why, size) || (is_there && h->sys->loads(path, why, size));
}

static const char *first_that_loads(const struct host *h, const char *const *libraries, char *why, size_t size)
{
    for (; *libraries; libraries++)
        if (loads(h, *libraries, why, size))
            return *libraries;
    return NULL;
}

struct card_query {
    const struct host *h;
    long vendor;
};

/* A card is a PCI device of the vendor whose class is "display" (0x03....) or "accelerator" (0x12....). */
static bool is_card(void *self, const char *device)
{
    const struct card_query *want = self;
    char path[256], word[32];
    snprintf(path, sizeof path, "%s/vendor", device);
    if (host_word(want->h, path, word, sizeof word) != 0 || strtol(word, NULL, 16) != want->vendor)
        return false;
    snprintf(path, sizeof path, "%s/class", device);
    if (host_word(want->h, path, word, sizeof word) != 0)
        return false;
    long class = strtol(word, NULL, 16) >> 16;
    return class == 0x03 || class == 0x12;
}

static const struct vendor {
    const char *name;
    long pci;
    const char *device;          /* what the driver makes, and programs open */
    const char *modprobe;
    const char *driver;          /* what to install when there is a card and no driver */
    const char *libraries[5];    /* for readings; newest first; ends with NULL */
    const char *library_package;
    const char *container;       /* how a container gets the device */
    const char *group;           /* who may open it */
} nvidia = {
    "NVIDIA", 0x10de, "/dev/nvidiactl", "nvidia", "apt install nvidia-driver (Debian: from non-free)",
    {"libnvidia-ml.so.1", NULL}, "apt install libnvidia-ml1  # Debian: from non-free", "--gpus all", "video",
}, amd = {
    "AMD", 0x1002, "/dev/kfd", "amdgpu", "apt install firmware-amd-graphics",
    {"libamd_smi.so", "librocm_smi64.so.7", "librocm_smi64.so.1", NULL}, "apt install librocm-smi64-1",
    "--device /dev/kfd --device /dev/dri", "render",
};

static bool has_card(const struct host *h, const struct vendor *v)
{
    struct card_query want = {h, v->pci};
    return host_any(h, "/sys/bus/pci/devices", is_card, &want);
}

static void explain_device(const struct host *h, const struct privilege *p, const struct vendor *v, int refused,
                           struct finding *out)
{
    bool has = has_card(h, v);
    if (refused != ENOENT) {
        finding_set(out, STATE_OFF, "%s cannot be opened: %s", v->device, strerror(refused));
        finding_fix_as_root(out, p, "usermod -aG %s \"$USER\"  # then log in again", v->group);
    } else if (has && p->container != CONTAINER_NONE) {
        finding_set(out, STATE_OFF, "the machine has an %s card, this container does not see it (no %s)", v->name, v->device);
        finding_fix(out, "docker run %s IMAGE  # Kubernetes: a resource limit such as nvidia.com/gpu: 1", v->container);
    } else if (has) {
        finding_set(out, STATE_OFF, "there is an %s card, but its driver is not running (no %s)", v->name, v->device);
        finding_fix_as_root(out, p, "modprobe %s  # not found? sudo %s", v->modprobe, v->driver);
    } else {
        finding_set(out, STATE_OFF, "no %s card on this machine", v->name);
        finding_fix(out, "lspci -d %04lx:  # lists the cards the machine sees; nothing to do when you expect none",
                    (unsigned long)v->pci);
    }
}

static void probe_vendor(const struct host *h, const struct privilege *p, const struct vendor *v, struct finding *out)
{
    char why[160] = "";
    int refused = host_access(h, v->device, R_OK | W_OK);
    if (refused) {
        explain_device(h, p, v, refused, out);
        return;
    }
    const char *library = first_that_loads(h, v->libraries, why, sizeof why);
    if (library) {
        finding_set(out, STATE_WORKS, "driver and %s are there", library);
        return;
    }
    finding_set(out, STATE_OFF, "the driver runs, its library does not load: %s", why);
    if (p->container != CONTAINER_NONE && v == &nvidia)
        finding_fix(out, "docker run --gpus all -e NVIDIA_DRIVER_CAPABILITIES=compute,utility IMAGE");
    else
        finding_fix_as_root(out, p, "%s", v->library_package);
}

void probe_nvidia(const struct host *h, const struct privilege *p, struct finding *out) { probe_vendor(h, p, &nvidia, out); }

/* Without its library an AMD card still tells the essentials in /sys. */
void probe_amd(const struct host *h, const struct privilege *p, struct finding *out)
{
    probe_vendor(h, p, &amd, out);
    if (out->state == STATE_OFF && host_access(h, amd.device, R_OK | W_OK) == 0) {
        out->state = STATE_LIMITED;
        snprintf(out->why, sizeof out->why, "use, memory, power and temperature come from /sys; no SMI library for the rest");
    }
}

/* Kernel times come from CUPTI inside the target, which works with the copy the target brings (PyTorch does). */
void probe_nvidia_kernels(const struct host *h, const struct privilege *p, struct finding *out)
{
    static const char *const drivers[] = {"libcuda.so.1", NULL};
    static const char *const cuptis[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so.11.8", "libcupti.so", NULL};
    char why[160] = "";
    int refused = host_access(h, nvidia.device, R_OK | W_OK);
    if (refused) {
        finding_set(out, STATE_OFF, "needs a working NVIDIA driver (line above)");
        return;
    }
    if (!first_that_loads(h, drivers, why, sizeof why)) {
        finding_set(out, STATE_OFF, "the CUDA driver library does not load: %s", why);
        if (p->container != CONTAINER_NONE)
            finding_fix(out, "docker run --gpus all -e NVIDIA_DRIVER_CAPABILITIES=compute,utility IMAGE");
        else
            finding_fix_as_root(out, p, "apt install libcuda1  # Debian: from non-free");
        return;
    }
    const char *cupti = first_that_loads(h, cuptis, why, sizeof why);
    if (cupti) {
        finding_set(out, STATE_WORKS, "kernels can be timed with %s", cupti);
        return;
    }
    finding_set(out, STATE_LIMITED, "no libcupti here: kernels are timed only in programs that bring their own, as PyTorch does");
    finding_fix(out, "pip install nvidia-cuda-cupti-cu12  # or the CUDA toolkit");
}
