//===- DeviceModel.cpp - What a device can do in a second -----------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Analysis/Costs/DeviceModel.h"

#include "gpuopt/Analysis/Costs/MeasuredCosts.h"
#include "gpuopt/Planning/JsonDepth.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include <cmath>

using namespace llvm;
using namespace gpuopt;

static constexpr double kGiga = 1e9, kTera = 1e12;
static constexpr int64_t kGiB = int64_t(1) << 30;
static constexpr double kMostWhole = 1e6;

static constexpr double kKiB = 1024, kMiB = 1024 * kKiB;

/// A desktop processor with two memory channels. Its copies take both channels
/// and run in turn with all other work. Its core has 8 lanes of AVX2.
static DeviceModel makeHost() {
  DeviceModel model{"host",      "host",      20 * kGiga,  30 * kGiga,
                    100 * kGiga, 200 * kGiga, 200 * kGiga, 150 * kGiga,
                    400 * kGiga, 2e-6,        0,           10 * kGiga,
                    false,       16};
  model.multiprocessor = {1, 1, 1, 32, 32 * kKiB, 32 * kKiB, 8, 4 * kGiga};
  model.memoryLatencyInSeconds = 90e-9;
  model.l2CacheInBytes = 32 * kMiB;
  model.f64InstructionShare = 0.5;
  return model;
}

/// Returns a multiprocessor of a GPU by what differs among GPUs. All have warps
/// of 32 threads and 65,536 registers, and CUDA takes 1 KiB of the shared
/// memory for each block (CUDA C++ Programming Guide, compute capabilities 8.0
/// to 9.0).
static Multiprocessor makeMultiprocessor(double threads, double blocks,
                                         double sharedBytes, double lanes,
                                         double clockInHertz) {
  return {32,    threads,     blocks,
          65536, sharedBytes, sharedBytes - 1 * kKiB,
          lanes, clockInHertz};
}

/// The module (SXM) of the Hopper generation; H100 and H200 differ only in
/// their memory. The multiprocessor is that of compute capability 9.0 in the
/// CUDA C++ Programming Guide. The clock is what remains under load of 1.98 GHz
/// at most. A load takes about 450 ns from idle memory, and half as long again
/// from busy memory. Products with mma.sync reach about 62 % of those with
/// wgmma (Shah et al., FlashAttention-3, 2024, section 1).
static DeviceModel makeHopper(const char *name, double bytesPerSecond,
                              int64_t memoryInBytes) {
  DeviceModel model{name,        "cuda",     bytesPerSecond, 33 * kTera,
                    47 * kTera,  47 * kTera, 346 * kTera,    692 * kTera,
                    692 * kTera, 2e-6,       memoryInBytes,  50 * kGiga,
                    true,        132};
  model.computeCapability = 9.0;
  model.multiprocessor =
      makeMultiprocessor(2048, 32, 228 * kKiB, 128, 1.755 * kGiga);
  model.memoryLatencyInSeconds = 700e-9;
  model.l2CacheInBytes = 50 * kMiB;
  model.f64InstructionShare = 0.5;
  model.ownProductShare = 0.62;
  return model;
}

/// The numbers are those of "NVIDIA A100 Tensor Core GPU Architecture" and of
/// compute capability 8.0.
static DeviceModel makeA100() {
  DeviceModel model{"a100",       "cuda",       1.3 * kTera, 9.7 * kTera,
                    13.6 * kTera, 13.6 * kTera, 109 * kTera, 218 * kTera,
                    218 * kTera,  2.5e-6,       40 * kGiB,   25 * kGiga,
                    true,         108};
  model.computeCapability = 8.0;
  model.multiprocessor =
      makeMultiprocessor(2048, 32, 164 * kKiB, 64, 1.41 * kGiga);
  model.memoryLatencyInSeconds = 600e-9;
  model.l2CacheInBytes = 40 * kMiB;
  model.f64InstructionShare = 0.5;
  return model;
}

