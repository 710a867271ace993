# Is a JSON export of one sentence what it should be?  cmake -D EXPORT=FILE -D TOKENS=N -P check_export.cmake
cmake_minimum_required(VERSION 3.25)
file(READ ${EXPORT} EXPORTED)

string(JSON SCHEMA ERROR_VARIABLE PROBLEM GET "${EXPORTED}" schema)
if(PROBLEM OR NOT SCHEMA STREQUAL "headlight.attention/1")
  message(FATAL_ERROR "export: schema: expected headlight.attention/1, found ${SCHEMA} ${PROBLEM}")
endif()

# A square map for every head: as many rows, and as many weights a row, as there are tokens.
string(JSON FOUND_TOKENS LENGTH "${EXPORTED}" tokens)
string(JSON ROWS LENGTH "${EXPORTED}" attention 0 attn 0 0)
string(JSON WEIGHTS LENGTH "${EXPORTED}" attention 0 attn 0 0 0)
foreach(FOUND ${FOUND_TOKENS} ${ROWS} ${WEIGHTS})
  if(NOT FOUND EQUAL TOKENS)
    message(FATAL_ERROR "export: expected ${TOKENS} tokens, rows and weights, "
      "found ${FOUND_TOKENS}, ${ROWS} and ${WEIGHTS}")
  endif()
endforeach()
message(STATUS "export: ${FOUND_TOKENS} tokens, ${ROWS}x${WEIGHTS} maps")
