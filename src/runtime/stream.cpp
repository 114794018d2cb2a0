#include "runtime/stream.h"

#include <chrono>
#include <unordered_map>

#include "runtime/progress.h"
#include "runtime/runtime.h"

namespace tutti::runtime {

uint64_t Stream::issue(uint64_t places) {
  const std::lock_guard lock(mutex_);
  return std::exchange(issued_, issued_ + places);
}

void Stream::issue_wait(std::shared_ptr<Stream> other, uint64_t ticket) {
  const std::lock_guard lock(mutex_);
  // An event of this same stream is before the entry anyway.
  if (other.get() == this) return;
  waits_.push_back({issued_++, std::move(other), ticket});
}

// The lock order is "waiting stream, then the stream waited for"; a circle of events cannot arise, because an event
// names only what was issued before it was recorded. Still only a peek is taken, so that two streams never hold each
// other's lock.
void Stream::settle_waits() {
  while (!waits_.empty() && waits_.front().ticket == ended_) {
    const Wait& wait = waits_.front();
    {
      const std::unique_lock other(wait.other->mutex_, std::try_to_lock);
      if (!other.owns_lock() || wait.other->ended_ < wait.until) return;
    }
    waits_.pop_front();
    ++ended_;
    changed_.notify_all();
  }
}

bool Stream::reached(uint64_t ticket) {
  std::shared_ptr<Stream> blocker;
  {
    const std::lock_guard lock(mutex_);
    settle_waits();
    if (ended_ >= ticket) return true;
    if (!waits_.empty() && waits_.front().ticket == ended_) blocker = waits_.front().other;
  }
  // A stream that consists of waits only moves when somebody looks at it.
  if (blocker != nullptr) blocker->reached(~uint64_t{0});
  return false;
}

void Stream::complete(const Status& status) {
  const std::lock_guard lock(mutex_);
  if (!status.ok() && error_.ok()) error_ = status;
  ++ended_;
  settle_waits();
  changed_.notify_all();
}

uint64_t Stream::issued() {
  const std::lock_guard lock(mutex_);
  return issued_;
}

Status Stream::take_error() {
  const std::lock_guard lock(mutex_);
  return std::exchange(error_, Status());
}

void Stream::wait_a_while() {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, std::chrono::microseconds(200));
}

namespace {

template <class T>
class HandleTable {
 public:
  std::mutex mutex;

  void* add(std::shared_ptr<T> object) {
    const std::lock_guard lock(mutex);
    void* handle = object.get();
    objects_.emplace(handle, std::move(object));
    return handle;
  }
  std::shared_ptr<T> find(const void* handle) {
    const std::lock_guard lock(mutex);
    const auto it = objects_.find(const_cast<void*>(handle));
    return it == objects_.end() ? nullptr : it->second;
  }
  std::shared_ptr<T> remove(const void* handle) {
    const std::lock_guard lock(mutex);
    const auto it = objects_.find(const_cast<void*>(handle));
    if (it == objects_.end()) return nullptr;
    std::shared_ptr<T> object = std::move(it->second);
    objects_.erase(it);
    return object;
  }

 private:
  std::unordered_map<void*, std::shared_ptr<T>> objects_;
};

// Made at first use and never destroyed: streams may be used by threads that outlive main().
HandleTable<Stream>& streams() {
  static auto* table = new HandleTable<Stream>;
  return *table;
}
HandleTable<Event>& events() {
  static auto* table = new HandleTable<Event>;
  return *table;
}

Status no_stream(const void* handle) {
  return error(Code::kInvalidArgument, "stream {} is not one that tuttiStreamCreate made", handle);
}
Status no_event(const void* handle) {
  return error(Code::kInvalidArgument, "event {} is not one that tuttiEventCreate made", handle);
}

Status wait_for(Stream& stream, uint64_t ticket) {
  while (!stream.reached(ticket)) {
    if (!drive_all_communicators()) stream.wait_a_while();
  }
  return stream.take_error();
}

}  // namespace

std::shared_ptr<Stream> find_stream(const void* handle) {
  return streams().find(handle);
}
std::shared_ptr<Event> find_event(const void* handle) {
  return events().find(handle);
}

std::array<std::mutex*, 2> stream_table_mutexes() {
  return {&streams().mutex, &events().mutex};
}

bool stream_is_valid(const void* stream) {
  return stream == nullptr || find_stream(stream) != nullptr;
}

Result<void*> stream_create() {
  return streams().add(std::make_shared<Stream>());
}

Status stream_destroy(void* handle) {
  const std::shared_ptr<Stream> stream = streams().remove(handle);
  if (stream == nullptr) return no_stream(handle);
  return wait_for(*stream, stream->issued());
}

Status stream_synchronize(void* handle) {
  if (handle == nullptr) return {};  // what was issued on the null stream has ended when its call returned
  const std::shared_ptr<Stream> stream = find_stream(handle);
  if (stream == nullptr) return no_stream(handle);
  return wait_for(*stream, stream->issued());
}

Status stream_query(void* handle) {
  if (handle == nullptr) return {};
  const std::shared_ptr<Stream> stream = find_stream(handle);
  if (stream == nullptr) return no_stream(handle);
  if (!stream->reached(stream->issued())) return Status(Code::kInProgress, "the stream has unfinished operations");
  return stream->take_error();
}

Result<void*> event_create() {
  return events().add(std::make_shared<Event>());
}

Status event_destroy(void* handle) {
  return events().remove(handle) == nullptr ? no_event(handle) : Status();
}

Status event_record(void* handle, void* stream_handle) {
  const std::shared_ptr<Event> event = find_event(handle);
  if (event == nullptr) return no_event(handle);
  std::shared_ptr<Stream> stream;
  if (stream_handle != nullptr) {
    stream = find_stream(stream_handle);
    if (stream == nullptr) return no_stream(stream_handle);
  }
  const uint64_t ticket = stream == nullptr ? 0 : stream->issued();
  const std::lock_guard lock(event->mutex);
  event->stream = std::move(stream);
  event->ticket = ticket;
  return {};
}

namespace {

struct Recorded {
  std::shared_ptr<Stream> stream;
  uint64_t ticket;
};
Recorded recorded(Event& event) {
  const std::lock_guard lock(event.mutex);
  return {event.stream, event.ticket};
}

}  // namespace

Status event_synchronize(void* handle) {
  const std::shared_ptr<Event> event = find_event(handle);
  if (event == nullptr) return no_event(handle);
  const Recorded at = recorded(*event);
  return at.stream == nullptr ? Status() : wait_for(*at.stream, at.ticket);
}

Status event_query(void* handle) {
  const std::shared_ptr<Event> event = find_event(handle);
  if (event == nullptr) return no_event(handle);
  const Recorded at = recorded(*event);
  if (at.stream == nullptr || at.stream->reached(at.ticket)) return {};
  return Status(Code::kInProgress, "the event has not happened yet");
}

Status stream_wait_event(void* stream_handle, void* event_handle) {
  const std::shared_ptr<Event> event = find_event(event_handle);
  if (event == nullptr) return no_event(event_handle);
  const Recorded at = recorded(*event);
  if (stream_handle == nullptr) return at.stream == nullptr ? Status() : wait_for(*at.stream, at.ticket);
  const std::shared_ptr<Stream> stream = find_stream(stream_handle);
  if (stream == nullptr) return no_stream(stream_handle);
  if (at.stream != nullptr) stream->issue_wait(at.stream, at.ticket);
  return {};
}

}  // namespace tutti::runtime
