# What the toolchain files of this folder share. Each says BJ_TRIPLET (Debian's name of the target), BJ_QEMU (of qemu-user),
# BJ_RUNS_ON (another processor that runs its programs, where there is one) and includes this one. BJ_SYSROOT, a variable of the environment, is a folder as scripts/ports_sysroot.sh fills it: the
# target's libraries, unpacked and not installed.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_C_COMPILER ${BJ_TRIPLET}-gcc)
if(NOT DEFINED ENV{BJ_SYSROOT})
  message(FATAL_ERROR "BJ_SYSROOT is not set: scripts/ports_sysroot.sh ARCHITECTURE FOLDER makes one")
endif()
set(CMAKE_SYSROOT $ENV{BJ_SYSROOT})
if(NOT DEFINED BJ_LIBRARY_ARCHITECTURE) # where libraries are; i386-linux-gnu for i686-linux-gnu-gcc
  set(BJ_LIBRARY_ARCHITECTURE ${BJ_TRIPLET})
endif()
set(CMAKE_LIBRARY_ARCHITECTURE ${BJ_LIBRARY_ARCHITECTURE})
# Debian's cross compilers look for the C library in their own folder first, and theirs may be an older one.
add_link_options(-B${CMAKE_SYSROOT}/usr/lib/${BJ_LIBRARY_ARCHITECTURE}/)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${CMAKE_SYSROOT})
set(ENV{PKG_CONFIG_LIBDIR} ${CMAKE_SYSROOT}/usr/lib/${BJ_LIBRARY_ARCHITECTURE}/pkgconfig:${CMAKE_SYSROOT}/usr/share/pkgconfig)
find_program(BJ_EMULATOR NAMES qemu-${BJ_QEMU}-static qemu-${BJ_QEMU})
# BJ_TRY_HERE: programs know their loader and libraries by the sysroot's own path, so that the emulator runs them as they
# are. Its -L would do for other builds, but shows the sysroot as the folder /, from which our files are opened.
file(GLOB BJ_LOADER ${CMAKE_SYSROOT}/usr/lib/${BJ_LIBRARY_ARCHITECTURE}/ld*.so.[1-9]
  ${CMAKE_SYSROOT}/lib/${BJ_LIBRARY_ARCHITECTURE}/ld*.so.[1-9])
if(BJ_TRY_HERE AND BJ_LOADER)
  list(GET BJ_LOADER 0 BJ_LOADER)
  set(libraries ${CMAKE_SYSROOT}/lib/${BJ_LIBRARY_ARCHITECTURE}:${CMAKE_SYSROOT}/usr/lib/${BJ_LIBRARY_ARCHITECTURE})
  add_link_options(-Wl,--dynamic-linker=${BJ_LOADER} -Wl,--disable-new-dtags,-rpath,${libraries})
  # A processor that runs the target's programs as they are needs no emulator, where its kernel allows it.
  set(BJ_LOADER_STATUS 1)
  if(CMAKE_HOST_SYSTEM_PROCESSOR STREQUAL "${BJ_RUNS_ON}")
    execute_process(COMMAND ${BJ_LOADER} --version RESULT_VARIABLE BJ_LOADER_STATUS OUTPUT_QUIET ERROR_QUIET)
  endif()
  if(NOT BJ_LOADER_STATUS EQUAL 0)
    set(CMAKE_CROSSCOMPILING_EMULATOR ${BJ_EMULATOR})
  endif()
elseif(BJ_EMULATOR)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${BJ_EMULATOR};-L;${CMAKE_SYSROOT})
endif()
