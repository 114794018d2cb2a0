tutti_test(base_test SOURCES base_test.cpp LINK tutti_base GTest::gmock LABELS unit sanitize)
tutti_test(bootstrap_test SOURCES bootstrap_test.cpp LINK tutti_bootstrap GTest::gmock LABELS unit sanitize TIMEOUT 120)
