# Copies the libraries that an installed bin/headlight is linked with into lib/ beside bin/, and makes the program look
# there first. cpack runs it between the installation and the archive. Left to the system: glibc, which must fit the kernel and the loader; and the libraries of OpenGL, which
# belong to the driver.
set(ROOT ${CPACK_TEMPORARY_INSTALL_DIRECTORY})
file(GET_RUNTIME_DEPENDENCIES EXECUTABLES ${ROOT}/bin/headlight
  RESOLVED_DEPENDENCIES_VAR FOUND UNRESOLVED_DEPENDENCIES_VAR MISSING
  PRE_EXCLUDE_REGEXES "^ld-linux" "^lib(c|m|dl|rt|pthread|resolv|util)\\.so" "^lib(GL|EGL|GLX|OpenGL|GLdispatch)\\.so")
if(MISSING)
  message(FATAL_ERROR "libraries: expected all of them on this system, missing ${MISSING}")
endif()
file(INSTALL ${FOUND} DESTINATION ${ROOT}/lib FOLLOW_SYMLINK_CHAIN)
find_program(PATCHELF patchelf)
if(NOT PATCHELF)
  message(FATAL_ERROR "the archive needs patchelf (Debian: patchelf)")
endif()
execute_process(COMMAND ${PATCHELF} --set-rpath $ORIGIN/../lib ${ROOT}/bin/headlight COMMAND_ERROR_IS_FATAL ANY)
file(GLOB LIBRARIES ${ROOT}/lib/*.so*)
foreach(LIBRARY ${LIBRARIES})
  if(NOT IS_SYMLINK ${LIBRARY})
    execute_process(COMMAND ${PATCHELF} --set-rpath $ORIGIN ${LIBRARY} COMMAND_ERROR_IS_FATAL ANY)
  endif()
endforeach()
