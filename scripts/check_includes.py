#!/usr/bin/env python3
"""Checks the rules between the rooms of src/: who includes whom, who may print, where an #ifdef may stand.

usage: check_includes.py [ROOT] | --self-test
Prints "file:line: reason" for each breach and exits with 1 when there is any. The rules are the tables below;
ARCHITECTURE.md tells them in prose.
"""

import re
import sys
from pathlib import Path

import tree_self_test

# room: what its files may include with quotes besides their own room. A name that ends in "/" is a whole room.
MAY_INCLUDE = {
    "platform/system": [],
    "base": ["platform/system/"],
    "platform": ["base/", "platform/system/"],
    "kernels": ["base/", "platform/"],
    "codegen": ["base/"],
    "codegen/tool": ["codegen/"],
    "machine": ["base/"],
    "machine/native": ["base/", "platform/", "kernels/", "codegen/", "machine/"],
    "machine/sim": ["base/", "machine/"],
    "data": ["base/"],
    "stats": ["base/", "data/"],
    "profile": ["base/", "data/", "platform/system/", "bj_build.h"],
    "probes": ["base/", "data/", "machine/machine.h"],
    "probes/kit": ["base/", "data/", "stats/", "machine/machine.h", "machine/walk_order.h", "probes/probe.h"],
    # One probe's folder; what another probe keeps there is none of its business.
    "probes/*": ["base/", "data/", "stats/", "machine/machine.h", "machine/walk_order.h", "probes/probe.h",
                 "probes/kit/"],
    "runner": ["base/", "data/", "platform/", "machine/machine.h", "probes/probe.h", "profile/", "bj_build.h"],
    "report": ["base/", "data/", "stats/", "profile/"],
    "emit": ["base/", "data/", "profile/"],
    "regions": ["base/", "stats/", "diagnose/peaks.h"],
    "fleet": ["base/", "data/", "stats/", "profile/", "report/compare.h", "report/compare_constants.h",
              "report/compare_judge.h", "report/compare_levels.h", "report/terminal_text.h"],
    "verify": ["base/", "data/", "stats/", "machine/machine.h", "probes/probe.h", "profile/", "runner/",
               "report/terminal_text.h"],
    "timer": ["base/", "platform/", "kernels/", "data/", "stats/", "probes/kit/known_caches.h",
              "probes/kit/estimate.h"],
    "tune": ["base/", "platform/", "data/", "timer/", "kernels/timed_calls.h"],
    "diagnose": ["base/", "data/", "stats/", "profile/", "machine/machine.h", "probes/kit/estimate.h"],
    "lib": ["base/", "data/", "platform/", "platform/system/", "machine/machine.h", "probes/probe.h", "profile/", "runner/", "timer/", "tune/", "bj_build.h",
            "blackjack/blackjack.h", "blackjack/kernel.h", "blackjack/regions.h"],
    # The program over MPI: it stands on the seam and the runner, and speaks with the command line's means.
    "comm": ["base/", "data/", "platform/", "machine/", "profile/", "probes/probe.h", "runner/", "cli/", "bj_build.h"],
    "cli": ["base/", "data/", "platform/", "kernels/", "machine/", "profile/", "probes/", "runner/", "report/",
            "emit/", "timer/", "regions/", "fleet/", "tune/", "diagnose/", "verify/", "machine/native/native_compiler.h", "bj_build.h"],
}

# Made at build time, or public and below include/: there is no file of that name below src/.
GENERATED = {"bj_build.h", "blackjack/blackjack.h", "blackjack/kernel.h", "blackjack/regions.h"}

# system header (a name that ends in "/" is a folder of them): the rooms that may include it
SYSTEM_HEADERS = {
    "hwloc.h": ["platform"],
    "hwloc/": ["platform"],
    "jansson.h": ["base", "profile", "machine/sim", "regions", "cli"],
    "zlib.h": ["base"],
    "mpi.h": ["comm"],
}

# Rooms that may print to the standard streams and end the program.
MAY_PRINT_AND_EXIT = ["cli", "codegen/tool", "comm"]
# Rooms that may call _exit, which is how a forked child ends.
MAY_END_A_CHILD = ["platform"]
PRINT_OR_EXIT = re.compile(
    r"(?<![\w.>])(?:"
    r"(?P<call>v?printf|puts|putchar|perror|exit|_exit|_Exit|quick_exit|abort)\s*\("
    r"|(?P<to>v?fprintf)\s*\(\s*(?:stderr|stdout)\b"
    r"|(?P<put>fputs|fputc|putc)\s*\([^;]*\bstderr\b)")

