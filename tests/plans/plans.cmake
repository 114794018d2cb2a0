tutti_test(plans_proof SOURCES proof_test.cpp LINK tutti_algorithms LABELS plans TIMEOUT 300)
