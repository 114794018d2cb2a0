// The shared library's own translation unit: CMake wants one; everything else comes from the folders.
namespace tutti {}
