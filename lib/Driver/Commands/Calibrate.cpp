//===- Calibrate.cpp - Measure the device of this machine -----------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rates are measured by a program on the runtime that trainers are built
// on: it is built here, as trainers are, and prints a line "NAME VALUE" for
// each (lib/Runtime/calibration).
//
//===----------------------------------------------------------------------===//

#include "Build/BuildCache.h"
#include "Files/DeviceFile.h"
#include "Files/JoinPath.h"
#include "Files/RuntimeFiles.h"
#include "Files/ScratchFolder.h"
#include "Flags/CudaDriver.h"
#include "gpuopt/Analysis/Costs/DeviceModel.h"
#include "gpuopt/Driver/Driver.h"
#include "gpuopt/Support/WriteFile.h"
#include "gpuopt/Version.h"
#include "gpuopt/settings/measured_rates.h"
#include "llvm/Support/Chrono.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace gpuopt;

namespace {
/// The text that the program has printed.
struct Measured {
  std::string device;
  json::Object rates;
  int64_t measurements = 0, disturbed = 0;

  /// Single disturbances do no harm: each rate is a median.
  bool isReliable() const {
    return measurements > 0 && 4 * disturbed <= measurements;
  }
};
} // namespace

/// Writes the program's sources into a folder and returns its executable, which
/// the cache keeps.
static Expected<std::string> buildMeasurer(const TargetInfo &target,
                                           StringRef folder, StringRef cache) {
  auto directory = OutputDirectory::create(folder);
  if (!directory)
    return directory.takeError();
  Error error = copyRuntime(target, *directory);
  if (!error)
    error = copyCalibration(*directory);
  if (!error)
    error = directory->commit();
  if (error)
    return std::move(error);
  return buildProgram(folder, target, cache,
                      {"calibrate", "the program that measures"});
}

/// Fails if a rate is missing that a complete measurement has.
static Error checkRates(const TargetInfo &target, const Measured &measured) {
  for (const MeasuredRate &rate : kMeasuredRates)
    if ((rate.is_of_gpus || !target.is_cuda) &&
        !measured.rates.get(StringRef(rate.name)))
      return createStringError("the program that measures did not print '" +
                               StringRef(rate.name) + "'");
  return Error::success();
}

static Error readLine(StringRef line, Measured &measured) {
  auto [name, value] = line.split(' ');
  double number = 0;
  if (name == "device")
    measured.device = value.str();
  else if (value.getAsDouble(number))
    return createStringError("the program that measures printed '" + line +
                             "', but 'NAME NUMBER' was expected");
  else if (name == "measurements")
    measured.measurements = int64_t(number);
  else if (name == "disturbed")
    measured.disturbed = int64_t(number);
  else
    measured.rates[name.str()] = number;
  return Error::success();
}

/// Runs the program. What it says of errors goes to the user.
static Expected<Measured> measure(StringRef executable, bool force,
                                  StringRef output) {
  std::string problem;
  SmallVector<StringRef> command = {executable};
  if (force)
    command.push_back("--force");
  int status = sys::ExecuteAndWait(
      executable, command, std::nullopt, {std::nullopt, output, std::nullopt},
      /*SecondsToWait=*/0, /*MemoryLimit=*/0, &problem);
  if (status < 0)
    return createStringError("the measurement was interrupted, so nothing was "
                             "written" +
                             (problem.empty() ? "" : ": " + problem));
  if (status > 0)
    return createStringError("the device cannot be measured");
  auto buffer = MemoryBuffer::getFile(output);
  if (!buffer)
    return createStringError("cannot read '" + output + "'");
  Measured measured;
  SmallVector<StringRef> lines;
  (*buffer)->getBuffer().split(lines, '\n', -1, /*KeepEmpty=*/false);
  for (StringRef line : lines)
    if (Error error = readLine(line, measured))
      return std::move(error);
  return measured;
}

/// Returns the built-in device that has what cannot be measured: that of the
/// same GPU or, of another one, that of the GPUs that are most alike.
static std::string baseOf(const TargetInfo &target, StringRef device) {
  if (!target.is_cuda)
    return "host";
  const DeviceModel *known = findBuiltinGpu(device);
  return known ? known->name : "a100";
}

