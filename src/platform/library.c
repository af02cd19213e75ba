#include "platform/library.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text.h"

/* Whether the symbol's table says that it is no code; where there is no such table, nothing is said. */
static bool is_data(const void *address) {
#ifdef __GLIBC__
    Dl_info info;
    const ElfW(Sym) *symbol = NULL;
    if (dladdr1(address, &info, (void **)&symbol, RTLD_DL_SYMENT) != 0 && symbol != NULL)
        return (symbol->st_info & 0xf) == STT_OBJECT || (symbol->st_info & 0xf) == STT_TLS;
#else
    (void)address;
#endif
    return false;
}

bj_status bj_platform_load_function(const char *path, const char *symbol, bj_any_function **function, bj_error *error) {
    char file[PATH_MAX];
    /* Without a slash the system's folders would be searched. */
    snprintf(file, sizeof file, "%s%s", strchr(path, '/') == NULL ? "./" : "", path);
    /* The loader would wait at a named pipe or some devices for ever. */
    struct stat about;
    if (stat(file, &about) == 0 && !S_ISREG(about.st_mode))
        return bj_base_set_error(error, BJ_ERR_INPUT, "cannot be loaded: is no regular file");
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        char why[200];
        const char *said = dlerror();
        snprintf(why, sizeof why, "%.190s", said != NULL ? said : "no reason given");
        bj_base_hide_controls(why);
        return bj_base_set_error(error, BJ_ERR_INPUT, "cannot be loaded: %s", why);
    }
    void *address = dlsym(library, symbol);
    if (address == NULL)
        return bj_base_set_error(error, BJ_ERR_INPUT, "has no symbol '%.80s'", symbol);
    if (is_data(address))
        return bj_base_set_error(error, BJ_ERR_INPUT, "'%.80s' is data, not a function", symbol);
    memcpy(function, &address, sizeof address); /* ISO C knows no cast from one to the other */
    return BJ_OK;
}

bj_status bj_platform_find_function(const char *name, const char *symbol, bj_any_function **function, bj_error *error) {
    void *library = strchr(name, '/') == NULL ? dlopen(name, RTLD_NOW | RTLD_LOCAL) : NULL;
    void *address = library != NULL ? dlsym(library, symbol) : NULL;
    if (address == NULL || is_data(address))
        return bj_base_set_error(error, BJ_ERR_UNSUPPORTED, "%.80s with '%.40s' is not installed", name, symbol);
    memcpy(function, &address, sizeof address);
    return BJ_OK;
}
