# Debian's cross compiler for 64-bit RISC-V.
set(BJ_TRIPLET riscv64-linux-gnu)
set(BJ_QEMU riscv64)
set(CMAKE_SYSTEM_PROCESSOR riscv64)
include(${CMAKE_CURRENT_LIST_DIR}/debian-cross.cmake)
