// ncclConfig_t as callers of any version hand it in.
#include <gtest/gtest.h>

#include <climits>
#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include "api/check.h"

namespace tutti::api {
namespace {

constexpr unsigned kMagic = 0xcafebeef;

Status parse(const ncclConfig_t& config, runtime::CommOptions* options = nullptr) {
  runtime::CommOptions ignored;
  return parse_config(&config, "Test", options != nullptr ? options : &ignored);
}

TEST(Config, NullIsTheDefault) {
  runtime::CommOptions options;
  options.blocking = false;
  options.name = "left over";
  ASSERT_TRUE(parse_config(nullptr, "Test", &options).ok());
  EXPECT_TRUE(options.blocking);
  EXPECT_EQ(options.name, "");
}

TEST(Config, TheInitializerIsTheDefault) {
  const ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  runtime::CommOptions options;
  ASSERT_TRUE(parse(config, &options).ok());
  EXPECT_TRUE(options.blocking);
  EXPECT_EQ(options.name, "");
}

TEST(Config, BlockingAndNameAreTaken) {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  const std::string name = "gradients";
  config.commName = name.c_str();
  runtime::CommOptions options;
  ASSERT_TRUE(parse(config, &options).ok());
  EXPECT_FALSE(options.blocking);
  EXPECT_EQ(options.name, "gradients");
}

TEST(Config, WrongMagicIsRefusedWithBothNumbers) {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.magic = 0x1234;
  const Status status = parse(config);
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_NE(status.text().find("0x1234"), std::string::npos) << status.text();
  EXPECT_NE(status.text().find("NCCL_CONFIG_INITIALIZER"), std::string::npos) << status.text();
}

TEST(Config, AllZeroIsRefused) {
  ncclConfig_t config;
  std::memset(&config, 0, sizeof config);
  EXPECT_EQ(parse(config).code(), Code::kInvalidArgument);
}

TEST(Config, ASizeBelowTheHeadIsRefused) {
  for (const size_t size : {size_t{0}, size_t{1}, offsetof(ncclConfig_t, blocking) - 1}) {
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.size = size;
    EXPECT_EQ(parse(config).code(), Code::kInvalidArgument) << size;
  }
}

// The struct of 2.14 ended after `blocking`. What lies behind it in memory is not the library's to read.
TEST(Config, AnOldCallersStructIsShort) {
  std::vector<char> memory(offsetof(ncclConfig_t, cgaClusterSize));
  const size_t size = memory.size();
  const unsigned version = NCCL_VERSION(2, 14, 3);
  const int blocking = 0;
  std::memcpy(memory.data() + offsetof(ncclConfig_t, size), &size, sizeof size);
  std::memcpy(memory.data() + offsetof(ncclConfig_t, magic), &kMagic, sizeof kMagic);
  std::memcpy(memory.data() + offsetof(ncclConfig_t, version), &version, sizeof version);
  std::memcpy(memory.data() + offsetof(ncclConfig_t, blocking), &blocking, sizeof blocking);
  runtime::CommOptions options;
  // At the end of a heap block, so that a sanitizer sees any byte read beyond it.
  ASSERT_TRUE(parse_config(reinterpret_cast<const ncclConfig_t*>(memory.data()), "Test", &options).ok());
  EXPECT_FALSE(options.blocking);
}

TEST(Config, ANewerCallersStructIsLong) {
  struct Newer {
    ncclConfig_t known = NCCL_CONFIG_INITIALIZER;
    int unknown[8] = {-1, -1, -1, -1, -1, -1, -1, -1};
  } newer;
  newer.known.size = sizeof newer;
  newer.known.version = NCCL_VERSION(2, 31, 0);
  newer.known.blocking = 0;
  runtime::CommOptions options;
  ASSERT_TRUE(parse(newer.known, &options).ok());
  EXPECT_FALSE(options.blocking);
}

// A program of version V may leave anything in the fields that came after V.
TEST(Config, FieldsNewerThanTheCallerAreReset) {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  const auto garbage = [](unsigned version) {
    ncclConfig_t c = NCCL_CONFIG_INITIALIZER;
    c.version = version;
    return c;
  };
  config = garbage(NCCL_VERSION(2, 13, 4));
  config.blocking = 77;
  EXPECT_TRUE(parse(config).ok());
  config.version = NCCL_VERSION(2, 14, 0);
  EXPECT_EQ(parse(config).code(), Code::kInvalidArgument);

  config = garbage(NCCL_VERSION(2, 16, 5));
  config.minCTAs = -5;
  config.cgaClusterSize = 99;
  EXPECT_TRUE(parse(config).ok());
  config.version = NCCL_VERSION(2, 17, 1);
  EXPECT_EQ(parse(config).code(), Code::kInvalidArgument);

  config = garbage(NCCL_VERSION(2, 17, 1));
  config.splitShare = 9;
  EXPECT_TRUE(parse(config).ok());
  config.version = NCCL_VERSION(2, 18, 1);
  EXPECT_EQ(parse(config).code(), Code::kInvalidArgument);

  config = garbage(NCCL_VERSION(2, 26, 5));
  // Never dereferenced: the caller's struct had no name.
  config.commName = reinterpret_cast<const char*>(uintptr_t{8});
  config.CTAPolicy = 9;
  config.nvlsCTAs = -2;
  runtime::CommOptions options;
  EXPECT_TRUE(parse(config, &options).ok());
  EXPECT_EQ(options.name, "");

  config = garbage(NCCL_VERSION(2, 27, 7));
  config.nChannelsPerNetPeer = 0;
  EXPECT_TRUE(parse(config).ok());
  config.version = NCCL_VERSION(2, 28, 3);
  EXPECT_EQ(parse(config).code(), Code::kInvalidArgument);
}

struct FieldCase {
  const char* name;
  int ncclConfig_t::*field;
  std::vector<int> good, bad;
};

TEST(Config, ValuesAreChecked) {
  const FieldCase cases[] = {
      {"blocking", &ncclConfig_t::blocking, {0, 1}, {-1, 2, INT_MAX}},
      {"cgaClusterSize", &ncclConfig_t::cgaClusterSize, {0, 1, 8}, {-1, 9}},
      {"minCTAs", &ncclConfig_t::minCTAs, {1, 64}, {0, -1}},
      {"maxCTAs", &ncclConfig_t::maxCTAs, {1, 64}, {0, -1}},
      {"splitShare", &ncclConfig_t::splitShare, {0, 1}, {-1, 2}},
      {"collnetEnable", &ncclConfig_t::collnetEnable, {0, 1}, {-1, 2}},
      {"CTAPolicy", &ncclConfig_t::CTAPolicy, {0, 1, 2}, {-1, 3}},
      {"shrinkShare", &ncclConfig_t::shrinkShare, {0, 1}, {-1, 2}},
      {"nvlsCTAs", &ncclConfig_t::nvlsCTAs, {1, 16}, {0, -1}},
      {"nChannelsPerNetPeer", &ncclConfig_t::nChannelsPerNetPeer, {1, 4}, {0, -1}},
      {"nvlinkCentricSched", &ncclConfig_t::nvlinkCentricSched, {0, 1}, {-1, 2}},
      {"trafficClass", &ncclConfig_t::trafficClass, {0, 105, -1}, {}},
  };
  for (const FieldCase& field : cases) {
    for (const int value : field.good) {
      ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
      config.*field.field = value;
      const Status status = parse(config);
      EXPECT_TRUE(status.ok()) << field.name << " = " << value << ": " << status.text();
    }
    for (const int value : field.bad) {
      ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
      config.*field.field = value;
      const Status status = parse(config);
      EXPECT_EQ(status.code(), Code::kInvalidArgument) << field.name << " = " << value;
      EXPECT_NE(status.text().find(field.name), std::string::npos) << status.text();
      EXPECT_NE(status.text().find(std::to_string(value)), std::string::npos) << status.text();
    }
  }
}

TEST(Config, MinMayNotBeMoreThanMax) {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.minCTAs = 4;
  config.maxCTAs = 4;
  EXPECT_TRUE(parse(config).ok());
  config.maxCTAs = 3;
  EXPECT_EQ(parse(config).code(), Code::kInvalidArgument);
}

TEST(Results, ATimeoutIsARemoteErrorForCallersThatDoNotKnowIt) {
  EXPECT_EQ(result_of(Code::kTimeout), ncclRemoteError);
  EXPECT_EQ(result_of(Code::kOk), ncclSuccess);
  EXPECT_EQ(result_of(Code::kInProgress), ncclInProgress);
  EXPECT_EQ(result_of(Code::kRemoteError), ncclRemoteError);
}

}  // namespace
}  // namespace tutti::api
