# The report page: web/ bundled by node, then embedded in the program as bytes. Where node, npm or the packages are not
# to be had the page is left out, and `blackjack report` says so. A release carries the bundled page in web/dist/.
option(BJ_PAGE "Bundle the report page where node and npm are found" ON)
set(page_folder ${PROJECT_BINARY_DIR}/generated/web)
set(page_dist ${PROJECT_SOURCE_DIR}/web/dist)
file(MAKE_DIRECTORY ${page_folder})
find_program(BJ_NODE NAMES node nodejs)
find_program(BJ_NPM npm)
file(GLOB page_sources CONFIGURE_DEPENDS web/*.js web/*.mjs web/*.css web/*.html web/*.json web/parts/*.js web/sections/*.js)

if(EXISTS ${page_dist}/head.html AND EXISTS ${page_dist}/tail.html)
  set(page_parts ${page_dist}/head.html ${page_dist}/tail.html)
  set(BJ_HAVE_PAGE ON)
elseif(BJ_PAGE AND BJ_NODE AND BJ_NPM)
  set(page_parts ${page_folder}/head.html ${page_folder}/tail.html)
  set(BJ_HAVE_PAGE ON)
  add_custom_command(OUTPUT ${page_parts}
    COMMAND ${CMAKE_COMMAND} -D NODE=${BJ_NODE} -D NPM=${BJ_NPM} -D SOURCE=${PROJECT_SOURCE_DIR}/web -D OUTPUT=${page_folder}
      -P ${PROJECT_SOURCE_DIR}/cmake/bundle_page.cmake
    DEPENDS ${page_sources} ${PROJECT_SOURCE_DIR}/cmake/bundle_page.cmake
    COMMENT "Bundling the report page" VERBATIM)
else()
  if(BJ_PAGE)
    message(STATUS "node or npm not found: the report page is left out")
  else()
    message(STATUS "BJ_PAGE is off: the report page is left out")
  endif()
  set(page_parts)
  set(BJ_HAVE_PAGE OFF)
endif()

add_custom_command(OUTPUT ${page_folder}/page_shell.c
  COMMAND ${CMAKE_COMMAND} "-DPARTS=${page_parts}" -D OUTPUT=${page_folder}/page_shell.c
    -P ${PROJECT_SOURCE_DIR}/cmake/embed_page.cmake
  DEPENDS ${page_parts} ${PROJECT_SOURCE_DIR}/cmake/embed_page.cmake
  COMMENT "Embedding the report page" VERBATIM)
add_custom_target(page DEPENDS ${page_folder}/page_shell.c)
add_dependencies(bj_cli page)
target_sources(bj_cli PRIVATE ${page_folder}/page_shell.c)

# Notices of what is bundled; each page holds them as well.
if(BJ_HAVE_PAGE)
  list(GET page_parts 0 page_head)
  get_filename_component(page_made ${page_head} DIRECTORY)
  install(FILES ${page_made}/NOTICES.txt DESTINATION ${CMAKE_INSTALL_DOCDIR} OPTIONAL)
endif()
