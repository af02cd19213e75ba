# The front door: a thin layer over CMake. `make help` lists the targets.
#
#   build           what people use; cmake -B build && cmake --build build gives the same
#   build-gcc, build-clang, build-sanitize, build-threads    what the checks use
#   build-fuzz      the fuzzers and what they found
#   build-ports     other processors: their libraries, builds and logs

JOBS ?= $(shell nproc 2>/dev/null || echo 2)
PREFIX ?= /usr/local
DESTDIR ?=
PROFILE ?= blackjack-profile.json
PAGE ?= blackjack-report.html
RUN_ARGS ?=
# What is measured becomes the default profile of this user; a simulated machine does not.
SAVE ?= $(if $(findstring sim:,$(RUN_ARGS)),,--save)
TARGET ?= all
MINUTES ?= 20
PORTS ?= arm64 armhf i386 ppc64el riscv64 s390x

ifneq ($(origin CC),default)
export CC
endif
export DESTDIR
MAKEFLAGS += --no-print-directory
.NOTPARALLEL:

# CMake's own make must not inherit our flags.
CMAKE_BUILD = env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL cmake --build
CTEST = ctest --output-on-failure --parallel $(JOBS)
C_FILES = $(shell find src include tests examples -name '*.[ch]')

.PHONY: all build run check check-threads check-ports deps deps-peers deps-mpi deps-ports dist distcheck package packagecheck install uninstall lint format accuracy goldens sensitivity bench papers peers fuzz clean help

all: build

build:
	@command -v cmake >/dev/null || { echo "cmake is not installed: 'make deps' sees to it" >&2; exit 1; }
	@cmake -S . -B build >/dev/null
	@$(CMAKE_BUILD) build --parallel $(JOBS) --target $(TARGET)

# A probe that fails (status 1) still leaves a profile that is worth showing. The page is there where node was when it was
# built; what `report` says otherwise is what is missing.
run:
	@scripts/deps.sh run
	@$(MAKE) build TARGET=product
	@status=0; build/blackjack run --force -o '$(PROFILE)' $(SAVE) $(RUN_ARGS) || status=$$?; \
	if [ $$status -le 1 ]; then \
		build/blackjack show '$(PROFILE)' || exit; echo; \
		build/blackjack report '$(PROFILE)' --force -o '$(PAGE)' || :; \
	fi; exit $$status

# The tests of the plain build come last, so that the output ends with their summary. The sanitizers go without the
# tests of labels sim, papers and golden, and those of other labels that simulate whole machines as well: the same code on
# many more machines, seven minutes of it there; and without web, whose code is not C.
check:
	@scripts/deps.sh check
	@echo "== gcc, warnings are errors"
	@cmake -S . -B build-gcc -DCMAKE_C_COMPILER=gcc -DBJ_WERROR=ON >/dev/null
	@$(CMAKE_BUILD) build-gcc --parallel $(JOBS)
	@echo "== clang, warnings are errors; unit tests, some of the pinned answers"
	@cmake -S . -B build-clang -DCMAKE_C_COMPILER=clang -DBJ_WERROR=ON >/dev/null
	@$(CMAKE_BUILD) build-clang --parallel $(JOBS)
	@cd build-clang && $(CTEST) -L 'unit|few'
	@echo "== address and undefined-behaviour sanitizers; unit and command-line tests"
	@cmake -S . -B build-sanitize -DCMAKE_C_COMPILER=gcc -DBJ_WERROR=ON -DBJ_SANITIZE=ON \
		-DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG="-O1 -g" >/dev/null
	@$(CMAKE_BUILD) build-sanitize --parallel $(JOBS)
	@cd build-sanitize && $(CTEST) -LE 'structure|sim|papers|golden|web' -E '^(cli\.(papers|collection)|mpi\.simulated)$$'
	@echo "== gcc, release; all tests"
	@cd build-gcc && $(CTEST)

