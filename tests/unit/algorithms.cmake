tutti_test(unit_algorithms
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/algorithms_test.cpp ${CMAKE_CURRENT_LIST_DIR}/select_test.cpp
  LINK tutti_algorithms GTest::gmock
  LABELS unit)