# Rooms that may ask the preprocessor which system or processor this is.
MAY_ASK_SYSTEM = ["platform", "platform/system", "kernels"]
SYSTEM_MACRO = re.compile(
    r"\b(?:__linux__|__linux|linux|__unix__|__APPLE__|__MACH__|_WIN32|_WIN64|__CYGWIN__|__ANDROID__"
    r"|__(?:Free|Net|Open)BSD__|__DragonFly__|__sun|__GLIBC__"
    r"|__x86_64__|__amd64__|__i386__|__aarch64__|__arm__|__ARM_\w+|__powerpc\w*|__ppc\w*|__PPC\w*|__riscv\w*"
    r"|__s390\w*|__mips\w*|__loongarch\w*|__ia64__|__sparc\w*"
    r"|__SSE\w*|__AVX\w*|__FMA__|__ALTIVEC__|__VSX__)")

# What one system has and others lack: headers, calls and constants, and files that the system makes up. Only the
# platform room may speak of them, so that docs/porting.md's table is whole. <sched.h> is POSIX's, what pins is not.
MAY_KNOW_SYSTEM = ["platform", "platform/system"]
SYSTEM_ONLY_HEADERS = re.compile(
    r"(?:linux|asm|bits)/|sys/(?:prctl|auxv|syscall|epoll|eventfd|inotify|signalfd|timerfd|personality|random|sendfile"
    r"|sysinfo|sysmacros|vfs|mount|quota|xattr|sysctl|event|cpuset|rtprio|procctl|thr|jail|user|param)\.h$"
    r"|(?:mach|libkern|os)/|(?:libproc|pthread_np|malloc_np|syscall|sched_ext|numa|numaif|libgen_np|byteswap)\.h$")
SYSTEM_ONLY_NAMES = re.compile(
    r"\b(?:prctl|arch_prctl|syscall|getauxval|elf_aux_info|secure_getenv|issetugid|getrandom|getentropy|arc4random\w*"
    r"|sched_[gs]etaffinity|sched_getcpu|pthread_[gs]etaffinity_np|pthread_[gs]etname_np|pthread_getattr_np|gettid"
    r"|cpu_set_t|cpuset_\w+|CPU_(?:SETSIZE|ZERO|SET|CLR|ISSET|COUNT|ALLOC|FREE)\w*"
    r"|renameat2|renameatx_np|copy_file_range|fopencookie|funopen|memfd_create|pipe2|dup3|accept4|statx|clone3?|unshare|setns"
    r"|epoll_\w+|eventfd|inotify_\w+|signalfd|timerfd_\w+|kqueue|sysctl(?:byname)?|mach_\w+|proc_pidinfo"
    r"|madvise|mbind|get_mempolicy|set_mempolicy|move_pages|mremap|program_invocation_\w*name|dladdr1|clearenv"
    r"|MADV_\w+|MAP_(?:NORESERVE|POPULATE|HUGETLB\w*|LOCKED|STACK|NOSYNC)|PR_[SG]ET\w+|AT_HWCAP2?|AT_SECURE"
    r"|O_PATH|O_TMPFILE|O_DIRECT|SOCK_CLOEXEC|SOCK_NONBLOCK|MSG_CMSG_CLOEXEC|RENAME_\w+|GRND_\w+)\b")
SYSTEM_ONLY_PATH = re.compile(r'"(?:[^"\\]|\\.)*?(?<![\w.])/(?:proc|sys)(?![\w-])')

INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')
CONDITION = re.compile(r"^\s*#\s*(?:if|ifdef|ifndef|elif)\b")