/// The numbers are those of "NVIDIA Ada GPU Architecture" and of compute
/// capability 8.9. The memory is GDDR6X, which answers no sooner than that of
/// an A100 when it is busy.
static DeviceModel make4090() {
  DeviceModel model{"4090",      "cuda",     0.86 * kTera, 41 * kTera,
                    0.9 * kTera, 58 * kTera, 58 * kTera,   115 * kTera,
                    115 * kTera, 2.5e-6,     24 * kGiB,    25 * kGiga,
                    true,        128};
  model.computeCapability = 8.9;
  model.multiprocessor =
      makeMultiprocessor(1536, 24, 100 * kKiB, 128, 2.52 * kGiga);
  model.memoryLatencyInSeconds = 600e-9;
  model.l2CacheInBytes = 72 * kMiB;
  model.f64InstructionShare = 1. / 64;
  return model;
}

/// The rates of GPUs are those of their data sheets (dense), times the share
/// that large kernels usually reach: 0.85 of the bandwidth, 0.7 of the
/// products, and half of the vector rate, because memory-bound kernels mix
/// instructions. The links are PCIe 4.0 (a100, 4090) and 5.0 (h200, h100) with
/// 16 lanes, at 0.8 of their rates. The h100 is the SXM module with 80 GB of
/// HBM3.
ArrayRef<DeviceModel> gpuopt::builtinDeviceModels() {
  static const DeviceModel models[] = {
      makeHost(), makeHopper("h200", 4.1 * kTera, 141000000000),
      makeHopper("h100", 2.8 * kTera, 80000000000), makeA100(), make4090()};
  return models;
}

static Error wrong(const Twine &what) { return createStringError(what); }

namespace {
struct Member {
  StringRef name;
  double *value;
  bool mayBeZero = false, isWhole = false;
};
} // namespace

static std::vector<Member> membersOf(DeviceModel &model, double &memory) {
  Multiprocessor &each = model.multiprocessor;
  constexpr bool mayBeZero = true, isWhole = true;
  return {{"bytesPerSecond", &model.bytesPerSecond},
          {"vectorOperationsPerSecond", &model.vectorOperationsPerSecond},
          {"f64ProductsPerSecond", &model.f64ProductsPerSecond},
          {"f32ProductsPerSecond", &model.f32ProductsPerSecond},
          {"tf32ProductsPerSecond", &model.tf32ProductsPerSecond},
          {"f16ProductsPerSecond", &model.f16ProductsPerSecond},
          {"bf16ProductsPerSecond", &model.bf16ProductsPerSecond},
          {"secondsPerLaunch", &model.secondsPerLaunch, mayBeZero},
          {"memoryInBytes", &memory, mayBeZero},
          {"hostLinkBytesPerSecond", &model.hostLinkBytesPerSecond},
          {"multiprocessors", &model.multiprocessors, false, isWhole},
          {"computeCapability", &model.computeCapability, mayBeZero},
          {"warpSize", &each.warpSize, false, isWhole},
          {"threadsPerMultiprocessor", &each.threads, false, isWhole},
          {"blocksPerMultiprocessor", &each.blocks, false, isWhole},
          {"registersPerMultiprocessor", &each.registers, false, isWhole},
          {"sharedBytesPerMultiprocessor", &each.sharedBytes},
          {"sharedBytesPerBlock", &each.sharedBytesPerBlock},
          {"lanesPerMultiprocessor", &each.lanes},
          {"clockInHertz", &each.clockInHertz},
          {"memoryLatencyInSeconds", &model.memoryLatencyInSeconds},
          {"l2CacheInBytes", &model.l2CacheInBytes},
          {"f64InstructionShare", &model.f64InstructionShare},
          {"ownProductShare", &model.ownProductShare}};
}

/// Finds a device by its name, which is H200 as well as h200.
static const DeviceModel *builtin(StringRef name) {
  auto *found = find_if(builtinDeviceModels(), [&](const DeviceModel &model) {
    return name.equals_insensitive(model.name);
  });
  return found == builtinDeviceModels().end() ? nullptr : found;
}

