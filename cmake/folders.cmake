# What nearly every source includes is parsed once, which is a third of the time of a build. Sources still include what
# they use: -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON builds them so.
set(FATHOM_COMMON_HEADERS
  <fmt/format.h> <algorithm> <array> <atomic> <bit> <chrono> <cmath> <cstdint> <cstring> <filesystem> <functional> <limits>
  <map> <memory> <mutex> <numeric> <optional> <set> <span> <string> <string_view> <unordered_map> <utility> <variant>
  <vector>)

# fathom_folder(NAME LINKS targets...): the sources of src/NAME and all folders below it as the library fathom_NAME.
function(fathom_folder name)
  cmake_parse_arguments(ARG "" "" "LINKS" ${ARGN})
  # What comes from outside is also what the shared library links.
  set(external ${ARG_LINKS})
  list(FILTER external EXCLUDE REGEX "^fathom_")
  set_property(GLOBAL APPEND PROPERTY FATHOM_EXTERNAL ${external})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${name}/*.cpp)
  if(sources)
    add_library(fathom_${name} STATIC ${sources})
    target_include_directories(fathom_${name} PUBLIC ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
    target_link_libraries(fathom_${name} PUBLIC ${ARG_LINKS})
    if(name STREQUAL base)
      target_precompile_headers(fathom_base PRIVATE ${FATHOM_COMMON_HEADERS})
    else()
      target_precompile_headers(fathom_${name} REUSE_FROM fathom_base)
    endif()
  else()
    add_library(fathom_${name} INTERFACE)
    target_link_libraries(fathom_${name} INTERFACE ${ARG_LINKS})
  endif()
endfunction()
