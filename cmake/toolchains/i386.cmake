# Debian's cross compiler for 32-bit x86.
set(BJ_TRIPLET i686-linux-gnu)
set(BJ_LIBRARY_ARCHITECTURE i386-linux-gnu)
set(BJ_QEMU i386)
set(BJ_RUNS_ON x86_64)
set(CMAKE_SYSTEM_PROCESSOR i686)
include(${CMAKE_CURRENT_LIST_DIR}/debian-cross.cmake)
