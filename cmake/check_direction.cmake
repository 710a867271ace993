# Is the direction of the includes a build error? For one room, with the include folders its sources are compiled with:
# a header of every room below it must be found, a header of every other room must not be.
#   cmake -D COMPILER=g++ -D SOURCE=DIR -D ROOM=core/text -D "BELOW=core/base;core/model" -D "ROOMS=…" -D "INCLUDES=…"
#         -P check_direction.cmake
cmake_minimum_required(VERSION 3.25)
foreach(FOLDER ${INCLUDES})
  list(APPEND FLAGS -I${FOLDER})
endforeach()

set(CHECKED 0)
foreach(OTHER ${ROOMS})
  string(REGEX MATCH "^(core|app)" HALF ${OTHER})
  file(GLOB HEADERS RELATIVE ${SOURCE}/${HALF} ${SOURCE}/${OTHER}/*.h)
  list(LENGTH HEADERS COUNT)
  # A room's own include root shows the rooms inside it, which are below it or its own.
  string(FIND "${OTHER}" "${ROOM}/" INSIDE)
  if(OTHER STREQUAL ROOM OR COUNT EQUAL 0 OR (INSIDE EQUAL 0 AND NOT OTHER IN_LIST BELOW))
    continue()
  endif()
  list(GET HEADERS 0 HEADER)
  # -M stops at a header that cannot be found, and costs no compilation.
  execute_process(COMMAND ${CMAKE_COMMAND} -E env LC_ALL=C ${COMPILER} -std=c++20 -M -x c++ ${FLAGS} -include ${HEADER}
    /dev/null OUTPUT_QUIET ERROR_VARIABLE SAID RESULT_VARIABLE STATUS)
  if(OTHER IN_LIST BELOW)
    if(NOT STATUS EQUAL 0)
      message(FATAL_ERROR "${ROOM} cannot include ${HEADER}, of a room below it: ${SAID}")
    endif()
  elseif(STATUS EQUAL 0)
    message(FATAL_ERROR "${ROOM} can include ${HEADER}, of a room that is not below it")
  elseif(NOT SAID MATCHES "${HEADER}: No such file or directory")
    message(FATAL_ERROR "${ROOM}: including ${HEADER} failed, but for another reason: ${SAID}")
  endif()
  math(EXPR CHECKED "${CHECKED} + 1")
endforeach()
if(CHECKED EQUAL 0)
  message(FATAL_ERROR "${ROOM}: no header of another room to try")
endif()

# A path of its own through the tree would step around the include roots.
file(GLOB FILES ${SOURCE}/${ROOM}/*.h ${SOURCE}/${ROOM}/*.cpp)
foreach(FILE ${FILES})
  file(STRINGS ${FILE} STRAY REGEX "^[ \t]*#[ \t]*include[ \t]*\"[./]")
  if(STRAY)
    message(FATAL_ERROR "${FILE}: ${STRAY}")
  endif()
endforeach()
message(STATUS "${ROOM}: ${CHECKED} other rooms tried")
