# The viewer's page: built by vite from web/, packed with gzip and embedded in fathom_serve.
set(FATHOM_WEB_SOURCES ${CMAKE_CURRENT_BINARY_DIR}/web/assets.cpp)
find_program(FATHOM_NPM npm)
if(FATHOM_WEB AND NOT FATHOM_NPM)
  message(WARNING "npm was not found: fathom is built without the viewer's page (./dev installs it; -DFATHOM_WEB=OFF silences this)")
endif()
if(FATHOM_WEB AND FATHOM_NPM)
  set(web ${PROJECT_SOURCE_DIR}/web)
  set(work ${CMAKE_CURRENT_BINARY_DIR}/web)
  file(GLOB_RECURSE web_sources CONFIGURE_DEPENDS ${web}/src/*)
  list(APPEND web_sources ${web}/index.html ${web}/package.json ${web}/package-lock.json ${web}/tsconfig.json
       ${web}/vite.config.ts)
  # Packages go beside their lock file, where node looks for them; the stamp says for which one they were installed.
  add_custom_command(OUTPUT ${work}/packages.stamp
    COMMAND ${FATHOM_NPM} ci --silent --no-progress
    COMMAND ${CMAKE_COMMAND} -E touch ${work}/packages.stamp
    DEPENDS ${web}/package-lock.json WORKING_DIRECTORY ${web} COMMENT "Installing the viewer's packages" VERBATIM)
  add_custom_command(OUTPUT ${FATHOM_WEB_SOURCES}
    COMMAND ${FATHOM_NPM} run --silent build -- --outDir ${work}/dist --emptyOutDir --logLevel warn
    COMMAND ${CMAKE_COMMAND} -D DIST=${work}/dist -D OUT=${FATHOM_WEB_SOURCES}
            -P ${PROJECT_SOURCE_DIR}/cmake/embed_assets.cmake
    DEPENDS ${web_sources} ${work}/packages.stamp ${PROJECT_SOURCE_DIR}/cmake/embed_assets.cmake
    WORKING_DIRECTORY ${web} COMMENT "Building the viewer's page" VERBATIM)
else()
  file(WRITE ${FATHOM_WEB_SOURCES}.new
    "#include \"serve/assets.hpp\"\nnamespace fathom::serve {\nstd::span<const Asset> assets() { return {}; }\n}\n")
  file(COPY_FILE ${FATHOM_WEB_SOURCES}.new ${FATHOM_WEB_SOURCES} ONLY_IF_DIFFERENT)
endif()
target_sources(fathom_serve PRIVATE ${FATHOM_WEB_SOURCES})
