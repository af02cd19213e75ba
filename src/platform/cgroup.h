/* Where this process stands in the control groups. Private to this room. */
#pragma once

/* `version` is 1 or 2; `folder` lies below `root`, as all paths of system_file.h do. */
typedef void bj_cgroup_visit(const char *root, const char *folder, int version, void *context);

/* Calls `visit` for our group and each ancestor that is mounted here, the innermost first, in the hierarchies
 * that may carry `controller` ("memory", "cpu"): a hybrid system has one of either version. */
void bj_platform_visit_cgroups(const char *root, const char *controller, bj_cgroup_visit *visit, void *context);
