#include "base/config.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "api/check.h"

namespace tutti::api {

namespace {

constexpr unsigned kMagic = 0xcafebeef;

// The first version whose header has the field; what a caller of an older one left behind it is not ours to read.
struct Field {
  size_t offset;
  unsigned since;
  bool pointer;
};
constexpr Field kFields[] = {
    {offsetof(ncclConfig_t, blocking), NCCL_VERSION(2, 14, 0), false},
    {offsetof(ncclConfig_t, cgaClusterSize), NCCL_VERSION(2, 17, 0), false},
    {offsetof(ncclConfig_t, minCTAs), NCCL_VERSION(2, 17, 0), false},
    {offsetof(ncclConfig_t, maxCTAs), NCCL_VERSION(2, 17, 0), false},
    {offsetof(ncclConfig_t, netName), NCCL_VERSION(2, 17, 0), true},
    {offsetof(ncclConfig_t, splitShare), NCCL_VERSION(2, 18, 0), false},
    {offsetof(ncclConfig_t, trafficClass), NCCL_VERSION(2, 26, 0), false},
    {offsetof(ncclConfig_t, commName), NCCL_VERSION(2, 27, 0), true},
    {offsetof(ncclConfig_t, collnetEnable), NCCL_VERSION(2, 27, 0), false},
    {offsetof(ncclConfig_t, CTAPolicy), NCCL_VERSION(2, 27, 0), false},
    {offsetof(ncclConfig_t, shrinkShare), NCCL_VERSION(2, 27, 0), false},
    {offsetof(ncclConfig_t, nvlsCTAs), NCCL_VERSION(2, 27, 0), false},
    {offsetof(ncclConfig_t, nChannelsPerNetPeer), NCCL_VERSION(2, 28, 0), false},
    {offsetof(ncclConfig_t, nvlinkCentricSched), NCCL_VERSION(2, 28, 0), false},
};

void reset_newer_fields(ncclConfig_t& config) {
  for (const Field& field : kFields) {
    if (config.version >= field.since) continue;
    char* at = reinterpret_cast<char*>(&config) + field.offset;
    const int undefined = NCCL_CONFIG_UNDEF_INT;
    const void* null = nullptr;
    std::memcpy(at, field.pointer ? static_cast<const void*>(&null) : &undefined,
                field.pointer ? sizeof null : sizeof undefined);
  }
}

Status check_range(const char* function, const char* field, int value, int low, int high) {
  if (value == NCCL_CONFIG_UNDEF_INT || (value >= low && value <= high)) return {};
  return error(Code::kInvalidArgument, "{} : config.{} = {}; accepted is {} to {}", function, field, value, low, high);
}

Status check_values(const ncclConfig_t& c, const char* function) {
  TUTTI_RETURN_IF_ERROR(check_range(function, "blocking", c.blocking, 0, 1));
  TUTTI_RETURN_IF_ERROR(check_range(function, "cgaClusterSize", c.cgaClusterSize, 0, 8));
  TUTTI_RETURN_IF_ERROR(check_range(function, "minCTAs", c.minCTAs, 1, INT_MAX));
  TUTTI_RETURN_IF_ERROR(check_range(function, "maxCTAs", c.maxCTAs, 1, INT_MAX));
  TUTTI_RETURN_IF_ERROR(check_range(function, "splitShare", c.splitShare, 0, 1));
  TUTTI_RETURN_IF_ERROR(check_range(function, "collnetEnable", c.collnetEnable, 0, 1));
  TUTTI_RETURN_IF_ERROR(check_range(function, "CTAPolicy", c.CTAPolicy, NCCL_CTA_POLICY_DEFAULT, NCCL_CTA_POLICY_ZERO));
  TUTTI_RETURN_IF_ERROR(check_range(function, "shrinkShare", c.shrinkShare, 0, 1));
  TUTTI_RETURN_IF_ERROR(check_range(function, "nvlsCTAs", c.nvlsCTAs, 1, INT_MAX));
  TUTTI_RETURN_IF_ERROR(check_range(function, "nChannelsPerNetPeer", c.nChannelsPerNetPeer, 1, INT_MAX));
  TUTTI_RETURN_IF_ERROR(check_range(function, "nvlinkCentricSched", c.nvlinkCentricSched, 0, 1));
  if (c.minCTAs != NCCL_CONFIG_UNDEF_INT && c.maxCTAs != NCCL_CONFIG_UNDEF_INT && c.minCTAs > c.maxCTAs)
    return error(Code::kInvalidArgument, "{} : config.minCTAs = {} is more than config.maxCTAs = {}", function,
                 c.minCTAs, c.maxCTAs);
  return {};
}

}  // namespace

Status parse_config(const ncclConfig_t* config, const char* function, runtime::CommOptions* out) {
  ncclConfig_t c = NCCL_CONFIG_INITIALIZER;
  if (config != nullptr) {
    size_t size = 0;
    unsigned magic = 0;
    std::memcpy(&size, &config->size, sizeof size);
    std::memcpy(&magic, &config->magic, sizeof magic);
    if (magic != kMagic)
      return error(Code::kInvalidArgument,
                   "{} : the config's magic is {:#x}, not {:#x}: it was not made with NCCL_CONFIG_INITIALIZER",
                   function, magic, kMagic);
    if (size < offsetof(ncclConfig_t, blocking))
      return error(Code::kInvalidArgument, "{} : the config's size is {} bytes, less than its head", function, size);
    std::memcpy(&c, config, std::min(size, sizeof c));
    reset_newer_fields(c);
    TUTTI_RETURN_IF_ERROR(check_values(c, function));
  }
  out->blocking = c.blocking == NCCL_CONFIG_UNDEF_INT || c.blocking != 0;
  if (process_config().ok() && process_config()->comm_blocking.has_value())
    out->blocking = *process_config()->comm_blocking != 0;
  out->name = c.commName == nullptr ? "" : c.commName;
  return {};
}

}  // namespace tutti::api
