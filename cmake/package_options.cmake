# Read by cpack, once for each generator.
if(CPACK_GENERATOR STREQUAL "TGZ")
  set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/bundle_libraries.cmake)
  set(CPACK_SET_DESTDIR OFF)
else()
  set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
endif()
