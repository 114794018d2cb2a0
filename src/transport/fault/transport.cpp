#include "transport/fault/transport.h"

#include <sys/epoll.h>

#include <mutex>

#include "transport/end_table.h"
#include "transport/fault/connection.h"

namespace tutti::transport {
namespace fault {
namespace {

class Decorator final : public FaultTransport, private Poller::Handler {
 public:
  Decorator(std::unique_ptr<Transport> inner, const FaultOptions& options, std::unique_ptr<Engine> engine)
      : inner_(std::move(inner)), options_(options), engine_(std::move(engine)) {}
  Status watch() {
    const int descriptor = inner_->wait_descriptor();
    return descriptor < 0 ? Status() : engine_->poller().watch(descriptor, EPOLLIN, this);
  }

  std::string_view name() const override { return inner_->name(); }
  std::vector<std::byte> address() const override { return inner_->address(); }
  Status start(std::span<const Peer> peers, std::span<const std::vector<std::byte>> addresses) override {
    peers_.assign(peers.begin(), peers.end());
    senders_.resize(peers.size());
    return inner_->start(peers, addresses);
  }
  Status reaches(int peer) const override { return inner_->reaches(peer); }

  SendEnd* sender(int peer) override { return faulty(peer); }
  RecvEnd* receiver(int peer) override { return inner_->receiver(peer); }
  std::vector<int> receivers() const override { return inner_->receivers(); }

  bool progress() override;
  bool needs_progress() const override { return true; }
  bool carries() const override { return true; }
  bool drained() override;
  bool has_output() const override { return engine_->has_output() || inner_->has_output(); }
  int wait_descriptor() const override { return engine_->descriptor(); }

  bool failed() const override { return engine_->failures().any() || inner_->failed(); }
  std::vector<Failure> failures() const override;

  Result<Registration> register_memory(void* address, size_t bytes, MemoryKind kind) override {
    return inner_->register_memory(address, bytes, kind);
  }
  Status deregister_memory(const Registration& registration) override {
    return inner_->deregister_memory(registration);
  }

  void drop_after(int peer, uint64_t messages) override { faulty(peer)->drop_after(messages); }
  void cut_after(int peer, uint64_t messages) override { faulty(peer)->cut_after(messages); }
  void withhold(int peer, uint32_t flight, uint32_t lane) override {
    faulty(peer)->withhold(options_.shape.channel(flight, lane), true);
  }
  void resume(int peer, uint32_t flight, uint32_t lane) override {
    faulty(peer)->withhold(options_.shape.channel(flight, lane), false);
  }

 private:
  void on_ready(uint32_t) override {
    if (inner_->progress()) engine_->moved();
  }
  Sender* faulty(int peer);

  const std::unique_ptr<Transport> inner_;
  const FaultOptions options_;
  const std::unique_ptr<Engine> engine_;
  std::vector<Peer> peers_;
  std::mutex mutex_;  // making senders
  EndTable<Sender> senders_;
};

Sender* Decorator::faulty(int peer) {
  if (Sender* end = senders_.find(peer)) return end;
  if (!senders_.valid(peer)) return nullptr;
  std::lock_guard lock(mutex_);
  if (Sender* end = senders_.find(peer)) return end;
  SendEnd* inner = inner_->sender(peer);
  auto memory = RingMemory::anonymous(options_.shape);
  if (inner == nullptr || !memory.ok()) return nullptr;
  return senders_.publish(peer, std::make_unique<Sender>(*engine_, *inner, peers_[static_cast<size_t>(peer)], options_,
                                                         std::move(memory).value()));
}

bool Decorator::progress() {
  const bool inner_moved = inner_->progress();
  bool moved = engine_->progress();
  engine_->with_claim([&] {
    for (const int peer : senders_.ranks()) moved = senders_.find(peer)->move() || moved;
  });
  return inner_moved || moved;
}

bool Decorator::drained() {
  bool all = true;
  const bool looked = engine_->with_claim([&] {
    for (const int peer : senders_.ranks()) all = all && senders_.find(peer)->drained();
  });
  return looked && all && inner_->drained();
}

std::vector<Failure> Decorator::failures() const {
  std::vector<Failure> all = engine_->failures().list();
  for (const Failure& failure : inner_->failures())
    if (!engine_->failures().has(failure.peer)) all.push_back(failure);
  return all;
}

}  // namespace
}  // namespace fault

Result<std::unique_ptr<FaultTransport>> make_fault_transport(std::unique_ptr<Transport> inner,
                                                             const FaultOptions& options) {
  TUTTI_ASSIGN_OR_RETURN(auto engine, Engine::create(options.doorbell));
  auto decorator = std::make_unique<fault::Decorator>(std::move(inner), options, std::move(engine));
  TUTTI_RETURN_IF_ERROR(decorator->watch());
  return std::unique_ptr<FaultTransport>(std::move(decorator));
}

}  // namespace tutti::transport
