# The core for browsers: what the preset `web` has in place of the system's libraries. Debian's emscripten, the libraries that
# are headers alone, and the headers of ICU, whose functions the browser answers (core/text/web/icu.cpp).
set(HEADLIGHT_TESTS OFF)
set(CMAKE_CXX_COMPILER_LAUNCHER "")

# /usr/include itself would hide the headers of emscripten's own library.
set(HEADLIGHT_WEB_HEADERS ${CMAKE_BINARY_DIR}/headers)
file(MAKE_DIRECTORY ${HEADLIGHT_WEB_HEADERS})
foreach(HEADERS nlohmann unicode)
  file(CREATE_LINK /usr/include/${HEADERS} ${HEADLIGHT_WEB_HEADERS}/${HEADERS} SYMBOLIC)
endforeach()
foreach(NAME Threads::Threads Eigen3::Eigen nlohmann_json::nlohmann_json ICU::uc ICU::i18n PkgConfig::LIBZIP PkgConfig::ZLIB
    PkgConfig::PICTURES)
  add_library(${NAME} INTERFACE IMPORTED)
endforeach()
target_include_directories(Eigen3::Eigen SYSTEM INTERFACE /usr/include/eigen3 ${HEADLIGHT_WEB_HEADERS})
# Names of ICU without the number of its version; what the standard library of this compiler lacks.
target_compile_options(Eigen3::Eigen INTERFACE -msimd128 -fwasm-exceptions -DU_DISABLE_RENAMING=1 -DU_SHOW_CPLUSPLUS_API=0
  -DEIGEN_DONT_VECTORIZE -Wno-error -Wno-everything -include ${CMAKE_SOURCE_DIR}/cmake/web_library.h)

# What needs a disk, an archive or another program; the folders web/ have the rest of it.
set(HEADLIGHT_NOT_IN_PAGES "base/(file|file_lock|input_lines)|array/(npz|torch_file|pickle|zip_directory)|write/npz|external/packed_planes|\
picture/(picture|png|jpeg|webp)_file|\
assets/assets|json/line_answers|models/(log_folder|open_model|model_sources)")
function(headlight_web_sources LIST)
  set(KEPT ${${LIST}})
  list(FILTER KEPT EXCLUDE REGEX "/[a-z]+/(${HEADLIGHT_NOT_IN_PAGES})[.]cpp$")
  set(${LIST} ${KEPT} PARENT_SCOPE)
endfunction()

# core.wasm and still.wasm, without a program of JavaScript beside it.
function(headlight_web_module ROOM)
  # `core` also asks a model that goes along; `still` has the numbers of a page alone.
  set(EXPORTS ${CMAKE_SOURCE_DIR}/tools/page/core/exports)
  add_executable(core ${EXPORTS}/exports.cpp ${EXPORTS}/scene.cpp ${EXPORTS}/ask.cpp)
  add_executable(still ${EXPORTS}/exports.cpp ${EXPORTS}/scene.cpp)
  foreach(NAME core still)
    target_link_libraries(${NAME} PRIVATE ${ROOM})
    set_target_properties(${NAME} PROPERTIES SUFFIX .wasm)
    target_link_options(${NAME} PRIVATE -Oz -fwasm-exceptions -msimd128 --no-entry -sSTANDALONE_WASM=1
      -sALLOW_MEMORY_GROWTH=1 -sERROR_ON_UNDEFINED_SYMBOLS=0)
  endforeach()
endfunction()
