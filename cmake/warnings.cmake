add_compile_options(-Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # gcc 12 sees dangling and uninitialised things inside std::variant, and impossible sizes of std::string, that are not
  # there.
  add_compile_options(-Wno-maybe-uninitialized -Wno-restrict
                      -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread)
endif()
if(FATHOM_SANITIZE)
  add_compile_options(-fsanitize=${FATHOM_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${FATHOM_SANITIZE})
endif()
