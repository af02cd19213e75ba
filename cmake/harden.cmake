# What makes a mistake in C harder to use: for the program and the libraries. Not for the kernels, whose loops must stay what
# the source says; of all this they keep the landing pads at the entries of functions, which no loop sees, since a program
# has CET or BTI only when all of its objects have.
set(BJ_UNHARDEN)
if(NOT BJ_HARDEN OR BJ_SANITIZERS)
  return()
endif()

include(CheckPIESupported)
check_pie_supported(OUTPUT_VARIABLE unused LANGUAGES C)

foreach(flag -fstack-protector-strong -fstack-clash-protection -fcf-protection=full -mbranch-protection=standard)
  string(MAKE_C_IDENTIFIER "BJ_HAVE${flag}" have)
  check_c_compiler_flag("-Werror ${flag}" ${have}) # some are warned of where the processor has nothing of it
  if(${have})
    add_compile_options(${flag})
  endif()
endforeach()
foreach(flag -fno-stack-protector -fno-stack-clash-protection)
  string(MAKE_C_IDENTIFIER "BJ_HAVE${flag}" have)
  check_c_compiler_flag("-Werror ${flag}" ${have})
  if(${have})
    list(APPEND BJ_UNHARDEN ${flag})
  endif()
endforeach()

# Undefined first: a distribution's compiler may define it by itself. It needs an optimizing build.
if(NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
  add_compile_options(-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
  list(APPEND BJ_UNHARDEN -U_FORTIFY_SOURCE)
endif()

add_link_options(-Wl,-z,relro -Wl,-z,now)
