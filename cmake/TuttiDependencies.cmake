# Every outside library, in one place. What libtutti.so needs at run time is limited (DESIGN section 4): fmt and Highway are
# used as headers only; libsodium is the only library beyond the compiler's and libc's.
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(fmt REQUIRED)  # fmt::fmt-header-only
pkg_check_modules(SODIUM REQUIRED IMPORTED_TARGET libsodium)
find_package(nlohmann_json REQUIRED)
find_path(HIGHWAY_INCLUDE_DIR hwy/highway.h REQUIRED)
if(TUTTI_BUILD_TESTS)
  find_package(GTest REQUIRED)
  include(GoogleTest)
endif()
