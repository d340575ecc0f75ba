# libfathom: all levels and formats as one shared library, with its headers, for programs that link it.
set(parts base io defs trace profile experiment model formats tables findings report query api)
add_library(libfathom SHARED)
set_target_properties(libfathom PROPERTIES
  OUTPUT_NAME fathom VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR} EXPORT_NAME fathom
  LINKER_LANGUAGE CXX)
add_library(Fathom::fathom ALIAS libfathom)
foreach(part IN LISTS parts)
  get_target_property(type fathom_${part} TYPE)
  if(type STREQUAL "STATIC_LIBRARY")
    target_sources(libfathom PRIVATE $<TARGET_OBJECTS:fathom_${part}>)
  endif()
endforeach()
get_property(external GLOBAL PROPERTY FATHOM_EXTERNAL)
list(REMOVE_DUPLICATES external)
target_link_libraries(libfathom PRIVATE ${external})
target_compile_features(libfathom PUBLIC cxx_std_20)
target_include_directories(libfathom PUBLIC
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>)
# What is not named there is hidden, templates of third parties as well.
set(map ${PROJECT_SOURCE_DIR}/cmake/fathom.map)
target_link_options(libfathom PRIVATE LINKER:--version-script=${map} LINKER:--no-undefined)
set_property(TARGET libfathom APPEND PROPERTY LINK_DEPENDS ${map})

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
install(TARGETS fathom RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS libfathom EXPORT FathomTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/fathom DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT FathomTargets NAMESPACE Fathom:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Fathom
  FILE FathomConfig.cmake)
write_basic_package_version_file(FathomConfigVersion.cmake COMPATIBILITY SameMinorVersion)
# Relative, so that the package may be installed under another prefix or moved.
file(RELATIVE_PATH FATHOM_PC_TO_PREFIX /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
configure_file(${PROJECT_SOURCE_DIR}/cmake/fathom.pc.in fathom.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/FathomConfigVersion.cmake DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Fathom)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/fathom.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
