# What `cmake --install` and `cpack` make of a build: the program, its data, and what a desktop expects of a program.
#   cpack -G DEB   a Debian package for the system that it is built on (Debian 12, Ubuntu 24.04)
# packaging/linux/build.sh makes the archive and the wheel for other systems.
include(GNUInstallDirs)

# bin/headlight looks for ../share/headlight beside itself (asset_folder), wherever the prefix is.
install(TARGETS headlight RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY assets shaders DESTINATION ${CMAKE_INSTALL_DATADIR}/headlight
  PATTERN desktop EXCLUDE PATTERN readme EXCLUDE
  PATTERN "*.sh" PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
install(FILES assets/desktop/headlight.desktop DESTINATION ${CMAKE_INSTALL_DATADIR}/applications)
install(FILES assets/desktop/headlight.svg DESTINATION ${CMAKE_INSTALL_DATADIR}/icons/hicolor/scalable/apps)
install(FILES assets/desktop/headlight-mime.xml DESTINATION ${CMAKE_INSTALL_DATADIR}/mime/packages)
install(FILES assets/desktop/headlight.metainfo.xml DESTINATION ${CMAKE_INSTALL_DATADIR}/metainfo)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright)
install(FILES README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
# Dear ImGui, stb and what has headers alone are inside the program wherever it is built.
foreach(NAME libimgui-dev libstb-dev libeigen3-dev nlohmann-json3-dev libcli11-dev)
  install(FILES /usr/share/doc/${NAME}/copyright DESTINATION ${CMAKE_INSTALL_DOCDIR}/licences RENAME ${NAME}-copyright OPTIONAL)
endforeach()
if(EXISTS ${CMAKE_SOURCE_DIR}/python/headlight)
  install(DIRECTORY python/headlight DESTINATION lib/python3/dist-packages FILES_MATCHING PATTERN *.py PATTERN *.js PATTERN *.json PATTERN *.pyi PATTERN py.typed)
endif()

# The manual page and the completions say what --help says, because they are made of it when the program is installed.
install(CODE "
  execute_process(COMMAND ${CMAKE_COMMAND} -D PROGRAM=$<TARGET_FILE:headlight> -D VERSION=${PROJECT_VERSION}
    -D OUT=\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}
    -P ${CMAKE_SOURCE_DIR}/cmake/texts_of_help.cmake COMMAND_ERROR_IS_FATAL ANY)")

set(CPACK_PACKAGE_NAME headlight)
set(CPACK_PACKAGE_VENDOR Headlight)
set(CPACK_PACKAGE_CONTACT "The Headlight authors <headlight@headlight.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "attention of transformers as live heatmaps")
set(CPACK_PACKAGE_DESCRIPTION "Type a sentence and see every attention head of every layer as a heatmap.
Masks can be toggled and painted, heads switched off, checkpoints opened
from disk, small models trained while their heads are watched; every number
can be exported. Works offline.")
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_GENERATOR DEB)
set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_SOURCE_DIR}/cmake/package_options.cmake)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# Opened while the program runs, so no header names them: the drivers, X11's extensions, a font with Latin and Chinese.
# Debian asks for python3 beside a module; the program does not start it.
set(CPACK_DEBIAN_PACKAGE_DEPENDS
  "libegl1, libgl1, libgl1-mesa-dri, libxcursor1, libxi6, libxinerama1, libxrandr2, fonts-wqy-microhei, python3")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "python3-numpy")  # of the Python module, which apt installs by default
include(CPack)
