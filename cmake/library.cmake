# libheadlight: the rooms of core as a library that other programs link, static and shared, with its headers as
# <headlight/room/header.h>. docs/library.md describes it; tests/install builds programs with it.

# The public headers. Each header that one of these includes must be in the list, too: configuring fails otherwise.
set(HEADLIGHT_PUBLIC_HEADERS
  # results, matrices, progress
  base/error_code.h base/index.h base/mapped_file.h base/matrix.h base/names.h base/parallel.h base/progress.h
  base/result.h base/utf8.h
  # the question and its answer: models, tokens, masks, edits, request, trace
  model/config.h model/edits.h model/fingerprint.h model/head.h model/head_text.h model/mask.h model/picture.h
  model/request.h model/tokens.h model/trace.h model/weight_blocks.h model/weights.h
  # text to tokens
  text/characters.h text/normalized_text.h text/normalizer.h text/pattern.h text/pre_tokenizer.h text/subwords.h
  text/tokenizer.h text/likely_words.h
  # the forward pass, rows of patterns, the next word
  math/attention.h math/forward.h math/generate.h math/output.h math/patch.h
  # readers: checkpoints, tokenizers, tensors files, masks
  read/array/array.h read/array/quantization.h read/external/mask_file.h read/external/patterns.h
  read/external/tensors_file.h
  read/hub/adapter_choice.h read/hub/checkpoint.h read/hub/config_file.h read/tokenizer/tokenizer_file.h
  # every matrix of an answer, measures of heads, exports
  explain/matrices.h heads/head_measures.h heads/reduce.h write/arrays.h write/export.h)

foreach(HEADER ${HEADLIGHT_PUBLIC_HEADERS})
  file(STRINGS core/${HEADER} LINES REGEX "^#include \"")
  foreach(LINE IN LISTS LINES)
    string(REGEX REPLACE "^#include \"([^\"]+)\".*" "\\1" INCLUDED "${LINE}")
    if(NOT INCLUDED IN_LIST HEADLIGHT_PUBLIC_HEADERS)
      message(FATAL_ERROR "core/${HEADER} is public and includes ${INCLUDED}, which is not (cmake/library.cmake)")
    endif()
  endforeach()
endforeach()

# The archives of the rooms of core hold nothing of app and tools.
set(CORE_LIBRARIES "")
get_property(ROOMS GLOBAL PROPERTY ROOMS)
foreach(ROOM ${ROOMS})
  string(REGEX REPLACE "^(core|app|tools)/" "" NAME ${ROOM})
  string(REPLACE "/" "_" NAME ${NAME})
  get_property(LIBRARY GLOBAL PROPERTY LIBRARY_room_${NAME})
  if(ROOM MATCHES "^core/")
    list(APPEND CORE_LIBRARIES ${LIBRARY})
  elseif(LIBRARY IN_LIST CORE_LIBRARIES)
    message(FATAL_ERROR "${ROOM} is in ${LIBRARY}, a library of core")
  endif()
