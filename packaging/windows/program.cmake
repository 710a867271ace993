# The program for Windows, twice: headlight.com for consoles, which find it before headlight.exe and wait for it, and
# headlight.exe for the desktop, which opens no console beside its window.
enable_language(RC)
configure_file(${CMAKE_CURRENT_LIST_DIR}/headlight.rc.in ${CMAKE_BINARY_DIR}/headlight.rc @ONLY)
set_source_files_properties(${CMAKE_BINARY_DIR}/headlight.rc PROPERTIES OBJECT_DEPENDS
  "${CMAKE_CURRENT_LIST_DIR}/headlight.manifest;${CMAKE_CURRENT_LIST_DIR}/headlight.ico")
headlight_program(headlight ${CMAKE_BINARY_DIR}/headlight.rc)
set_target_properties(headlight PROPERTIES SUFFIX .com)
headlight_program(headlight_window ${CMAKE_BINARY_DIR}/headlight.rc)
set_target_properties(headlight_window PROPERTIES WIN32_EXECUTABLE ON OUTPUT_NAME headlight)
