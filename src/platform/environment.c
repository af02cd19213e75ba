#include "platform/environment.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <paths.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/types.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <utmpx.h>

#include "base/text.h"
#include "platform/huge_pages.h"
#include "platform/pages.h"
#include "platform/system_file.h"

/* One line of plain ASCII, single blanks: firmware pads names and puts odd bytes in them, and these texts end up
 * in JSON. */
static void tidy(char *text) {
    char *to = text;
    for (const char *from = text; *from != '\0'; from++) {
        char c = *from == '\t' ? ' ' : *from;
        if (c == ' ' && (to == text || to[-1] == ' '))
            continue;
        *to++ = c >= ' ' && c <= '~' ? c : '?';
    }
    while (to > text && to[-1] == ' ')
        to--;
    *to = '\0';
}

/* What follows "name : " in cpuinfo, first occurrence; NULL: nothing does. */
static const char *find_line(const char *text, const char *name) {
    size_t length = strlen(name);
    for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, name, length) != 0)
            continue;
        const char *rest = line + length + strspn(line + length, " \t");
        if (*rest == ':')
            return rest + 1 + strspn(rest + 1, " \t");
    }
    return NULL;
}

static bool find_field(const char *text, const char *name, char *value, size_t room) {
    const char *found = find_line(text, name);
    if (found == NULL)
        return false;
    snprintf(value, room, "%.*s", (int)strcspn(found, "\n"), found);
    tidy(value);
    return value[0] != '\0';
}

static void read_cpu_name(const char *root, const char *cpuinfo, char *name, size_t room) {
    /* x86 and some ARM; 32-bit ARM; POWER; MIPS; RISC-V. */
    static const char *const fields[] = {"model name", "Hardware", "cpu", "cpu model", "uarch"};
    name[0] = '\0';
    for (size_t i = 0; cpuinfo != NULL && i < sizeof fields / sizeof fields[0]; i++)
        if (find_field(cpuinfo, fields[i], name, room))
            return;
    if (bj_platform_read_system_line(root, "/proc/device-tree/model", name, room)) {
        tidy(name);
        return;
    }
    /* 64-bit ARM servers give numbers only: better than nothing to tell two machines apart. */
    char implementer[32], part[32];
    if (cpuinfo != NULL && find_field(cpuinfo, "CPU implementer", implementer, sizeof implementer) &&
        find_field(cpuinfo, "CPU part", part, sizeof part))
        snprintf(name, room, "ARM implementer %s part %s", implementer, part);
}

/* In the first line of the text. */
static bool has_word(const char *text, const char *word) {
    const char *end = text + strcspn(text, "\n");
    size_t length = strlen(word);
    for (const char *at = strstr(text, word); at != NULL && at < end; at = strstr(at + 1, word))
        if ((at == text || strchr(" \t", at[-1]) != NULL) && strchr(" \t\r\n", at[length]) != NULL)
            return true;
    return false;
}

static bool firmware_names_hypervisor(const char *root, bool *known) {
    static const char *const files[] = {"/sys/class/dmi/id/product_name", "/sys/class/dmi/id/sys_vendor",
                                        "/sys/class/dmi/id/bios_vendor"};
    static const char *const names[] = {"KVM",         "QEMU",
                                        "VMware",      "VirtualBox",
                                        "Virtual Ma",  "Xen",
                                        "Bochs",       "Google Compute Engine",
                                        "OpenStack",   "BHYVE",
                                        "Parallels",   "Amazon EC2",
                                        "Firecracker", "Alibaba Cloud ECS"};
    char text[128];
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        if (!bj_platform_read_system_line(root, files[i], text, sizeof text))
            continue;
        *known = true;
        /* Clouds rent whole machines too, under the same vendor's name. */
        if (strstr(text, ".metal") != NULL || strstr(text, "-metal") != NULL)
            return false;
        for (size_t j = 0; j < sizeof names / sizeof names[0]; j++)
            if (strstr(text, names[j]) != NULL)
                return true;
    }
    return false;
}

static int read_virtualised(const char *root, const char *cpuinfo) {
    static const char *const hypervisor_files[] = {"/sys/hypervisor/type", "/proc/device-tree/hypervisor/compatible",
                                                   "/proc/device-tree/ibm,partition-name"};
    char line[128];
    const char *flags = cpuinfo != NULL ? find_line(cpuinfo, "flags") : NULL;
    bool known = flags != NULL;
    if (known && has_word(flags, "hypervisor"))
        return 1;
    for (size_t i = 0; i < sizeof hypervisor_files / sizeof hypervisor_files[0]; i++)
        if (bj_platform_read_system_line(root, hypervisor_files[i], line, sizeof line))
            return 1;
    /* IBM Z below z/VM or KVM. */
    char *sysinfo = bj_platform_read_system_file(root, "/proc/sysinfo");
    bool guest = sysinfo != NULL && strstr(sysinfo, "\nVM00 ") != NULL;
    free(sysinfo);
    if (guest || firmware_names_hypervisor(root, &known))
        return 1;
    return known ? 0 : -1;
}

static double read_load(const char *root) {
    char line[128];
    double load;
    if (!bj_platform_read_system_line(root, "/proc/loadavg", line, sizeof line))
        return NAN;
    line[strcspn(line, " \t")] = '\0';
    return bj_base_parse_double(line, &load) && load >= 0 ? load : NAN;
}

