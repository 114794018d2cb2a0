// -T: ends the process when one piece of work takes longer than allowed.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace tutti::perf {

class Watchdog {
 public:
  explicit Watchdog(int seconds);  // 0: watches nothing and starts no thread
  ~Watchdog();
  // What is being done now; the time starts anew.
  void watch(const std::string& what);

 private:
  void run();

  const std::chrono::seconds allowed_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string what_ = "initialisation";
  std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace tutti::perf
