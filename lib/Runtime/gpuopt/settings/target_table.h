// The targets that a program can be built for, each declared once. The driver,
// the build of programs and the documentation have their names from this table.
//
// This file is C++17, as the compiler is.
#pragma once

#include <string_view>

namespace gpuopt {

struct TargetInfo {
  std::string_view name; // the value of --target and of CMake's GPUOPT_TARGET
  // The program is CUDA C++ that is planned for a GPU, not for a processor.
  bool is_cuda;
  // The program runs on a GPU, not on a processor.
  bool runs_on_gpu;

  constexpr bool is_emulated() const { return is_cuda && !runs_on_gpu; }
};

inline constexpr TargetInfo kTargets[] = {
    {"host", /*is_cuda=*/false, /*runs_on_gpu=*/false},
    {"cuda", /*is_cuda=*/true, /*runs_on_gpu=*/true},
    // The threads of CUDA's kernels one by one on the processor.
    {"emulated", /*is_cuda=*/true, /*runs_on_gpu=*/false},
};

constexpr const TargetInfo *find_target(std::string_view name) {
  for (const TargetInfo &target : kTargets)
    if (target.name == name)
      return &target;
  return nullptr;
}

} // namespace gpuopt
