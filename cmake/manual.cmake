# Manual pages and completion. The pages of the commands are committed, so that no build has to run the program; the
# target `manual` renews them, and the test cli.pages says when they are out of date.
file(GLOB page_templates CONFIGURE_DEPENDS docs/man/*.1.in)
foreach(template ${page_templates})
  get_filename_component(page ${template} NAME_WLE)
  configure_file(${template} manual/${page} @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/manual/${page} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
endforeach()
install(FILES docs/man/libblackjack.3 DESTINATION ${CMAKE_INSTALL_MANDIR}/man3)
install(FILES docs/man/blackjack-profile.5 DESTINATION ${CMAKE_INSTALL_MANDIR}/man5)
add_custom_target(manual COMMAND python3 ${PROJECT_SOURCE_DIR}/scripts/make_manual.py $<TARGET_FILE:blackjack>)

install(FILES scripts/completion/blackjack.bash
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME blackjack)
install(FILES scripts/completion/_blackjack DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
