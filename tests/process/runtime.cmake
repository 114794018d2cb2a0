# Ranks as real processes, through the public interface of the shared library.
add_library(tutti_test_ranks STATIC ranks.cpp)
target_link_libraries(tutti_test_ranks PUBLIC tutti PRIVATE tutti_compile_options)
target_compile_definitions(tutti_test_ranks PUBLIC TUTTI_NO_CUDA_HEADERS)
tutti_test(lifetime_test SOURCES lifetime_test.cpp LINK tutti_test_ranks tutti LABELS process TIMEOUT 120)
tutti_test(failure_test SOURCES failure_test.cpp LINK tutti_test_ranks tutti LABELS process TIMEOUT 120)

# The library under all of its names. Not with sanitizers, whose runtime would have to come first.
if(NOT TUTTI_SANITIZE)
  find_program(TUTTI_BASH bash REQUIRED)
  add_test(NAME consumers COMMAND ${TUTTI_BASH} ${CMAKE_CURRENT_SOURCE_DIR}/consumers.sh ${CMAKE_CXX_COMPILER}
    ${PROJECT_SOURCE_DIR} ${CMAKE_LIBRARY_OUTPUT_DIRECTORY} ${CMAKE_CURRENT_BINARY_DIR}/consumers)
  add_test(NAME install COMMAND ${TUTTI_BASH} ${CMAKE_CURRENT_SOURCE_DIR}/install.sh ${CMAKE_COMMAND} ${CMAKE_BINARY_DIR}
    ${CMAKE_CXX_COMPILER} ${CMAKE_CURRENT_BINARY_DIR}/install)
  set_tests_properties(consumers install PROPERTIES LABELS process TIMEOUT 120)
endif()
