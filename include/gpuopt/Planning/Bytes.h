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

/// What amounts may be in, for people.
inline constexpr char kByteUnits[] =
    "B, KB, MB, GB, TB (powers of 1000) and KiB, MiB, GiB, TiB (of 1024)";

/// "8GiB", "1.5 GB", "512mib", "4096B" or "4096": bytes, rounded down. Units
/// are `kByteUnits`, in any case but for a small b after a large letter, which
/// may be bits; a letter alone, as in "8G", is an error as well.
Result<int64_t> parseBytes(std::string_view text);

/// "611.3 MiB": three to four digits, rounded up, and a binary unit; below
/// 10 KiB, all bytes.
std::string formatBytes(int64_t bytes);

} // namespace gpuopt::planning

#endif // GPUOPT_PLANNING_BYTES_H
