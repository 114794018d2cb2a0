# The perf programs' parts that work without the library.
if(TUTTI_BUILD_PERF)
  tutti_test(perf_verify_test SOURCES perf_verify_test.cpp perf_real_test.cpp perf_numbers_test.cpp
    LINK tutti_perf_check LABELS unit)
  tutti_test(perf_report_test SOURCES perf_args_test.cpp perf_format_test.cpp perf_report_test.cpp
    LINK tutti_perf_check LABELS unit)
  tutti_test(perf_launch_test SOURCES perf_launch_test.cpp LINK tutti_perf_check LABELS unit TIMEOUT 60)
  find_package(Python3 COMPONENTS Interpreter)
  if(Python3_FOUND)
    add_test(NAME perf_compare_table COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/perf_compare_test.py
      ${PROJECT_SOURCE_DIR}/perf/compare)
    set_tests_properties(perf_compare_table PROPERTIES LABELS unit TIMEOUT 60)
  endif()
endif()