/* The device number of our controlling terminal; 0: none. It stays ours when all three streams are redirected. */
static dev_t controlling_terminal(void) {
    char *stat = bj_platform_read_system_file("", "/proc/self/stat");
    /* The name in parentheses may hold anything, so count from its end. */
    const char *after = stat == NULL ? NULL : strrchr(stat, ')');
    unsigned number = 0;
    if (after == NULL || sscanf(after + 1, " %*c %*d %*d %*d %u", &number) != 1)
        number = 0;
    free(stat);
    return number == 0 ? 0 : makedev((number >> 8) & 0xfff, (number & 0xff) | ((number >> 12) & 0xfff00));
}

static int count_login_users(void) {
    if (access(_PATH_UTMP, R_OK) != 0)
        return -1;
    dev_t ours = controlling_terminal();
    int count = 0;
    setutxent();
    for (const struct utmpx *entry = getutxent(); entry != NULL; entry = getutxent()) {
        if (entry->ut_type != USER_PROCESS)
            continue;
        /* A session that crashed leaves its entry behind. */
        if (entry->ut_pid > 0 && kill(entry->ut_pid, 0) != 0 && errno == ESRCH)
            continue;
        char path[sizeof entry->ut_line + 8];
        snprintf(path, sizeof path, "/dev/%.*s", (int)sizeof entry->ut_line, entry->ut_line);
        struct stat about;
        if (ours != 0 && stat(path, &about) == 0 && S_ISCHR(about.st_mode) && about.st_rdev == ours)
            continue;
        count++;
    }
    endutxent();
    return count;
}

/* Emulators of programs answer /proc/self/exe themselves, with the program that they run. The kernel's own answer,
 * which stands at a second place that they leave alone, is the emulator. */
static void read_emulator(const char *root, char *name, size_t room) {
    static const char *const places[] = {"/proc/self/exe", "/proc/thread-self/exe"};
    char path[PATH_MAX], programs[2][PATH_MAX];
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s%s", root, places[i]);
        ssize_t length = readlink(path, programs[i], sizeof programs[i] - 1);
        if (length <= 0)
            return;
        programs[i][length] = '\0';
    }
    const char *slash = strrchr(programs[1], '/');
    if (strcmp(programs[0], programs[1]) != 0)
        snprintf(name, room, "%.60s", slash != NULL ? slash + 1 : programs[1]);
}

void bj_platform_read_environment(const char *root, bj_environment *environment) {
    *environment = (bj_environment){.virtualised = -1, .load = NAN, .login_users = -1};
    struct utsname names;
    if (uname(&names) == 0) {
        snprintf(environment->os, sizeof environment->os, "%.24s %.64s %.32s", names.sysname, names.release,
                 names.machine);
        tidy(environment->os);
    }
    char *cpuinfo = bj_platform_read_system_file(root, "/proc/cpuinfo");
    read_cpu_name(root, cpuinfo, environment->cpu, sizeof environment->cpu);
    environment->virtualised = read_virtualised(root, cpuinfo);
    free(cpuinfo);
    bj_platform_read_huge_mode(root, environment->huge_pages, sizeof environment->huge_pages);
    /* A process may have been started without what the system grants others. */
    if (root[0] == '\0' && bj_platform_read_huge_bytes(root) > 0 && bj_platform_huge_bytes() == 0)
        snprintf(environment->huge_pages, sizeof environment->huge_pages, "never");
    char *meminfo = bj_platform_read_system_file(root, "/proc/meminfo");
    uint64_t kib;
    if (meminfo != NULL && bj_platform_find_number(meminfo, "MemTotal", &kib) && kib <= UINT64_MAX / 1024)
        environment->memory_bytes = kib * 1024;
    free(meminfo);
    environment->load = read_load(root);
    read_emulator(root, environment->emulator, sizeof environment->emulator);
    tidy(environment->emulator);
    if (bj_platform_read_system_line(root, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
                                     environment->governor, sizeof environment->governor))
        tidy(environment->governor);
    /* The list of sessions is the C library's to find, so a made-up tree has none. */
    if (root[0] == '\0')
        environment->login_users = count_login_users();
}

/* One line "cpuN user nice system idle iowait irq softirq steal …". Guest time, which follows, is part of user. */
static bool add_cpu_times(char *line, uint64_t *total, uint64_t *stolen) {
    enum { STATES = 8 };
    uint64_t sum = 0, last = 0;
    char *rest = NULL, *field = strtok_r(line, " ", &rest);
    for (int i = 0; i < STATES; i++) {
        field = strtok_r(NULL, " ", &rest);
        if (field == NULL || !bj_base_parse_u64(field, &last))
            return false;
        sum += last;
    }
    *total += sum;
    *stolen += last;
    return true;
}

static bool is_wanted_cpu(const char *line, const int *cpus, size_t cpu_count) {
    if (cpu_count == 0)
        return strncmp(line, "cpu ", 4) == 0;
    for (size_t i = 0; i < cpu_count; i++) {
        char name[24];
        int length = snprintf(name, sizeof name, "cpu%d ", cpus[i]);
        if (strncmp(line, name, (size_t)length) == 0)
            return true;
    }
    return false;
}

void bj_platform_read_steal(const char *root, const int *cpus, size_t cpu_count, uint64_t *total, uint64_t *stolen) {
    *total = *stolen = 0;
    char *text = bj_platform_read_system_file(root, "/proc/stat"), *rest = NULL;
    bool readable = text != NULL;
    for (char *line = readable ? strtok_r(text, "\n", &rest) : NULL; readable && line != NULL;
         line = strtok_r(NULL, "\n", &rest))
        if (is_wanted_cpu(line, cpus, cpu_count))
            readable = add_cpu_times(line, total, stolen);
    if (!readable)
        *total = *stolen = 0;
    free(text);
}
