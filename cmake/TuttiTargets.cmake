# tutti_library(NAME SOURCES ... LINK ...): the static library of one folder, part of libtutti.
# tutti_test(NAME SOURCES ... LINK ... LABELS ... TIMEOUT s): a GoogleTest program, one ctest entry for each test in it.
add_library(tutti_compile_options INTERFACE)
target_compile_options(tutti_compile_options INTERFACE
  -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Wold-style-cast -Wcast-align -Woverloaded-virtual -Wconversion -Wno-sign-conversion
  $<$<BOOL:${TUTTI_WERROR}>:-Werror>)
if(TUTTI_SANITIZE)
  target_compile_definitions(tutti_compile_options INTERFACE TUTTI_SANITIZED)
  target_compile_options(tutti_compile_options INTERFACE -fsanitize=${TUTTI_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(tutti_compile_options INTERFACE -fsanitize=${TUTTI_SANITIZE})
endif()
# The doorbell's fence is for other processes, which no sanitizer sees; g++ warns that ThreadSanitizer does not know fences.
if(TUTTI_SANITIZE MATCHES thread AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  target_compile_options(tutti_compile_options INTERFACE -Wno-tsan)
endif()
if(TUTTI_COVERAGE)
  target_compile_options(tutti_compile_options INTERFACE --coverage)
  target_link_options(tutti_compile_options INTERFACE --coverage)
endif()

function(tutti_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINK" ${ARGN})
  add_library(${name} STATIC ${arg_SOURCES})
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(${name} PUBLIC ${arg_LINK} PRIVATE tutti_compile_options)
endfunction()

# The tests that CI also runs under the sanitizers: those with the label "sanitize".
add_custom_target(tutti_sanitize_tests)

function(tutti_test name)
  cmake_parse_arguments(arg "" "TIMEOUT" "SOURCES;LINK;LABELS" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LINK} tutti_compile_options GTest::gtest GTest::gtest_main)
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  if(sanitize IN_LIST arg_LABELS)
    add_dependencies(tutti_sanitize_tests ${name})
  endif()
  gtest_discover_tests(${name} TEST_PREFIX ${name}. TEST_LIST ${name}_tests DISCOVERY_TIMEOUT 60
    PROPERTIES TIMEOUT ${arg_TIMEOUT})
  # gtest_discover_tests cannot pass a list on; several labels need a file that runs after the discovery.
  set(labels_file ${CMAKE_CURRENT_BINARY_DIR}/${name}_labels.cmake)
  file(WRITE ${labels_file}
    "foreach(test IN LISTS ${name}_tests)\n  set_tests_properties(\"\${test}\" PROPERTIES LABELS \"${arg_LABELS}\")\nendforeach()\n")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${labels_file})
endfunction()
