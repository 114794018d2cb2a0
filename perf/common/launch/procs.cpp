// --procs N. The parent never touches the library: it forks before anything else, then only passes texts on.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>

#include "common/exit.h"
#include "common/launch/frame.h"
#include "common/world.h"

namespace tutti::perf {

namespace {

using Clock = std::chrono::steady_clock;

class ChildWorld : public World {
 public:
  ChildWorld(int rank, int size, int fd) : rank_(rank), size_(size), fd_(fd) {}
  ~ChildWorld() override { close(fd_); }
  int rank() const override { return rank_; }
  int size() const override { return size_; }

  std::vector<std::string> all_gather(const std::string& mine) override {
    std::string all;
    if (!send_frame(fd_, mine) || !receive_frame(fd_, &all))
      fail(kExitInternalError, "rank %d: the starting process ended the run", rank_);
    return unpack(all);
  }

 private:
  int rank_;
  int size_;
  int fd_;
};

struct Child {
  pid_t pid = -1;
  int fd = -1;  // -1: closed
  bool ended = false;
  bool waiting = false;  // has sent its text for the current round
  std::string text;
};

std::string how_it_ended(int status) {
  char text[128];
  if (WIFSIGNALED(status)) {
    std::snprintf(text, sizeof text, "was killed by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
  } else {
    std::snprintf(text, sizeof text, "ended with exit code %d", WEXITSTATUS(status));
  }
  return text;
}

class Parent {
 public:
  explicit Parent(std::vector<Child> children) : children_(std::move(children)) {}

  int run() {
    while (std::any_of(children_.begin(), children_.end(), [](const Child& child) { return !child.ended; })) {
      poll_children();
      reap();
      if (code_ != 0) hurry();
    }
    return code_;
  }

 private:
  void poll_children() {
    std::vector<pollfd> polled;
    std::vector<Child*> owners;
    for (Child& child : children_) {
      if (child.fd < 0 || child.waiting) continue;
      polled.push_back({child.fd, POLLIN, 0});
      owners.push_back(&child);
    }
    // Children that have closed their socket, or wait for one that is killed, are found by waitpid at the latest then.
    poll(polled.data(), polled.size(), polled.empty() || code_ != 0 ? 10 : 100);
    for (size_t i = 0; i < polled.size(); ++i)
      if (polled[i].revents != 0) receive(*owners[i]);
    const bool complete = std::all_of(children_.begin(), children_.end(), [](const Child& c) { return c.waiting; });
    if (complete) answer();
  }

  void receive(Child& child) {
    if (receive_frame(child.fd, &child.text)) {
      child.waiting = true;
    } else {
      close(child.fd);
      child.fd = -1;
    }
  }

  void answer() {
    std::vector<std::string> texts;
    for (Child& child : children_) texts.push_back(std::move(child.text));
    const std::string all = pack(texts);
    for (Child& child : children_) {
      child.waiting = false;
      send_frame(child.fd, all);  // one that has just died is found by reap()
    }
  }

  void reap() {
    for (size_t rank = 0; rank < children_.size(); ++rank) {
      Child& child = children_[rank];
      int status = 0;
      if (child.ended || waitpid(child.pid, &status, WNOHANG) != child.pid) continue;
      child.ended = true;
      const int code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
      if (code == 0 || ending_) continue;
      // Wrong results are the run's result, which all ranks share and rank 0 has printed; nothing else to say.
      if (code != kExitWrongResults)
        std::fprintf(stderr, "rank %zu (pid %d) %s\n", rank, static_cast<int>(child.pid), how_it_ended(status).c_str());
      // A rank that was killed is the cause of what the others end with, whoever is found first.
      if (WIFSIGNALED(status) && code_ != 0 && code_ < 128) code_ = code;
      if (code_ == 0) {
        code_ = code;
        grace_ends_ = Clock::now() + std::chrono::seconds(2);
      }
    }
  }

  // After a failure: the others may say what they saw, but not stay.
  void hurry() {
    if (ending_ || Clock::now() < grace_ends_) return;
    ending_ = true;
    for (const Child& child : children_)
      if (!child.ended) kill(child.pid, SIGKILL);
  }

  std::vector<Child> children_;
  int code_ = 0;
  bool ending_ = false;
  Clock::time_point grace_ends_;
};

}  // namespace

int run_processes(int processes, const std::function<int(World&)>& body) {
  std::fflush(nullptr);
  const pid_t parent = getpid();
  std::vector<Child> children;
  for (int rank = 0; rank < processes; ++rank) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
      fail(kExitInternalError, "socketpair for rank %d: %s", rank, std::strerror(errno));
    const pid_t pid = fork();
    if (pid < 0) fail(kExitInternalError, "fork of rank %d: %s", rank, std::strerror(errno));
    if (pid == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (getppid() != parent) _exit(kExitInternalError);  // it died before the line above
      for (const Child& child : children) close(child.fd);
      close(ends[0]);
      int code = 0;
      {
        ChildWorld world(rank, processes, ends[1]);
        code = body(world);
      }
      std::fflush(nullptr);
      std::exit(code);
    }
    close(ends[1]);
    children.push_back({pid, ends[0], false, false, {}});
  }
  return Parent(std::move(children)).run();
}

}  // namespace tutti::perf