endforeach()
list(REMOVE_DUPLICATES CORE_LIBRARIES)
set(CORE_OBJECTS ${CORE_LIBRARIES})
list(TRANSFORM CORE_OBJECTS REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>")

# `headlight` is the name of the program's target. libheadlight.so has the C interface (below), so the shared library of
# core is libheadlight-cpp.so.
foreach(KIND static shared)
  string(TOUPPER ${KIND} UPPER)
  add_library(libheadlight_${KIND} ${UPPER} EXCLUDE_FROM_ALL ${CORE_OBJECTS})
  set_target_properties(libheadlight_${KIND} PROPERTIES OUTPUT_NAME headlight LINKER_LANGUAGE CXX
    EXPORT_NAME headlight_${KIND} VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
  target_compile_features(libheadlight_${KIND} PUBLIC cxx_std_20)
  target_include_directories(libheadlight_${KIND} INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(libheadlight_${KIND} PUBLIC Eigen3::Eigen nlohmann_json::nlohmann_json Threads::Threads
    PRIVATE ICU::uc ICU::i18n PkgConfig::LIBZIP PkgConfig::ZLIB PkgConfig::PICTURES)
endforeach()
set_target_properties(libheadlight_shared PROPERTIES EXPORT_NAME headlight OUTPUT_NAME headlight-cpp)
add_custom_target(library DEPENDS libheadlight_static libheadlight_shared)

# libheadlight.so: app/library/headlight.h for programs in C, and for Python. It has the rooms up to that one, and shows
# nothing of them but headlight_*.
if(HEADLIGHT_PROGRAM AND NOT HEADLIGHT_SANITIZE)
  get_property(ABOVE GLOBAL PROPERTY LIBRARY_room_question_json)
  get_property(INTERFACE GLOBAL PROPERTY LIBRARY_room_library)
  add_library(libheadlight_c SHARED app/shared.cpp ${CORE_OBJECTS} $<TARGET_OBJECTS:${ABOVE}>
    $<TARGET_OBJECTS:${INTERFACE}>)
  set_target_properties(libheadlight_c PROPERTIES OUTPUT_NAME headlight EXPORT_NAME c VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR} CXX_VISIBILITY_PRESET hidden)
  target_include_directories(libheadlight_c PRIVATE $<BUILD_INTERFACE:${CMAKE_BINARY_DIR}/rooms/tool>
    INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(libheadlight_c PRIVATE headlight_flags ICU::uc ICU::i18n PkgConfig::LIBZIP PkgConfig::ZLIB
    PkgConfig::PICTURES)
  if(APPLE)
    target_link_options(libheadlight_c PRIVATE LINKER:-exported_symbol,_headlight_*)
  else()
    target_link_options(libheadlight_c PRIVATE LINKER:--version-script=${CMAKE_SOURCE_DIR}/app/library/headlight.map
      LINKER:--gc-sections)
    set_target_properties(libheadlight_c PROPERTIES LINK_DEPENDS ${CMAKE_SOURCE_DIR}/app/library/headlight.map)
  endif()
  add_dependencies(library libheadlight_c)
  install(FILES app/library/headlight.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT library EXCLUDE_FROM_ALL)
  install(TARGETS libheadlight_c EXPORT headlightTargets COMPONENT library EXCLUDE_FROM_ALL
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  # Beside the program, for its Python module alone.
  install(TARGETS libheadlight_c LIBRARY DESTINATION lib/headlight NAMELINK_SKIP OPTIONAL)
endif()

# `cmake --install BUILD --component library`, after building the target `library`.
install(TARGETS libheadlight_static libheadlight_shared EXPORT headlightTargets COMPONENT library EXCLUDE_FROM_ALL
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT headlightTargets NAMESPACE headlight:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/headlight
  COMPONENT library EXCLUDE_FROM_ALL)
include(CMakePackageConfigHelpers)
file(CONFIGURE OUTPUT headlightConfig.cmake @ONLY CONTENT [[
# headlight::headlight is the shared library of core, headlight::headlight_static its archive, headlight::c the C interface.
include(CMakeFindDependencyMacro)
find_dependency(Threads)
find_dependency(Eigen3 3.4)
find_dependency(nlohmann_json)
find_dependency(ICU COMPONENTS uc i18n)
find_dependency(PkgConfig)
pkg_check_modules(LIBZIP REQUIRED IMPORTED_TARGET libzip)
pkg_check_modules(ZLIB REQUIRED IMPORTED_TARGET zlib)
pkg_check_modules(PICTURES REQUIRED IMPORTED_TARGET libpng libjpeg libwebp)
include(${CMAKE_CURRENT_LIST_DIR}/headlightTargets.cmake)
]])
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/headlightConfigVersion.cmake COMPATIBILITY SameMajorVersion)
file(RELATIVE_PATH TO_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
file(CONFIGURE OUTPUT headlight.pc @ONLY CONTENT [[
prefix=${pcfiledir}/@TO_PREFIX@
libdir=${pcfiledir}/..
includedir=${prefix}/@CMAKE_INSTALL_INCLUDEDIR@

Name: headlight
Description: attention of transformers: models, masks, edits, patterns, exports
Version: @PROJECT_VERSION@
Requires: eigen3 nlohmann_json
Requires.private: icu-uc icu-i18n libzip zlib libpng libjpeg libwebp
Libs: -L${libdir} -lheadlight-cpp
Libs.private: -pthread
Cflags: -I${includedir} -std=c++20
]])
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/headlightConfig.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/headlightConfigVersion.cmake DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/headlight
  COMPONENT library EXCLUDE_FROM_ALL)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/headlight.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
  COMPONENT library EXCLUDE_FROM_ALL)

if(TARGET libheadlight_c)
  file(CONFIGURE OUTPUT headlight-c.pc @ONLY CONTENT [[
prefix=${pcfiledir}/@TO_PREFIX@
libdir=${pcfiledir}/..
includedir=${prefix}/@CMAKE_INSTALL_INCLUDEDIR@

Name: headlight-c
Description: Headlight from C: models, questions, arrays, patches
Version: @PROJECT_VERSION@
Libs: -L${libdir} -lheadlight
Cflags: -I${includedir}
]])
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/headlight-c.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
    COMPONENT library EXCLUDE_FROM_ALL)
endif()

# Headers include each other as <headlight/room/header.h> once they are installed.
set(HEADLIGHT_INSTALLED_HEADERS ${CMAKE_BINARY_DIR}/installed_headers)
foreach(HEADER ${HEADLIGHT_PUBLIC_HEADERS})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS core/${HEADER})
  file(READ core/${HEADER} TEXT)
  string(REGEX REPLACE "#include \"([^\"]+)\"" "#include <headlight/\\1>" TEXT "${TEXT}")
  file(GENERATE OUTPUT ${HEADLIGHT_INSTALLED_HEADERS}/headlight/${HEADER} CONTENT "${TEXT}")
endforeach()
install(DIRECTORY ${HEADLIGHT_INSTALLED_HEADERS}/headlight DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT library
  EXCLUDE_FROM_ALL)
