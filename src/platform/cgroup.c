#include "platform/cgroup.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "platform/system_file.h"

/* Is `word` one of the comma-separated `list`? "cpu" must not match "cpuacct" or "cpuset". */
static bool lists(const char *list, const char *word) {
    size_t length = strlen(word);
    for (const char *item = list; *item != '\0'; item += strspn(item, ",")) {
        size_t item_length = strcspn(item, ",");
        if (item_length == length && strncmp(item, word, length) == 0)
            return true;
        item += item_length;
    }
    return false;
}

/* Our path in the hierarchy, from lines like "4:cpu,cpuacct:/user/x" and "0::/user/x"; `text` is cut up. */
static const char *find_path(char *text, const char *controller, int version) {
    char *rest = NULL;
    for (char *line = strtok_r(text, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest)) {
        char *controllers = strchr(line, ':');
        char *path = controllers == NULL ? NULL : strchr(controllers + 1, ':');
        if (path == NULL || path[1] != '/')
            continue;
        *path++ = '\0';
        controllers++;
        if (version == 2 ? strncmp(line, "0:", 2) == 0 && controllers[0] == '\0' : lists(controllers, controller))
            return path;
    }
    return NULL;
}

/* mountinfo writes blanks and backslashes as \ooo. */
static void unescape(char *text) {
    char *to = text;
    for (const char *from = text; *from != '\0'; to++) {
        if (from[0] == '\\' && strspn(from + 1, "01234567") >= 3) {
            *to = (char)((from[1] - '0') * 64 + (from[2] - '0') * 8 + (from[3] - '0'));
            from += 4;
        } else {
            *to = *from++;
        }
    }
    *to = '\0';
}

typedef struct {
    char *root;  /* the part of the hierarchy that is mounted */
    char *point; /* where */
} mount;

/* "36 35 98:0 /root /point rw,noatime master:1 - cgroup cgroup rw,memory"; the line is cut up. */
static bool parse_mount(char *line, const char *controller, int version, mount *found) {
    char *tail = strstr(line, " - ");
    if (tail == NULL)
        return false;
    *tail = '\0';
    char *rest = NULL, *fields[5] = {NULL};
    char *field = strtok_r(line, " ", &rest);
    for (int i = 0; i < 5; i++, field = strtok_r(NULL, " ", &rest)) {
        if (field == NULL)
            return false;
        fields[i] = field;
    }
    char *type = strtok_r(tail + 3, " ", &rest);
    char *source = strtok_r(NULL, " ", &rest);
    char *options = strtok_r(NULL, " ", &rest);
    if (type == NULL || strcmp(type, version == 2 ? "cgroup2" : "cgroup") != 0)
        return false;
    if (version == 1 && (source == NULL || options == NULL || !lists(options, controller)))
        return false;
    unescape(fields[3]);
    unescape(fields[4]);
    *found = (mount){.root = fields[3], .point = fields[4]};
    return true;
}

/* What of `path` is below `root`: "" or "/…"; NULL when it is elsewhere. */
static const char *below(const char *path, const char *root) {
    /* "/../x" is outside of our cgroup namespace: where that is mounted is not ours to know. */
    if (strncmp(path, "/..", 3) == 0 && (path[3] == '/' || path[3] == '\0'))
        return NULL;
    size_t length = strcmp(root, "/") == 0 ? 0 : strlen(root);
    if (strncmp(path, root, length) != 0 || (path[length] != '/' && path[length] != '\0'))
        return NULL;
    return strcmp(path + length, "/") == 0 ? "" : path + length;
}

/* The folder of `path` below the mount that shows most of its ancestors. Where no mount contains it (the file may
 * speak of the host's tree while the container sees a part under another name), the first mount itself. */
static char *find_folder(char *mountinfo, const char *controller, int version, const char *path, size_t *point) {
    char *folder = NULL, *rest = NULL;
    size_t shortest = 0;
    bool contains = false;
    for (char *line = strtok_r(mountinfo, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest)) {
        mount found;
        if (!parse_mount(line, controller, version, &found))
            continue;
        const char *inside = below(path, found.root);
        if (inside == NULL ? folder != NULL : contains && strlen(found.root) >= shortest)
            continue;
        char *joined = NULL;
        if (asprintf(&joined, "%s%s", found.point, inside == NULL ? "" : inside) < 0)
            continue;
        free(folder);
        folder = joined;
        *point = strlen(found.point);
        contains = inside != NULL;
        shortest = strlen(found.root);
    }
    return folder;
}

static void visit_version(const char *root, const char *controller, int version, bj_cgroup_visit *visit,
                          void *context) {
    char *groups = bj_platform_read_system_file(root, "/proc/self/cgroup");
    char *mountinfo = bj_platform_read_system_file(root, "/proc/self/mountinfo");
    const char *path = groups == NULL ? NULL : find_path(groups, controller, version);
    size_t point = 0;
    char *folder = path == NULL || mountinfo == NULL ? NULL : find_folder(mountinfo, controller, version, path, &point);
    while (folder != NULL) {
        visit(root, folder, version, context);
        char *slash = strrchr(folder, '/');
        if (slash == NULL || (size_t)(slash - folder) < point)
            break;
        *slash = '\0';
    }
    free(folder);
    free(mountinfo);
    free(groups);
}

void bj_platform_visit_cgroups(const char *root, const char *controller, bj_cgroup_visit *visit, void *context) {
    visit_version(root, controller, 2, visit, context);
    visit_version(root, controller, 1, visit, context);
}
