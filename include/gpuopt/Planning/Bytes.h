//===- Bytes.h - Amounts of memory as people write them ---------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_PLANNING_BYTES_H
#define GPUOPT_PLANNING_BYTES_H

#include "gpuopt/Planning/Result.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace gpuopt::planning {

/// The units of amounts of memory, for messages.
inline constexpr char kByteUnits[] =
    "B, KB, MB, GB, TB (powers of 1000) and KiB, MiB, GiB, TiB (of 1024)";

/// Parses an amount such as "8GiB", "1.5 GB", "512mib", "4096B" or "4096";
/// returns bytes, rounded down. The units are `kByteUnits` in upper or lower
/// case. Errors are a small b after a large letter, which may mean bits, and a
/// letter alone, as in "8G".
Result<int64_t> parseBytes(std::string_view text);

/// Returns text such as "611.3 MiB", as programs write amounts.
std::string formatBytes(int64_t bytes);

} // namespace gpuopt::planning

#endif // GPUOPT_PLANNING_BYTES_H
