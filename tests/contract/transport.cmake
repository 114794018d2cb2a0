# One suite over every transport: in one process with threads, between processes, and with peers that misbehave.
tutti_test(transport_contract_test
  SOURCES transport/fabric.cpp transport/queue_test.cpp transport/thread_test.cpp transport/process_test.cpp
          transport/intruder_test.cpp transport/fault_test.cpp
  LINK tutti_transport LABELS contract sanitize TIMEOUT 120)
