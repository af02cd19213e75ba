# Debian's cross compiler for 32-bit Arm with hardware floating point.
set(BJ_TRIPLET arm-linux-gnueabihf)
set(BJ_QEMU arm)
set(CMAKE_SYSTEM_PROCESSOR armv7)
include(${CMAKE_CURRENT_LIST_DIR}/debian-cross.cmake)
