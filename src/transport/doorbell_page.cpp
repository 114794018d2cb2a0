#include "transport/doorbell_page.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <new>

namespace tutti::transport {
namespace {

constexpr size_t kPage = 4096;
constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

}  // namespace

Result<std::shared_ptr<DoorbellPage>> DoorbellPage::create(Sharing sharing) {
  int descriptor = -1;
  if (sharing == Sharing::kProcesses) {
    descriptor = memfd_create("tutti-doorbell", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (descriptor < 0) return system_error(errno, "memfd_create for a doorbell page");
    if (ftruncate(descriptor, kPage) != 0 || fcntl(descriptor, F_ADD_SEALS, kSeals) != 0) {
      const int cause = errno;
      close(descriptor);
      return system_error(cause, "sizing a doorbell page of {} bytes", kPage);
    }
  }
  const int flags = descriptor < 0 ? MAP_SHARED | MAP_ANONYMOUS : MAP_SHARED;
  void* page = mmap(nullptr, kPage, PROT_READ | PROT_WRITE, flags, descriptor, 0);
  if (page == MAP_FAILED) {
    const int cause = errno;
    if (descriptor >= 0) close(descriptor);
    return system_error(cause, "mmap of a doorbell page");
  }
  return std::shared_ptr<DoorbellPage>(new DoorbellPage(new (page) Doorbell, descriptor));
}

Result<std::shared_ptr<DoorbellPage>> DoorbellPage::adopt(int descriptor) {
  struct stat info {};
  const int seals = fcntl(descriptor, F_GET_SEALS);
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0 || fstat(descriptor, &info) != 0 ||
      info.st_size < static_cast<off_t>(kPage)) {
    close(descriptor);
    return error(Code::kRemoteError, "a peer passed a doorbell page that is not sealed or too small ({} bytes)",
                 info.st_size);
  }
  void* page = mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  const int cause = errno;
  close(descriptor);
  if (page == MAP_FAILED) return system_error(cause, "mmap of a peer's doorbell page");
  // The owner has constructed the Doorbell; these are its atomics.
  return std::shared_ptr<DoorbellPage>(new DoorbellPage(static_cast<Doorbell*>(page), -1));
}

DoorbellPage::~DoorbellPage() {
  munmap(doorbell_, kPage);
  if (descriptor_ >= 0) close(descriptor_);
}

}  // namespace tutti::transport
