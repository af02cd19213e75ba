# Debian's cross compiler for IBM Z, which is big-endian.
set(BJ_TRIPLET s390x-linux-gnu)
set(BJ_QEMU s390x)
set(CMAKE_SYSTEM_PROCESSOR s390x)
include(${CMAKE_CURRENT_LIST_DIR}/debian-cross.cmake)