static json::Object deviceOf(const TargetInfo &target, Measured measured) {
  std::string date = formatv("{0:%Y-%m-%d}", std::chrono::system_clock::now());
  json::Object object = std::move(measured.rates);
  object["base"] = baseOf(target, measured.device);
  object["name"] = measured.device + ", measured " + date;
  object["calibration"] = json::Object{
      {"device", measured.device}, {"date", date}, {"version", kVersion}};
  return object;
}

/// Says where the device went and how it differs from the one that is used
/// without it.
static void report(const DeviceModel &model, const DeviceModel &base,
                   StringRef file) {
  outs() << formatv("{0,-34}{1,14}{2,14}\n", model.name, "measured", base.name);
  auto print = [](StringRef what, double measured, double usual, double unit) {
    outs() << formatv("  {0,-32}{1,14:f1}{2,14:f1}\n", what, measured / unit,
                      usual / unit);
  };
  print("memory, GB/s", model.bytesPerSecond, base.bytesPerSecond, 1e9);
  if (!model.hasWarps())
    print("elementwise, Gop/s", model.vectorOperationsPerSecond,
          base.vectorOperationsPerSecond, 1e9);
  print("products in f32, Gop/s", model.f32ProductsPerSecond,
        base.f32ProductsPerSecond, 1e9);
  print("products in f16, Gop/s", model.f16ProductsPerSecond,
        base.f16ProductsPerSecond, 1e9);
  print("products in bf16, Gop/s", model.bf16ProductsPerSecond,
        base.bf16ProductsPerSecond, 1e9);
  print("launch, us", model.secondsPerLaunch, base.secondsPerLaunch, 1e-6);
  outs() << "wrote " << file << "\n";
}

/// Writes the file. A draft of it is read first, as --device will read the
/// file.
static Error writeDevice(const TargetInfo &target, Measured measured,
                         StringRef file, StringRef draft) {
  std::string base = baseOf(target, measured.device);
  json::Value device(deviceOf(target, std::move(measured)));
  std::string text = formatv("{0:2}\n", device).str();
  if (Error error = writeFile(draft, text))
    return error;
  Expected<DeviceModel> model = loadDeviceModel(draft);
  if (!model)
    return model.takeError();
  if (Error error = writeFile(file, text))
    return createStringError("cannot write '" + file +
                             "': " + toString(std::move(error)));
  report(*model, *loadDeviceModel(base), file);
  return Error::success();
}

static Expected<int> calibrate(const CalibrateOptions &options) {
  if (llvm::Error error = expectGpu(*options.target))
    return std::move(error);
  std::string cache = buildCacheFolder(".");
  if (std::error_code code = sys::fs::create_directories(cache))
    return createStringError("cannot create '" + cache +
                             "': " + code.message());
  // Several measurements may run at once: each has files of its own.
  Expected<ScratchFolder> scratch =
      ScratchFolder::create(joinPath(cache, "calibration"));
  if (!scratch)
    return scratch.takeError();
  Expected<std::string> executable =
      buildMeasurer(*options.target, scratch->pathOf("program"), cache);
  if (!executable)
    return executable.takeError();
  errs() << "gpuopt: measuring for some seconds; other programs would "
            "disturb\n";
  Expected<Measured> measured =
      measure(*executable, options.force, scratch->pathOf("measured.txt"));
  if (!measured)
    return measured.takeError();
  if (!measured->isReliable() && !options.force) {
    errs() << "gpuopt: error: something else kept the device busy during "
           << measured->disturbed << " of " << measured->measurements
           << " measurements, so nothing was written; run it again when "
              "the machine is quiet, or give --force\n";
    return 2;
  }
  if (Error error = checkRates(*options.target, *measured))
    return std::move(error);
  std::string file = options.file;
  if (file.empty())
    file = options.target->is_cuda
               ? calibratedFile(
                     cache, measured->device,
                     measured->rates.getInteger("multiprocessors").value_or(1))
               : calibratedProcessorFile(cache);
  if (Error error = writeDevice(*options.target, std::move(*measured), file,
                                scratch->pathOf("draft.json")))
    return std::move(error);
  return 0;
}

int gpuopt::calibrateDevice(const CalibrateOptions &options) {
  Expected<int> status = calibrate(options);
  if (status)
    return *status;
  errs() << "gpuopt: error: " << toString(status.takeError()) << "\n";
  return 1;
}
