#include "verbs/pid_list.h"
#include "base/text.h"

bool pid_list_read(const struct option_list *texts, int32_t out[OPTION_LIST_MOST], struct err *e)
{
    for (size_t i = 0; i < texts->n; i++) {
        uint64_t pid;
        if (!text_to_uint(view_of(texts->at[i]), &pid) || pid < 1 || pid > INT32_MAX)
            return err_set(e, ERR_USAGE, "--pid: '%s' is not the number of a process", texts->at[i]);
        out[i] = (int32_t)pid;
    }
    return true;
}