# Every test that starts threads. Their targets and their names differ in one character.
THREAD_TESTS = native.crowds native.streams native.walks lib.guest lib.reader lib.regions lib.runs unit.base_file unit.platform_cpu
THREAD_TARGETS = $(subst .,_,$(THREAD_TESTS))
THREAD_REGEX = ^($(shell echo $(THREAD_TESTS) | tr ' ' '|'))$$

# The sanitizer lays out memory by fixed addresses, which some kernels' random layout meets: then it ends at once with
# "unexpected memory mapping". So no random layout where it may be switched off (containers may forbid it).
check-threads:
	@scripts/deps.sh check
	@echo "== thread sanitizer; all tests that start threads"
	@cmake -S . -B build-threads -DCMAKE_C_COMPILER=gcc -DBJ_WERROR=ON -DBJ_SANITIZE_THREAD=ON \
		-DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG="-O1 -g" >/dev/null
	@$(CMAKE_BUILD) build-threads --parallel $(JOBS) --target $(THREAD_TARGETS)
	@if setarch -R true 2>/dev/null; then fixed="setarch -R"; else fixed=; fi; cd build-threads && \
	if TSAN_OPTIONS="second_deadlock_stack=1 $$TSAN_OPTIONS" $$fixed $(CTEST) --no-tests=error -R '$(THREAD_REGEX)'; \
	then echo "check-threads: no race found"; \
	else echo "check-threads: something was found, see above" >&2; exit 1; fi

# Hours of emulation with PORTS_ARGS=--all, which has the whole zoo.
check-ports:
	@scripts/deps.sh ports
	@scripts/check_ports.sh --jobs $(JOBS) $(PORTS_ARGS) build-ports $(PORTS)

deps:
	@scripts/deps.sh run
	@scripts/deps.sh check

deps-peers:
	@scripts/deps.sh peers

deps-mpi:
	@scripts/deps.sh mpi

deps-ports:
	@scripts/deps.sh ports

# The release tarball into build/, and a build of it where there is no git and no node.
dist:
	@scripts/make_dist.sh build

distcheck:
	@scripts/check_dist.sh build

# Debian packages from the tarball into build/package/, and what becomes of them on a clean system.
package:
	@scripts/deps.sh package
	@scripts/make_package.sh build/package

packagecheck: package
	@scripts/check_package.sh build/package '$(ROOT)'

install: build
	@cmake --install build --prefix '$(PREFIX)'

uninstall:
	@scripts/uninstall.sh build

# Missing returns and unset variables are left to the compilers and the analyzer, which follow loops and macros.
lint:
	@scripts/deps.sh lint
	@cmake -S . -B build-clang -DCMAKE_C_COMPILER=clang -DBJ_WERROR=ON >/dev/null
	@echo "== clang-format"
	@clang-format --dry-run -Werror $(C_FILES)
	@echo "== cppcheck"
	@cppcheck --quiet --std=c11 --enable=warning,performance,portability --inline-suppr --error-exitcode=1 \
		--suppress=missingReturn --suppress=uninitvar -D_GNU_SOURCE -I src -I include src
	@echo "== clang-tidy"
	@printf '%s\n' $(filter-out src/base/status.c,$(filter src/%.c,$(C_FILES))) | xargs -P $(JOBS) -n 4 \
		clang-tidy -p build-clang --quiet --extra-arg=-include$(CURDIR)/scripts/lint_model.h

format:
	@scripts/deps.sh lint
	@clang-format -i $(C_FILES)

accuracy bench: build
	@if [ -f bench/$@.sh ]; then bash bench/$@.sh; else echo "bench/$@.sh is not there: nothing to measure with"; exit 1; fi

# What the papers say of their machines, beside what their ways and ours give there; fails where they differ and no slip
# of theirs explains it. PAPERS_ARGS=--shares: with five seeds of each machine, a quarter of an hour.
papers: build
	@python3 bench/papers.py --program build/blackjack --comm build/blackjack-comm -o build/papers.md $(PAPERS_ARGS)

# Other people's tools and ours in turns; those that are not there are named and left out.
peers: build
	@python3 bench/peers.py --program build/blackjack -o build/peers.md $(PEERS_ARGS)

