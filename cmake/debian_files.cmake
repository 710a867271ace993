# Read by cpack once the files of a Debian package lie in their folder: what Debian has otherwise than `cmake --install`.
set(SHARE ${CPACK_TEMPORARY_DIRECTORY}/usr/share)
string(TIMESTAMP RELEASED "%a, %d %b %Y %H:%M:%S +0000" UTC) # SOURCE_DATE_EPOCH
file(WRITE ${SHARE}/doc/headlight/changelog "headlight (${CPACK_PACKAGE_VERSION}) unstable; urgency=medium

  * What is new is in /usr/share/doc/headlight/CHANGELOG.md.

 -- ${CPACK_PACKAGE_CONTACT}  ${RELEASED}
")
execute_process(COMMAND gzip -9n ${SHARE}/doc/headlight/changelog ${SHARE}/man/man1/headlight.1 COMMAND_ERROR_IS_FATAL ANY)
