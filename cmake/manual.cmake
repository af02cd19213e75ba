# Manual pages and completion. Those of the commands are made from the tables that the help is made from, so the program
# itself writes them; where it cannot run (cross-compiled), they are left out.
if(CMAKE_SCRIPT_MODE_FILE) # cmake -DPROGRAM=… -DNAMES=… -DFOLDER=… -P manual.cmake
  function(write_page file)
    execute_process(COMMAND ${PROGRAM} help ${ARGN} OUTPUT_FILE ${FOLDER}/${file} RESULT_VARIABLE result)
    if(NOT result EQUAL 0)
      message(FATAL_ERROR "${PROGRAM} help ${ARGN}: ${result}")
    endif()
  endfunction()
  file(MAKE_DIRECTORY ${FOLDER})
  write_page(blackjack.1 --format man)
  foreach(name ${NAMES})
    write_page(blackjack-${name}.1 ${name} --format man)
  endforeach()
  write_page(blackjack.bash --format bash)
  write_page(_blackjack --format zsh)
  return()
endif()

install(FILES docs/man/libblackjack.3 DESTINATION ${CMAKE_INSTALL_MANDIR}/man3)
install(FILES docs/man/blackjack-profile.5 DESTINATION ${CMAKE_INSTALL_MANDIR}/man5)
if(CMAKE_CROSSCOMPILING AND NOT CMAKE_CROSSCOMPILING_EMULATOR)
  return()
endif()

set(manual_folder ${PROJECT_BINARY_DIR}/manual)
file(STRINGS src/cli/command_list.h command_lines REGEX "^BJ_COMMAND\\(")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS src/cli/command_list.h)
set(command_names)
set(manual_pages ${manual_folder}/blackjack.1)
foreach(line ${command_lines})
  string(REGEX REPLACE "^BJ_COMMAND\\((.*)\\).*" "\\1" name "${line}")
  list(APPEND command_names ${name})
  list(APPEND manual_pages ${manual_folder}/blackjack-${name}.1)
endforeach()
add_custom_command(OUTPUT ${manual_pages} ${manual_folder}/blackjack.bash ${manual_folder}/_blackjack
  COMMAND ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:blackjack> "-DNAMES=${command_names}" -DFOLDER=${manual_folder}
    -P ${CMAKE_CURRENT_LIST_DIR}/manual.cmake
  DEPENDS blackjack ${CMAKE_CURRENT_LIST_DIR}/manual.cmake VERBATIM)
add_custom_target(manual ALL DEPENDS ${manual_pages})

install(FILES ${manual_pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${manual_folder}/blackjack.bash
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME blackjack)
install(FILES ${manual_folder}/_blackjack DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
