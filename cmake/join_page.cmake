# Joins the modules of tools/page/web into one script and puts it, the style and their hashes into the page's template.
#   cmake -D WEB=tools/page/web -D OUTPUT=page_template.cpp -P join_page.cmake
# A module is a JavaScript module with imports and exports; joined they are one, so their lines of import go, and what
# two modules called by the same name is an error in every browser (tests/page).
cmake_minimum_required(VERSION 3.25)

# The worker of a site is a file of its own.
file(READ ${WEB}/worker.js WORKER)

# In the order in which they are evaluated: nothing at the top of a module may use a later one.
set(MODULES unicode core data look elements paint state stage numbers changes atlas controls live api
  bridge lessons site main)

file(GLOB FOUND RELATIVE ${WEB} ${WEB}/*.js)
foreach(MODULE ${FOUND})
  string(REGEX REPLACE "\\.js$" "" NAME ${MODULE})
  if(NOT NAME IN_LIST MODULES AND NOT NAME STREQUAL worker)
    message(FATAL_ERROR "${WEB}/${MODULE} is not in the list of ${CMAKE_CURRENT_LIST_FILE}")
  endif()
endforeach()

set(SCRIPT "")
foreach(MODULE ${MODULES})
  file(READ ${WEB}/${MODULE}.js TEXT)
  set(TEXT "\n${TEXT}")
  string(REGEX REPLACE "\nimport [^;]*;" "" TEXT "${TEXT}")
  string(REGEX REPLACE "\nexport " "\n" TEXT "${TEXT}")
  string(APPEND SCRIPT "${TEXT}")
endforeach()
file(READ ${WEB}/page.css STYLE)
file(READ ${WEB}/page.html PAGE)

# A text's hash as a Content-Security-Policy names it (CSP level 3, section 2.3.1): SHA-256 in base64.
function(csp_hash TEXT RESULT)
  string(SHA256 HEX "${TEXT}")
  set(DIGITS ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/)
  set(BASE64 "")
  foreach(GROUP RANGE 0 10)
    math(EXPR FIRST "${GROUP} * 6")
    string(SUBSTRING ${HEX}0000 ${FIRST} 6 PART)
    foreach(SHIFT 18 12 6 0)
      math(EXPR DIGIT "(0x${PART} >> ${SHIFT}) & 63")
      string(SUBSTRING ${DIGITS} ${DIGIT} 1 CHARACTER)
      string(APPEND BASE64 ${CHARACTER})
    endforeach()
  endforeach()
  string(SUBSTRING ${BASE64} 0 43 BASE64)  # 32 bytes are 43 digits and a padding
  set(${RESULT} "sha256-${BASE64}=" PARENT_SCOPE)
endfunction()
csp_hash("${SCRIPT}" SCRIPT_HASH)
csp_hash("${STYLE}" STYLE_HASH)

foreach(NAME SCRIPT_HASH STYLE_HASH STYLE SCRIPT)
  string(REPLACE "@${NAME}@" "${${NAME}}" PAGE "${PAGE}")
endforeach()
string(FIND "${PAGE}" "@DATA@" DATA)
string(SUBSTRING "${PAGE}" 0 ${DATA} HEAD)
math(EXPR DATA "${DATA} + 6")
string(SUBSTRING "${PAGE}" ${DATA} -1 TAIL)

# As string literals of fewer than 65,536 characters, which every compiler takes, each ending at a line's end.
function(literals TEXT RESULT)
  set(LITERALS "")
  string(LENGTH "${TEXT}" REST)
  while(REST GREATER 0)
    set(COUNT ${REST})
    if(REST GREATER 30000)
      string(SUBSTRING "${TEXT}" 0 30000 PART)
      string(FIND "${PART}" "\n" COUNT REVERSE)
      math(EXPR COUNT "${COUNT} + 1")
    endif()
    string(SUBSTRING "${TEXT}" 0 ${COUNT} PART)
    string(SUBSTRING "${TEXT}" ${COUNT} -1 TEXT)
    string(LENGTH "${TEXT}" REST)
    string(APPEND LITERALS "    R\"~page~(${PART})~page~\",\n")
  endwhile()
  set(${RESULT} "${LITERALS}" PARENT_SCOPE)
endfunction()
literals("${HEAD}" HEAD_LITERALS)
literals("${TAIL}" TAIL_LITERALS)

file(WRITE ${OUTPUT} "// Made from ${WEB} by cmake/join_page.cmake.
#include \"page/page_template.h\"

namespace headlight {
namespace {

constexpr std::string_view kHead[] = {
${HEAD_LITERALS}};

constexpr std::string_view kTail[] = {
${TAIL_LITERALS}};

}  // namespace

std::span<const std::string_view> page_head() { return kHead; }
std::span<const std::string_view> page_tail() { return kTail; }
std::string_view page_worker() { return R\"~page~(${WORKER})~page~\"; }

}  // namespace headlight
")
