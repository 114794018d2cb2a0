#include "transport/shm/place.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tutti::transport::shm {

Place this_place() {
  Place place;
  const int file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
  if (file >= 0) {
    char text[64];
    const ssize_t size = read(file, text, sizeof text);
    close(file);
    for (ssize_t i = 0; i < size; ++i)
      place.boot = (place.boot ^ static_cast<unsigned char>(text[i])) * 0x100'0000'01b3;
  }
  struct stat info {};
  if (stat("/proc/self/ns/net", &info) == 0) place.network_namespace = info.st_ino;
  return place;
}

}  // namespace tutti::transport::shm