const DeviceModel *gpuopt::findBuiltinGpu(StringRef nameOfItsOwn) {
  auto *found = find_if(builtinDeviceModels(), [&](const DeviceModel &model) {
    return model.target == "cuda" &&
           nameOfItsOwn.contains_insensitive(model.name);
  });
  return found == builtinDeviceModels().end() ? nullptr : found;
}

std::string gpuopt::builtinDeviceNames() {
  return join(map_range(builtinDeviceModels(),
                        [](const DeviceModel &model) { return model.name; }),
              ", ");
}

static std::string namesOf(ArrayRef<Member> members) {
  return join(
      map_range(members, [](const Member &member) { return member.name; }),
      ", ");
}

/// Reads the device from which the members are taken that a file leaves out.
static Error readBase(const json::Object &object, DeviceModel &model) {
  const json::Value *base = object.get("base");
  if (!base)
    return Error::success();
  const DeviceModel *known = builtin(base->getAsString().value_or(""));
  if (!known)
    return wrong("expects 'base' to be one of " + builtinDeviceNames());
  model = *known;
  return Error::success();
}

/// A file that names no base must have all members.
static Error checkComplete(const json::Object &object,
                           ArrayRef<Member> members) {
  if (object.get("base"))
    return Error::success();
  std::vector<Member> missing;
  copy_if(members, std::back_inserter(missing),
          [&](const Member &member) { return !object.get(member.name); });
  if (missing.empty())
    return Error::success();
  return wrong("has no " + namesOf(missing) +
               "; give these, or name a built-in device as 'base' to take "
               "them from: " +
               builtinDeviceNames());
}

static Error readCalibration(const json::Value &value, DeviceModel &model) {
  const json::Object *object = value.getAsObject();
  Calibration read;
  for (auto [key, text] : {std::pair("device", &read.device),
                           {"date", &read.date},
                           {"version", &read.version}}) {
    std::optional<StringRef> given = object ? object->getString(key) : "";
    if (!object || !given)
      return wrong("expects 'calibration' to be an object with the strings "
                   "'device', 'date' and 'version'");
    *text = given->str();
  }
  model.calibration = read;
  return Error::success();
}

/// Reads a member that is no number. Returns whether `name` is one.
static Expected<bool> readOther(StringRef name, const json::Value &value,
                                DeviceModel &model) {
  if (name == "name") {
    if (!value.getAsString())
      return wrong("expects a string for 'name'");
    model.name = value.getAsString()->str();
  } else if (name == "overlapsTransfers") {
    std::optional<bool> overlaps = value.getAsBoolean();
    if (!overlaps)
      return wrong("expects true or false for '" + name + "'");
    model.overlapsTransfers = *overlaps;
  } else if (name == "calibration") {
    if (Error error = readCalibration(value, model))
      return error;
  } else {
    return name == "base";
  }
  return true;
}

static Error readNumber(const Member &member, const json::Value &value) {
  std::optional<double> number = value.getAsNumber();
  if (!number || !(*number >= 0) || *number > 1e300 ||
      (*number == 0 && !member.mayBeZero))
    return wrong("expects a positive number for '" + member.name + "'");
  if (member.isWhole &&
      (*number != std::floor(*number) || *number > kMostWhole))
    return wrong("expects a whole number from 1 to 1000000 for '" +
                 member.name + "'");
  *member.value = *number;
  return Error::success();
}

/// Copies the members of `object` into `model`.
static Error readMembers(const json::Object &object, DeviceModel &model) {
  double memory = model.memoryInBytes;
  std::vector<Member> members = membersOf(model, memory);
  for (auto &[key, value] : object) {
    StringRef name = key;
    Expected<bool> isOther = readOther(name, value, model);
    if (!isOther)
      return isOther.takeError();
    if (*isOther)
      continue;
    auto member = find_if(
        members, [&](const Member &member) { return member.name == name; });
    if (member == members.end())
      return wrong("expects the members base, name, overlapsTransfers, "
                   "calibration, " +
                   namesOf(members) + ", but got '" + name + "'");
    if (Error error = readNumber(*member, value))
      return error;
  }
  model.memoryInBytes = memory < 9e18 ? (int64_t)memory : 0;
  return checkComplete(object, members);
}

