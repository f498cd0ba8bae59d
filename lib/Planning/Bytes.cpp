//===- Bytes.cpp - Amounts of memory as people write them -----------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Planning/Bytes.h"
#include "gpuopt/device/bytes_text.h"

#include <cctype>
#include <charconv>

using namespace gpuopt::planning;

static std::string lowered(std::string_view text) {
  std::string result;
  for (unsigned char c : text)
    result += char(std::tolower(c));
  return result;
}

/// Returns the bytes of a unit in lower case, or 0 if it is unknown.
static double bytesOfUnit(const std::string &unit) {
  if (unit.empty() || unit == "b")
    return 1;
  double bytes = 1;
  bool isBinary = unit.size() == 3 && unit[1] == 'i';
  for (char prefix : {'k', 'm', 'g', 't'}) {
    bytes *= isBinary ? 1024 : 1000;
    if (unit[0] == prefix)
      return unit.substr(1) == (isBinary ? "ib" : "b") ? bytes : 0;
  }
  return 0;
}

/// Returns what an unclear amount may mean; empty if it is clear. Docker's 8G
/// are 8 GiB, and those of disks 8 GB; in networks 8Gb are bits.
static std::string meaningsOf(const std::string &number,
                              const std::string &unit) {
  std::string small = lowered(unit);
  if (unit.empty() || std::string("kmgt").find(small[0]) == std::string::npos)
    return "";
  std::string prefix(1, char(std::toupper(small[0])));
  if (unit.size() == 1)
    return number + prefix + "B or " + number + prefix + "iB";
  bool isPrefixLarge = unit[0] == prefix[0];
  bool isByte = small.substr(1) == "b" || small.substr(1) == "ib";
  return isByte && isPrefixLarge && unit.back() == 'b' ? "bits or bytes" : "";
}

Result<int64_t> gpuopt::planning::parseBytes(std::string_view text) {
  Error wrong{"expects bytes like '8GiB', '512MB' or '4096', but got '" +
              std::string(text) + "'"};
  double number = 0;
  const char *end = text.data() + text.size();
  auto [rest, code] =
      std::from_chars(text.data(), end, number, std::chars_format::fixed);
  if (code != std::errc() || !(number >= 0))
    return wrong;
  std::string digits(text.data(), rest);
  while (rest != end && *rest == ' ')
    ++rest;
  std::string unit(rest, end);
  if (std::string meanings = meaningsOf(digits, unit); !meanings.empty())
    return Error{"'" + std::string(text) + "' may mean " + meanings +
                 "; units are " + kByteUnits};
  double scale = bytesOfUnit(lowered(unit));
  if (scale == 0)
    return wrong;
  if (!(number * scale < 0x1p62))
    return Error{"expects less than 4194304TiB, but got '" + std::string(text) +
                 "'"};
  return int64_t(number * scale);
}

std::string gpuopt::planning::formatBytes(int64_t bytes) {
  return human_bytes(double(bytes));
}
