// The rates that gpuopt calibrate measures, by their names in a device file,
// for the compiler and for the program that measures.
//
// This file is C++17, as the compiler is.
#pragma once

#include <string_view>

namespace gpuopt {

struct MeasuredRate {
  std::string_view name;
  // The times of a GPU's elementwise kernels do not rest on the rate of its
  // arithmetic (docs/device.schema.json).
  bool is_of_gpus = true;
};

inline constexpr MeasuredRate kMeasuredRates[] = {
    {"bytesPerSecond"},       {"vectorOperationsPerSecond", false},
    {"secondsPerLaunch"},     {"hostLinkBytesPerSecond"},
    {"f32ProductsPerSecond"}, {"tf32ProductsPerSecond"},
    {"f16ProductsPerSecond"}, {"bf16ProductsPerSecond"},
    {"f64ProductsPerSecond"},
};

} // namespace gpuopt
