tutti_test(plans_proof SOURCES ${CMAKE_CURRENT_LIST_DIR}/proof_test.cpp LINK tutti_algorithms LABELS plans TIMEOUT 300)
tutti_test(plans_wrong SOURCES ${CMAKE_CURRENT_LIST_DIR}/wrong_plans_test.cpp LINK tutti_algorithms GTest::gmock
  LABELS plans)
tutti_test(plans_numbers SOURCES ${CMAKE_CURRENT_LIST_DIR}/interpreter_test.cpp LINK tutti_algorithms LABELS plans
  TIMEOUT 300)
