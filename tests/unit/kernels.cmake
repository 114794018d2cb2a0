tutti_test(kernels_arithmetic_test
  SOURCES kernels_arithmetic_test.cpp kernels_reference.cpp LINK tutti_kernels LABELS unit)
tutti_test(kernels_reduce_test
  SOURCES kernels_reduce_test.cpp kernels_reference.cpp LINK tutti_kernels LABELS unit)
tutti_test(kernels_copy_test
  SOURCES kernels_copy_test.cpp kernels_reference.cpp LINK tutti_kernels LABELS unit)
# libtutti must not need libhwy at run time.
add_test(NAME kernels_do_not_need_libhwy
  COMMAND sh -c "! '${CMAKE_NM}' -C -u '$<TARGET_FILE:tutti_kernels>' | grep 'hwy::'")
set_tests_properties(kernels_do_not_need_libhwy PROPERTIES LABELS unit)
tutti_test(kernels_cuda_test
  SOURCES kernels_cuda_test.cpp kernels_reference.cpp LINK tutti_kernels LABELS unit)
target_include_directories(kernels_cuda_test PRIVATE ${PROJECT_SOURCE_DIR}/tests)
