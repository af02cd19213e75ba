#include "platform/system_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"

/* mountinfo and cpuinfo of a large host with many containers stay below; smaps is never read through here. */
enum { MAX_BYTES = 16 << 20 };

char *bj_platform_read_system_file(const char *root, const char *path) {
    char *whole = NULL;
    if (asprintf(&whole, "%s%s", root, path) < 0)
        return NULL;
    char *text = NULL;
    if (bj_base_read_file(whole, MAX_BYTES, &text, NULL, NULL) != BJ_OK)
        text = NULL;
    free(whole);
    return text;
}

bool bj_platform_read_system_line(const char *root, const char *path, char *line, size_t room) {
    line[0] = '\0';
    char *text = bj_platform_read_system_file(root, path);
    if (text == NULL)
        return false;
    const char *begin = text + strspn(text, " \t");
    size_t length = strcspn(begin, "\n");
    while (length > 0 && strchr(" \t\r", begin[length - 1]) != NULL)
        length--;
    snprintf(line, room, "%.*s", (int)length, begin);
    free(text);
    return line[0] != '\0';
}

bool bj_platform_find_number(const char *text, const char *name, uint64_t *value) {
    size_t length = strlen(name);
    for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, name, length) != 0)
            continue;
        const char *rest = line + length;
        if (*rest != ' ' && *rest != '\t' && *rest != ':')
            continue;
        rest += strspn(rest, " \t:");
        char number[32];
        snprintf(number, sizeof number, "%.*s", (int)strcspn(rest, " \t\r\n"), rest);
        return bj_base_parse_u64(number, value);
    }
    return false;
}
