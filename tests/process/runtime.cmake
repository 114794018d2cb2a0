# Ranks as real processes, through the public interface of the shared library.
add_library(tutti_test_ranks STATIC ranks.cpp)
target_link_libraries(tutti_test_ranks PUBLIC tutti PRIVATE tutti_compile_options)
target_compile_definitions(tutti_test_ranks PUBLIC TUTTI_NO_CUDA_HEADERS)
tutti_test(failure_test SOURCES failure_test.cpp LINK tutti_test_ranks tutti LABELS process sanitize TIMEOUT 120)
