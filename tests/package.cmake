# Installs the build into a folder of its own, builds examples/api against it, runs that on the example profile and trace.
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE err)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${ARGN}: ${status}\n${out}${err}")
  endif()
  set(out "${out}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${WORK})
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)
run(${CMAKE_COMMAND} -S ${EXAMPLES}/api -B ${WORK}/build -G Ninja -D CMAKE_PREFIX_PATH=${WORK}/prefix
    -D CMAKE_CXX_COMPILER=${COMPILER})
run(${CMAKE_COMMAND} --build ${WORK}/build)
run(${WORK}/build/hottest ${EXAMPLES}/stencil.cubex time)
# The stencil itself is what the example's cost model makes the most expensive.
if(NOT out MATCHES "apply_stencil")
  message(FATAL_ERROR "unexpected answer of the example program: ${out}")
endif()
# A program without CMake finds it, too.
find_program(PKG_CONFIG pkg-config)
if(PKG_CONFIG)
  file(GLOB_RECURSE pc ${WORK}/prefix/fathom.pc)
  cmake_path(GET pc PARENT_PATH pc_folder)
  run(${CMAKE_COMMAND} -E env PKG_CONFIG_PATH=${pc_folder} ${PKG_CONFIG} --cflags --libs fathom)
  separate_arguments(flags UNIX_COMMAND "${out}")
  run(${COMPILER} ${EXAMPLES}/api/dumpi_replay.cpp -o ${WORK}/dumpi_replay ${flags})
endif()
# Rank 3 sends three times 256 doubles to rank 0 and waits for two requests each time; see examples/make_ring.py.
run(${WORK}/build/dumpi_replay ${EXAMPLES}/ring/ring.meta)
if(NOT out MATCHES "\n3 23 [0-9.]+ [0-9.]+ 3 6144 0 6\n")
  message(FATAL_ERROR "unexpected answer of the example simulator: ${out}")
endif()