def strip_comments_and_texts(source):
    """The source with comments and the insides of literals blanked, lines kept; #include lines stay whole."""
    token = re.compile(
        r'^[ \t]*#[ \t]*include[^\n]*'
        r'|/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S | re.M)

    def blank(match):
        text = match.group(0)
        if text.lstrip().startswith("#"):
            return text
        if text[0] in "\"'":
            return text[0] * 2
        return "\n" * text.count("\n") or " "

    return token.sub(blank, source)


def strip_comments(source):
    """The source with comments blanked and texts as they are, lines kept."""
    token = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
    return token.sub(lambda match: match.group(0) if match.group(0)[0] in "\"'" else
                     "\n" * match.group(0).count("\n") or " ", source)


def find_system_paths(source):
    """(line, reason) for each text that names a file which one system makes up."""
    for number, line in enumerate(strip_comments(source).split("\n"), 1):
        path = SYSTEM_ONLY_PATH.search(line)
        if path:
            yield number, f"names {path.group(0)[1:]}: only {' and '.join(MAY_KNOW_SYSTEM)} may know such files"


def room_of(path):
    """The most special room that holds a path relative to src/; None for a file outside of all."""
    folder = "/".join(path.split("/")[:-1])
    while folder:
        if folder in MAY_INCLUDE or folder.rpartition("/")[0] + "/*" in MAY_INCLUDE:
            return folder
        folder = folder.rpartition("/")[0]
    return None


def names_open_to(room):
    return MAY_INCLUDE[room] if room in MAY_INCLUDE else MAY_INCLUDE[room.rpartition("/")[0] + "/*"]


def allows(names, path):
    """Whether a list of file and folder names covers a path; "machine/" does not open machine/native/."""
    for name in names:
        if path == name:
            return True
        if name.endswith("/") and path.startswith(name) and room_of(path) in (None, name.rstrip("/")):
            return True
    return False


def check_include(sources, room, name, quoted):
    """The reason why a file of the room may not include the name, or None."""
    if name in GENERATED or (sources / name).is_file():
        if name not in GENERATED and room_of(name) == room:
            return None
        if not allows(names_open_to(room), name):
            return f'{room}/ may not include "{name}"'
        return None if quoted else f'"{name}" is ours: include it with quotes'
    if not quoted and room not in MAY_KNOW_SYSTEM and SYSTEM_ONLY_HEADERS.match(name):
        return f"<{name}> is one system's: only {' and '.join(MAY_KNOW_SYSTEM)} may include it"
    if quoted:
        return f'"{name}" is not there (paths start below src/)'
    for header, rooms in SYSTEM_HEADERS.items():
        if (name == header or (header.endswith("/") and name.startswith(header))) and room not in rooms:
            return f"<{name}> belongs to {', '.join(rooms) or 'no room yet'} alone"
    return None


def check_file(sources, path):
    """(line, reason) for each breach in one file."""
    relative = path.relative_to(sources).as_posix()
    room = room_of(relative)
    if room is None:
        yield 1, "is in no room that the table MAY_INCLUDE knows"
        return
    source = path.read_text(encoding="utf-8")
    text = strip_comments_and_texts(source)
    if room not in MAY_KNOW_SYSTEM:
        yield from find_system_paths(source)
    for number, line in enumerate(text.split("\n"), 1):
        include = INCLUDE.match(line)
        if include:
            reason = check_include(sources, room, include.group(2), include.group(1) == '"')
            if reason:
                yield number, reason
            continue
        if room not in MAY_ASK_SYSTEM and CONDITION.match(line):
            macro = SYSTEM_MACRO.search(line)
            if macro:
                yield number, f"asks for {macro.group(0)}: only {' and '.join(MAY_ASK_SYSTEM)} may"
        if room not in MAY_KNOW_SYSTEM:
            for known in SYSTEM_ONLY_NAMES.finditer(line):
                yield number, f"uses {known.group(0)}, which is one system's: only {' and '.join(MAY_KNOW_SYSTEM)} may"
        if room not in MAY_PRINT_AND_EXIT:
            for call in PRINT_OR_EXIT.finditer(line):
                name = call.group("call") or call.group("to") or call.group("put")
                if name == "_exit" and room in MAY_END_A_CHILD:
                    continue
                yield number, f"calls {name}: only {' and '.join(MAY_PRINT_AND_EXIT)} prints or exits"


def check_tree(root):
    """All breaches below root as lines of text."""
    sources = root / "src"
    found = []
    for path in sorted(sources.rglob("*")):
        if path.suffix in (".c", ".h"):
            found += [f"{path.relative_to(root)}:{line}: {reason}" for line, reason in check_file(sources, path)]
    return found


GOOD_TREE = {
    "src/base/status.h": "",
    "src/platform/clock.c": '#include "base/status.h"\n#include <hwloc.h>\n#include <sys/prctl.h>\n#ifdef __linux__\n'
                            '#endif\nconst char *name = "/proc/stat";\nvoid g(void) { prctl(1); }\n'
                            "void f(void) { _exit(0); }\n",
    "src/platform/clock.h": "",
    "src/kernels/walk.h": "#if defined(__x86_64__)\n#endif\n",
    "src/codegen/codegen.h": '#include "base/status.h"\n',
    "src/codegen/tool/write.c": '#include "codegen/codegen.h"\nint main(void) { fputs("x", stderr); return 1; }\n',
    "src/machine/machine.h": '#include "base/status.h"\n',
    "src/machine/walk_order.h": "",
    "src/machine/native/native.c": '#include "machine/native/native.h"\n#include "machine/machine.h"\n'
                                   '#include "kernels/walk.h"\n#include "platform/clock.h"\n#ifdef NDEBUG\n#endif\n',
    "src/machine/native/native.h": "",
    "src/machine/sim/sim.c": '#include "machine/machine.h"\n#include <jansson.h>\n',
    "src/stats/steps.h": "",
    "src/data/curve.h": "",
    "src/profile/profile.h": "",
    "src/probes/probe.h": "",
    "src/probes/kit/rounds.h": '#include "probes/probe.h"\n',
    "src/probes/line/line_answer.h": "",
    "src/probes/cache/probe_cache.c": '#include "machine/walk_order.h"\n#include "stats/steps.h"\n'
                                      '#include "data/curve.h"\n#include "probes/kit/rounds.h"\n'
                                      '/* printf("x"); exit(1) */\n'
                                      'const char *text = "abort() // __linux__, a/process/system";\n'
                                      '#include <sched.h>\nvoid f(void) { sched_yield(); } /* "/proc/stat" */\n',
    "src/runner/runner.c": '#include "probes/probe.h"\n#include "machine/machine.h"\n',
    "src/report/show.c": '#include "profile/profile.h"\nvoid f(void) { fprintf(file, "x"); pthread_exit(0); }\n',
    "src/cli/main.c": '#include "bj_build.h"\n#include "runner/runner.h"\nint main(void) { printf("x"); exit(0); }\n',
    "src/runner/runner.h": "",
}

# file, its text, the line of the breach, a part of the reason
BAD_FILES = [
    ("src/base/a.c", '\n#include "platform/clock.h"\n', 2, "base/ may not"),
    ("src/platform/a.c", '#include "kernels/walk.h"\n', 1, "platform/ may not"),
    ("src/kernels/a.c", '#include "machine/machine.h"\n', 1, "kernels/ may not"),
    ("src/codegen/a.c", '#include "kernels/walk.h"\n', 1, "codegen/ may not"),
    ("src/codegen/a.c", 'void f(void) { fputs("x", stderr); }\n', 1, "calls fputs"),
    ("src/machine/a.c", '#include "codegen/codegen.h"\n', 1, "machine/ may not"),
    ("src/machine/a.c", '#include "platform/clock.h"\n', 1, "machine/ may not"),
    ("src/machine/a.c", '#include "machine/native/native.h"\n', 1, "machine/ may not"),
    ("src/machine/sim/a.c", '#include "machine/native/native.h"\n', 1, "machine/sim/ may not"),
    ("src/machine/sim/a.c", '#include "platform/clock.h"\n', 1, "machine/sim/ may not"),
    ("src/stats/a.c", '#include "profile/profile.h"\n', 1, "stats/ may not"),
    ("src/data/a.c", '#include "stats/steps.h"\n', 1, "data/ may not"),
    ("src/probes/a.c", '#include "probes/kit/rounds.h"\n', 1, "probes/ may not"),
    ("src/probes/kit/a.c", '#include "probes/line/line_answer.h"\n', 1, "probes/kit/ may not"),
    ("src/probes/cache/a.c", '#include "probes/line/line_answer.h"\n', 1, "probes/cache/ may not"),
    ("src/probes/cache/a.c", '#include "profile/profile.h"\n', 1, "probes/cache/ may not"),
    ("src/profile/a.c", '#include "probes/probe.h"\n', 1, "profile/ may not"),
    ("src/probes/a.c", '#include "machine/native/native.h"\n', 1, "probes/ may not"),
    ("src/probes/a.c", '#include "platform/clock.h"\n', 1, "probes/ may not"),
    ("src/probes/a.c", '#include "profile/profile.h"\n', 1, "probes/ may not"),
    ("src/runner/a.c", '#include "machine/walk_order.h"\n', 1, "runner/ may not"),
    ("src/report/a.c", '  #  include "probes/probe.h"\n', 1, "report/ may not"),
    ("src/report/a.c", '#include "bj_build.h"\n', 1, "report/ may not"),
    ("src/emit/a.c", '#include "blackjack/blackjack.h"\n', 1, "emit/ may not"),
    ("src/lib/a.c", '#include "machine/native/native.h"\n', 1, "lib/ may not"),
    ("src/lib/a.c", "void f(void) { abort(); }\n", 1, "calls abort"),
    ("src/timer/a.c", '#include "machine/machine.h"\n', 1, "timer/ may not"),
    ("src/emit/a.c", '#include "runner/runner.h"\n', 1, "emit/ may not"),
    ("src/emit/a.c", 'void f(void) { puts("x"); }\n', 1, "calls puts"),
    ("src/report/a.c", "#include <profile/profile.h>\n", 1, "with quotes"),
    ("src/report/a.c", '#include "profile/gone.h"\n', 1, "is not there"),
    ("src/cli/a.c", "#include <hwloc/helper.h>\n", 1, "belongs to platform alone"),
    ("src/probes/a.c", "#include <jansson.h>\n", 1, "belongs to base, profile, machine/sim, regions, cli alone"),
    ("src/cli/a.c", "#include <mpi.h>\n", 1, "belongs to comm alone"),
    ("src/stats/a.c", '/* two\n lines */ void f(void) { printf("x"); }\n', 2, "calls printf"),
    ("src/stats/a.c", 'void f(void) { fprintf(stderr, "x"); }\n', 1, "calls fprintf"),
    ("src/stats/a.c", "void f(void) { fputs(text, stderr); }\n", 1, "calls fputs"),
    ("src/stats/a.c", "void f(void) { exit(1); }\n", 1, "calls exit"),
    ("src/stats/a.c", "void f(void) { abort(); }\n", 1, "calls abort"),
    ("src/runner/a.c", "void f(void) { _exit(1); }\n", 1, "calls _exit"),
    ("src/platform/a.c", "void f(void) { _exit(1); exit(1); }\n", 1, "calls exit"),
    ("src/stats/a.c", "#if defined(__aarch64__)\n#endif\n", 1, "asks for __aarch64__"),
    ("src/machine/native/a.c", "#ifdef __linux__\n#endif\n", 1, "asks for __linux__"),
    ("src/machine/native/a.c", "#include <sys/prctl.h>\n", 1, "is one system's"),
    ("src/timer/a.c", "#include <linux/perf_event.h>\n", 1, "is one system's"),
    ("src/cli/a.c", "\n#include <sys/sysctl.h>\n", 2, "is one system's"),
    ("src/machine/native/a.c", "void f(void) { sched_setaffinity(0, 0, 0); }\n", 1, "uses sched_setaffinity"),
    ("src/comm/a.c", "/* two\n lines */ cpu_set_t set;\n", 2, "uses cpu_set_t"),
    ("src/kernels/a.c", "#include <sys/auxv.h>\n", 1, "is one system's"),
    ("src/kernels/a.c", "int f(void) { return getauxval(AT_PAGESZ); }\n", 1, "uses getauxval"),
    ("src/base/a.c", 'const char *text = "/proc/self/fd/";\n', 1, "names /proc"),
    ("src/tune/a.c", 'const char *text = "cat /sys/devices/system";\n', 1, "names cat /sys"),
    ("src/attic/a.c", "", 1, "is in no room"),
    ("src/a.c", "", 1, "is in no room"),
]


def self_test():
    breaches = [(name, text, f"{name}:{line}: ", reason) for name, text, line, reason in BAD_FILES]
    return tree_self_test.self_test("check_includes", GOOD_TREE, breaches, check_tree)


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test()
    if len(arguments) > 1 or (arguments and arguments[0].startswith("-")):
        print("usage: check_includes.py [ROOT] | --self-test", file=sys.stderr)
        return 2
    root = Path(arguments[0]) if arguments else Path(__file__).resolve().parent.parent
    if not (root / "src").is_dir():
        print(f"check_includes: {root}/src is not there", file=sys.stderr)
        return 2
    found = check_tree(root)
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