# After a change of an answer that is meant. What is written depends on the source alone: simulated runs have no clock.
goldens: build
	@for what in curves methods zoo 'zoo --effort normal'; do \
		python3 tests/golden/golden.py --program build/blackjack --renew $$what || exit; done
	@python3 scripts/make_collection.py --program build/blackjack --simulate

# Two to eight seconds for each of three hundred constants, with six machines. SENSITIVITY_ARGS="--probe tlb --only zen3" is a
# part; "-o FILE --continue" goes on with a table.
sensitivity:
	@python3 bench/sensitivity.py -o build/sensitivity.md $(SENSITIVITY_ARGS)

FUZZ_FORMATS = profile machine csv load compare reanalyze time regions messages news

# All targets in turn; what is found stays in build-fuzz, and the executions are printed.
fuzz:
	@scripts/deps.sh fuzz
	@cmake -S . -B build-fuzz -DCMAKE_C_COMPILER=clang -DBJ_WERROR=ON -DBJ_SANITIZE=ON -DBJ_FUZZ=ON \
		-DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG="-O1 -g" >/dev/null
	@$(CMAKE_BUILD) build-fuzz --parallel $(JOBS) --target $(addprefix fuzz_,$(FUZZ_FORMATS))
	@tests/fuzz/run.sh build-fuzz $(MINUTES) $(FUZZ_FORMATS)

clean:
	rm -rf build build-gcc build-clang build-sanitize build-threads build-fuzz build-ports

help:
	@echo "make                build into build/ (cmake -B build && cmake --build build does the same)"
	@echo "make run            packages, build, measure this machine into $(PROFILE), show the answer"
	@echo "                    and keep it as the default profile, and write a page into $(PAGE);"
	@echo "                    RUN_ARGS=\"--effort quick\" goes to 'blackjack run', PROFILE=FILE and PAGE=FILE"
	@echo "                    elsewhere, SAVE= does not keep it"
	@echo "make check          packages, gcc, clang and sanitizer builds without a warning, all tests"
	@echo "make check-threads  packages, the tests that start threads under ThreadSanitizer"
	@echo "make check-ports    cross builds for PORTS=\"$(PORTS)\", their tests under qemu-user and a table;"
	@echo "                    PORTS_ARGS=--all with the whole zoo; 'make deps-ports' sees to the packages"
	@echo "make deps           see to the packages that run and check need; does nothing when they are there"
	@echo "make deps-mpi       see to Open MPI, for the tests that are left out without it"
	@echo "make install        into PREFIX ($(PREFIX)), below DESTDIR if given"
	@echo "make uninstall      remove what install put there (same DESTDIR)"
	@echo "make dist           the release tarball into build/, with the bundled report page in it"
	@echo "make distcheck      the same, and a build of it without git and node that makes a page"
	@echo "make package        Debian packages into build/package/, by dpkg-buildpackage from the tarball"
	@echo "make packagecheck   the same; installs them on a clean system (as root: debootstrap, or ROOT=FOLDER that has one),"
	@echo "                    measures a clock, runs their tests, removes them: nothing may be left"
	@echo "make lint           clang-format, cppcheck, clang-tidy"
	@echo "make format         clang-format, in place"
	@echo "make accuracy       how often the answers are right, on curves whose truth is known"
	@echo "make goldens        renew the pinned answers of tests/golden/; the diff belongs to the change that made it"
	@echo "make sensitivity    what happens when a constant of an analysis is 20% off"
	@echo "make papers         what the papers say of their machines, literally and by our defaults"
	@echo "make bench          what a run costs in seconds and memory"
	@echo "make peers          ours beside likwid-bench, lmbench, STREAM, a plain chase"
	@echo "                    PEERS_ARGS=\"--runs 20\"; 'make deps-peers' sees to the packages"
	@echo "make fuzz           MINUTES=$(MINUTES) of libFuzzer over all that is read from files or options"
	@echo "make clean          remove the build folders"
