tutti_test(nccl_config SOURCES nccl_config_test.cpp LINK tutti_api LABELS unit)
target_compile_definitions(nccl_config PRIVATE TUTTI_NO_CUDA_HEADERS)

# Through the shared library, as a client.
tutti_test(nccl_arguments SOURCES nccl_arguments_test.cpp LINK tutti LABELS unit)
target_compile_definitions(nccl_arguments PRIVATE TUTTI_NO_CUDA_HEADERS)
