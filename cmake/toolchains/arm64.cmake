# Debian's cross compiler for 64-bit Arm.
set(BJ_TRIPLET aarch64-linux-gnu)
set(BJ_QEMU aarch64)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
include(${CMAKE_CURRENT_LIST_DIR}/debian-cross.cmake)
