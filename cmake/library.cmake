# libblackjack: the shared and the static library, and what others find them by. Only include/blackjack/ is public.
include(CMakePackageConfigHelpers)

set(BJ_ABI 1) # of the interface, see libblackjack.map; the project's version counts features
set(BJ_MAP ${CMAKE_CURRENT_LIST_DIR}/libblackjack.map)

file(GLOB lib_sources CONFIGURE_DEPENDS src/lib/*.c)
add_library(bj_lib OBJECT ${lib_sources})
target_include_directories(bj_lib PRIVATE include src ${PROJECT_BINARY_DIR}/generated)

add_library(libblackjack SHARED $<TARGET_OBJECTS:bj_lib>)
target_include_directories(libblackjack INTERFACE include)
target_link_libraries(libblackjack PRIVATE bj_core)
# It stays once it is loaded: jansson calls into it as long as the process lives (src/base/json_memory.c).
target_link_options(libblackjack PRIVATE -Wl,--version-script=${BJ_MAP} -Wl,-z,nodelete)
if(NOT BJ_SANITIZERS) # the sanitizers' runtime is in the program
  target_link_options(libblackjack PRIVATE -Wl,--no-undefined)
endif()
set_target_properties(libblackjack PROPERTIES
  OUTPUT_NAME blackjack VERSION ${BJ_ABI}.0.0 SOVERSION ${BJ_ABI} LINK_DEPENDS ${BJ_MAP})

# One object with everything, in which all that is hidden becomes local: two libraries with a function of the same name
# then do not meet in a program that links both.
set(BJ_STATIC ${PROJECT_BINARY_DIR}/libblackjack.a)
add_custom_command(OUTPUT ${BJ_STATIC}
  COMMAND ${CMAKE_COMMAND} -E rm -f ${BJ_STATIC}
  COMMAND ${CMAKE_C_COMPILER} -r -nostdlib -o libblackjack.o $<TARGET_OBJECTS:bj_lib>
    -Wl,--whole-archive $<TARGET_FILE:bj_core> -Wl,--no-whole-archive
  COMMAND ${CMAKE_OBJCOPY} --localize-hidden libblackjack.o
  COMMAND ${CMAKE_AR} qcs ${BJ_STATIC} libblackjack.o
  DEPENDS bj_core bj_lib $<TARGET_OBJECTS:bj_lib>
  COMMAND_EXPAND_LISTS VERBATIM)
add_custom_target(libblackjack_static ALL DEPENDS ${BJ_STATIC})

# Relative paths: the package may be installed below any prefix, and moved.
set(pc_folder ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH BJ_PC_TO_PREFIX /prefix/${pc_folder} /prefix)
string(REGEX REPLACE "/$" "" BJ_PC_TO_PREFIX "${BJ_PC_TO_PREFIX}")
configure_file(${CMAKE_CURRENT_LIST_DIR}/libblackjack.pc.in generated/libblackjack.pc @ONLY)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/libblackjack)
set(BJ_SHARED_FILE libblackjack.so)
set(BJ_SHARED_SONAME libblackjack.so.${BJ_ABI})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/libblackjack-config.cmake.in
  ${PROJECT_BINARY_DIR}/generated/libblackjack-config.cmake
  INSTALL_DESTINATION ${package_folder} PATH_VARS CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_INCLUDEDIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/generated/libblackjack-config-version.cmake
  VERSION ${PROJECT_VERSION} COMPATIBILITY SameMajorVersion)

install(TARGETS libblackjack LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES ${BJ_STATIC} DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES include/blackjack/blackjack.h include/blackjack/kernel.h include/blackjack/regions.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/blackjack)
install(FILES ${PROJECT_BINARY_DIR}/generated/libblackjack.pc DESTINATION ${pc_folder})
install(FILES ${PROJECT_BINARY_DIR}/generated/libblackjack-config.cmake
  ${PROJECT_BINARY_DIR}/generated/libblackjack-config-version.cmake DESTINATION ${package_folder})
