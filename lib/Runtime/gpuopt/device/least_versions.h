// The oldest versions of tools, libraries and GPUs that programs can be built
// and run with, and the latest major version where a later one is not known.
// test/versions.test compares them with the CMake files of programs. This file
// is C++17, as the compiler is.
#pragma once

namespace gpuopt {

struct LeastVersion {
  unsigned major = 0, minor = 0;
};

constexpr LeastVersion kLeastCmake{3, 22};
constexpr LeastVersion kLeastCuda{12, 4}; // cuBLASLt comes with it
// Later 9.x may run a program that was built with an earlier one.
constexpr LeastVersion kLeastCudnn{9, 0};
constexpr LeastVersion kLeastOneDnn{2, 6};
constexpr unsigned kLatestOneDnnMajor = 3;
// Asynchronous copies to shared memory and bfloat16 came with Ampere.
constexpr LeastVersion kLeastComputeCapability{8, 0};

} // namespace gpuopt
