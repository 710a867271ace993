# Read by cpack, once for each generator. Files in a package have one time, so that the same build gives the same bytes.
if(NOT DEFINED ENV{SOURCE_DATE_EPOCH})
  set(ENV{SOURCE_DATE_EPOCH} 1795305600) # the release of assets/desktop/headlight.metainfo.xml
endif()
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
if(CPACK_GENERATOR STREQUAL DEB)
  set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/debian_files.cmake)
endif()
