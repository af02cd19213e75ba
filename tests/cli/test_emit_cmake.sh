#!/bin/sh
# CMake takes the file that emit writes, and has its values afterwards.
. "$(dirname "$0")/lib.sh"
profile=$here/emit_profile.json
has cmake || skip "no cmake"

expect 0 emit cmake "$profile" -o profile.cmake
cat >use.cmake <<'END'
include(profile.cmake)
if(NOT BLACKJACK_CACHE_L1_SIZE_BYTES EQUAL 32768 OR DEFINED BLACKJACK_X_WOBBLY)
  message(FATAL_ERROR "size")
endif()
file(WRITE text.txt "${BLACKJACK_X_TEXT}")
END
cmake -P use.cmake >out 2>err || complain "cmake does not take it"
printf '%s' '["it'\''s \"$HOME\"; `id` \\ ${X}", {"a;b": "*/"}]' | cmp -s - text.txt || complain "text in cmake"
finish
