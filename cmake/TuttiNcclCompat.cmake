# lib/nccl-compat/libnccl.so.2: Tutti under NCCL's file name and SONAME, in a directory of its own, so that nobody finds it
# who has not asked for it. For LD_PRELOAD, LD_LIBRARY_PATH, dlopen and -lnccl. It holds jumps only; the state is libtutti's,
# of which a process has one copy whatever names it was loaded by.
if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|amd64|AMD64|aarch64|arm64)$")
  message(WARNING "No libnccl.so.2 for ${CMAKE_SYSTEM_PROCESSOR}: its jumps are written for x86-64 and aarch64 only")
  return()
endif()
enable_language(ASM)

set(forward ${CMAKE_CURRENT_BINARY_DIR}/nccl_forward.S)
set(script ${PROJECT_SOURCE_DIR}/cmake/nccl_forward.cmake)
add_custom_command(OUTPUT ${forward}
  COMMAND ${CMAKE_COMMAND} -DNM=${CMAKE_NM} -DLIBRARY=$<TARGET_FILE:tutti> -DOUTPUT=${forward} -P ${script}
  DEPENDS tutti ${script} VERBATIM)

add_library(tutti_nccl SHARED ${forward})
add_library(Tutti::nccl ALIAS tutti_nccl)
target_link_libraries(tutti_nccl PRIVATE tutti)
target_include_directories(tutti_nccl INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_options(tutti_nccl PRIVATE LINKER:--no-undefined LINKER:-z,now)
set_target_properties(tutti_nccl PROPERTIES
  EXPORT_NAME nccl OUTPUT_NAME nccl VERSION 2.28.9 SOVERSION 2 LINKER_LANGUAGE C
  LIBRARY_OUTPUT_DIRECTORY ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/nccl-compat
  BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN/..")
