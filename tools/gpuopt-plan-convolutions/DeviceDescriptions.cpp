//===- DeviceDescriptions.cpp - GPUs as cuDNN describes them --------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceDescriptions.h"

#include "gpuopt/Planning/JsonDepth.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;
using namespace gpuopt;

namespace {
/// The numbers that differ among the devices.
struct Figures {
  const char *name, *fullName;
  int64_t computeCapability; ///< 900 is 9.0.
  int64_t multiprocessors;
  int64_t sharedBytesPerBlock; ///< At most, for a kernel that asks for it.
  int64_t memoryBytes, l2CacheBytes;
  int64_t clockInKilohertz, memoryClockInKilohertz, busBits;
};
} // namespace

/// The modules (SXM) of the data sheets; shared memory is that of "CUDA C++
/// Programming Guide", compute capabilities 8.0 and 9.0. An A100 is the one
/// with 80 GB.
static constexpr Figures kDevices[] = {
    {"h200", "NVIDIA H200", 900, 132, 227 << 10, 150754820096, 60 << 20,
     1980000, 3201000, 6144},
    {"h100", "NVIDIA H100 80GB HBM3", 900, 132, 227 << 10, 84978434048,
     50 << 20, 1980000, 2619000, 5120},
    {"a100", "NVIDIA A100-SXM4-80GB", 800, 108, 163 << 10, 84987740160,
     40 << 20, 1410000, 1593000, 5120}};

/// The numbers that all of them have are in the same guide.
static std::string describe(const Figures &device) {
  json::Object text{
      {"deviceName", device.fullName},
      {"deviceVer", device.computeCapability},
      {"driverVer", 13000},
      {"cudaDeviceId", 0},
      {"pciDeviceId", 0},
      {"isTccDriver", 0},
      {"multiProcessorCount", device.multiprocessors},
      {"virtualSMCount", device.multiprocessors},
      {"warpSize", 32},
      {"maxGridSize", json::Array{2147483647, 65535, 65535}},
      {"maxBlockSize", json::Array{1024, 1024, 64}},
      {"maxThreadsPerBlock", 1024},
      {"maxThreadsPerSM", 2048},
      {"maxCtasPerSM", 32},
      {"regsPerBlock", 65536},
      {"maxRegistersPerSM", 65536},
      {"maxSharedMemoryPerBlock", 48 << 10},
      {"maxSharedMemoryPerBlockOptin", device.sharedBytesPerBlock},
      {"reservedSharedMemoryPerBlock", 1 << 10},
      {"oversizedSharedMemoryPerBlock", 0},
      {"supportCoopLaunch", 1},
      {"totalGlobalMem", device.memoryBytes},
      {"l2CacheSize", device.l2CacheBytes},
      {"smClockRateKHz", device.clockInKilohertz},
      {"memClockRateKHz", device.memoryClockInKilohertz},
      {"memoryBusWidth", device.busBits}};
  return formatv("{0}", json::Value(std::move(text))).str();
}

std::string gpuopt::describedDeviceNames() {
  return join(
      map_range(kDevices, [](const Figures &f) { return std::string(f.name); }),
      ", ");
}

Expected<std::string> gpuopt::describeDevice(StringRef device) {
  for (const Figures &known : kDevices)
    if (device == known.name)
      return describe(known);
  auto file = MemoryBuffer::getFile(device);
  if (!file)
    return createStringError("expects a device (" + describedDeviceNames() +
                             ") or a file with a description, but '" + device +
                             "' cannot be read: " + file.getError().message());
  StringRef text = (*file)->getBuffer();
  if (planning::nestsTooDeep(text))
    return createStringError("'" + device + "' nests too deeply");
  if (Expected<json::Value> value = json::parse(text); !value)
    return createStringError("'" + device +
                             "' is not JSON: " + toString(value.takeError()));
  return text.str();
}