json::Object gpuopt::toJson(const DeviceModel &model) {
  DeviceModel copy = model; // since members point into what can be set
  double memory = double(model.memoryInBytes);
  json::Object object{{"name", model.name},
                      {"overlapsTransfers", model.overlapsTransfers}};
  for (const Member &member : membersOf(copy, memory))
    object[member.name] = *member.value;
  if (copy.calibration)
    object["calibration"] =
        json::Object{{"device", copy.calibration->device},
                     {"date", copy.calibration->date},
                     {"version", copy.calibration->version}};
  return object;
}

Expected<DeviceModel> gpuopt::loadDeviceModel(StringRef nameOrFile) {
  if (const DeviceModel *model = builtin(nameOrFile))
    return *model;
  auto buffer = MemoryBuffer::getFile(nameOrFile);
  if (!buffer)
    return wrong("expects one of " + builtinDeviceNames() +
                 " or a JSON file, but got '" + nameOrFile +
                 "': " + buffer.getError().message());
  if (planning::nestsTooDeep((*buffer)->getBuffer()))
    return wrong("'" + nameOrFile + "': nests too deeply");
  Expected<json::Value> value = json::parse((*buffer)->getBuffer());
  if (!value)
    return wrong("'" + nameOrFile +
                 "': is not JSON: " + toString(value.takeError()));
  const json::Object *object = value->getAsObject();
  if (!object)
    return wrong("'" + nameOrFile + "': expects a JSON object");
  DeviceModel model;
  Error error = readBase(*object, model);
  model.name = nameOrFile.str();
  if (!error)
    error = readMembers(*object, model);
  if (error)
    return wrong("'" + nameOrFile + "': " + toString(std::move(error)));
  return model;
}

/// Checks that the costs were measured with the kind of products that this
/// program has. The keys of costs cannot tell, since the tensors of a product
/// have the same types in fp32 and TF32.
static Error checkProducts(const MeasuredCosts &measured, StringRef file,
                           bool allowsTf32) {
  if (measured.allowsTf32 == allowsTf32)
    return Error::success();
  auto name = [](bool isTf32) { return isTf32 ? "TF32" : "fp32"; };
  return createStringError("'" + file + "' was measured with products in " +
                           name(measured.allowsTf32) + ", but here they are " +
                           "in " + name(allowsTf32) + "; see --precision");
}

Expected<DeviceModel> gpuopt::loadDeviceModel(StringRef nameOrFile,
                                              StringRef profileCosts,
                                              bool allowsTf32) {
  Expected<DeviceModel> model = loadDeviceModel(nameOrFile);
  if (!model)
    return model;
  if (allowsTf32) {
    model->multipliesInTf32 = model->hasWarps();
    model->f32ProductsPerSecond = model->tf32ProductsPerSecond;
  }
  if (profileCosts.empty())
    return model;
  auto measured = MeasuredCosts::load(profileCosts);
  if (!measured)
    return measured.takeError();
  if (Error error = checkProducts(**measured, profileCosts, allowsTf32))
    return error;
  model->measured = *measured;
  return model;
}

mlir::FailureOr<DeviceModel> gpuopt::loadDeviceModel(mlir::Operation *op,
                                                     StringRef nameOrFile,
                                                     StringRef profileCosts,
                                                     bool allowsTf32) {
  Expected<DeviceModel> device = loadDeviceModel(nameOrFile);
  if (!device)
    return op->emitError("device: ") << toString(device.takeError());
  // What else is wrong is wrong in the file of costs, which the message names.
  Expected<DeviceModel> model =
      loadDeviceModel(nameOrFile, profileCosts, allowsTf32);
  if (!model)
    return op->emitError(toString(model.takeError()));
  return std::move(*model);
}
