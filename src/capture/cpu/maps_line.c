#include "capture/cpu/maps_line.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

bool maps_line_parse(struct view line, struct map_news *out)
{
    char numbers[160]; /* the path is taken from the line itself */
    size_t n = line.n < sizeof numbers - 1 ? line.n : sizeof numbers - 1;
    memcpy(numbers, line.at, n);
    numbers[n] = '\0';
    struct map_news m = {0};
    uint64_t end;
    char may[5] = "";
    int path = 0;
    if (sscanf(numbers, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %" SCNx32 ":%" SCNx32 " %" SCNu64 " %n", &m.start, &end, may,
               &m.file_offset, &m.device_major, &m.device_minor, &m.inode, &path) < 7 || end <= m.start)
        return false;
    m.length = end - m.start;
    m.is_code = may[2] == 'x';
    m.is_shared = may[3] == 's';
    m.has_access = memcmp(may, "---", 3) != 0;
    if (path > 0 && (size_t)path < line.n)
        m.path = view_between(line.at + path, line.at + line.n);
    *out = m;
    return true;
}
