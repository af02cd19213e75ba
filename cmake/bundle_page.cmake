# usage: cmake -D NODE= -D NPM= -D SOURCE=web -D OUTPUT=FOLDER -P bundle_page.cmake
# Writes head.html, tail.html and NOTICES.txt. What stands in the way (no network, say) leaves the page out, as empty
# files: everything else is worth building.
function(leave_out why)
  message(STATUS "the report page is left out: ${why}")
  message(STATUS "to try again: rm -r ${OUTPUT} and build")
  file(WRITE ${OUTPUT}/head.html "")
  file(WRITE ${OUTPUT}/tail.html "")
endfunction()

# npm writes its own copy of the lock file last; one that is older than ours is of other packages.
set(installed ${SOURCE}/node_modules/.package-lock.json)
if(NOT EXISTS ${installed} OR ${SOURCE}/package-lock.json IS_NEWER_THAN ${installed})
  execute_process(COMMAND ${NPM} ci --ignore-scripts --no-audit --no-fund --loglevel=error --fetch-retries=0
    --fetch-timeout=60000 WORKING_DIRECTORY ${SOURCE} RESULT_VARIABLE status OUTPUT_VARIABLE said ERROR_VARIABLE said
    TIMEOUT 300)
  if(NOT status EQUAL 0)
    string(REGEX MATCH "[^\n]*error[^\n]*" line "${said}")
    leave_out("npm could not install the packages of web/package.json (${line})")
    return()
  endif()
  file(TOUCH ${installed})
endif()
execute_process(COMMAND ${NODE} ${SOURCE}/build.mjs ${OUTPUT} RESULT_VARIABLE status ERROR_VARIABLE said)
if(NOT status EQUAL 0) # our own mistake, unlike the network's
  message(FATAL_ERROR "bundling the report page failed:\n${said}")
endif()
