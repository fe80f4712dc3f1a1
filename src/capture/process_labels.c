#include "capture/process_labels.h"

#include <inttypes.h>
#include <stdio.h>

size_t process_labels_add(const struct host *h, struct builder *names, int32_t pid, struct label *labels, size_t more)
{
    char path[32], name[64] = "";
    snprintf(path, sizeof path, "/proc/%" PRId32 "/comm", pid);
    if (host_text(h, path, name, sizeof name) != 0)
        name[0] = '\0';
    name[strcspn(name, "\n")] = '\0';
    labels[more++] = (struct label){.key = builder_string(names, VIEW("process")), .text = builder_string(names, view_of(name))};
    labels[more++] = (struct label){.key = builder_string(names, VIEW("pid")), .number = pid};
    return more;
}

labels_id process_labels(const struct host *h, struct builder *names, int32_t pid)
{
    struct label labels[2];
    return builder_labels(names, labels, process_labels_add(h, names, pid, labels, 0));
}
