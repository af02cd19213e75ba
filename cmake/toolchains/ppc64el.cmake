# Debian's cross compiler for little-endian POWER.
set(BJ_TRIPLET powerpc64le-linux-gnu)
set(BJ_QEMU ppc64le)
set(CMAKE_SYSTEM_PROCESSOR ppc64le)
include(${CMAKE_CURRENT_LIST_DIR}/debian-cross.cmake)
