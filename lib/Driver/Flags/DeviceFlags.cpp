//===- DeviceFlags.cpp - Whose times are estimated ------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Flags/DeviceFlags.h"

#include "Build/BuildCache.h"
#include "Files/DeviceFile.h"
#include "Flags/CompileFlags.h"
#include "Flags/CudaDriver.h"
#include "Flags/Notes.h"
#include "gpuopt/Analysis/Costs/DeviceModel.h"
#include "gpuopt/Analysis/Costs/MeasuredCosts.h"
#include "gpuopt/Version.h"
#include "gpuopt/device/list_text.h"
#include "gpuopt/device/processor_name.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace gpuopt;

/// The device whose rates are used for a GPU that nobody has named.
static constexpr const char *kDefaultGpu = "h200";

namespace {
CompileFlag<std::string> deviceName("device",
                                    builtinDeviceNames() + " or a JSON file");
CompileFlag<std::string> profileCosts("profile-costs");
} // namespace

std::optional<TargetChoice> gpuopt::targetOfDevice() {
  if (deviceName.empty())
    return std::nullopt;
  Expected<DeviceModel> model = loadDeviceModel(deviceName);
  if (!model) {
    consumeError(model.takeError());
    return std::nullopt;
  }
  if (model->hasWarps())
    return TargetChoice{"cuda", "--device=" + deviceName + " is a GPU"};
  return TargetChoice{"host", "--device=" + deviceName + " is a processor"};
}

/// Returns the target whose measured times hold for the program: an emulated
/// program is planned as on the GPU that it stands for.
static StringRef targetOfCosts(const TargetInfo &target) {
  return target.is_cuda ? "cuda" : "host";
}

/// Loads the file of --profile-costs, whose target must be that of the program;
/// returns null without the flag.
static Expected<std::shared_ptr<const MeasuredCosts>>
collectCosts(const TargetInfo &target, train::ScheduleOptions &options) {
  if (!profileCosts.getNumOccurrences())
    return nullptr;
  auto costs = MeasuredCosts::load(profileCosts);
  if (!costs)
    return createStringError("--profile-costs: " + toString(costs.takeError()));
  if ((*costs)->target != targetOfCosts(target))
    return createStringError("--profile-costs: '" + profileCosts +
                             "' was measured on " + (*costs)->target +
                             ", but the target is " + target.name +
                             "; give --target=" + (*costs)->target);
  options.profileCosts = profileCosts;
  return costs;
}

/// Fails if the numbers mean something else here than where they were measured.
static Error checkCalibration(const DeviceModel &model, StringRef file) {
  if (!model.calibration || model.calibration->version == kVersion)
    return Error::success();
  return createStringError(
      "'" + file + "' was measured by gpuopt " + model.calibration->version +
      ", but this is gpuopt " + kVersion +
      ", which may count work in another way; run gpuopt calibrate again, or "
      "remove 'calibration' from the file to take its numbers as they are");
}

/// Returns whether the command runs the program on this machine.
static bool runsHere() { return trainCommand() || predictCommand(); }

/// Fails if a program that runs here would have the times of another
/// processor.
static Error checkProcessor(const DeviceModel &model) {
  if (!runsHere() || model.hasWarps() || !model.calibration ||
      model.calibration->device == processor_name())
    return Error::success();
  return createStringError("'" + deviceName + "' was measured on '" +
                           model.calibration->device +
                           "', but this machine has '" + processor_name() +
                           "'; run gpuopt calibrate here, or give "
                           "--device=host");
}

/// Returns where gpuopt calibrate leaves what it measures of this machine's
/// processor or GPU; nothing if there is no GPU, or an emulated one, whose
/// times nobody needs.
static std::optional<std::string> calibratedFileFor(const TargetInfo &target) {
  std::string cache = buildCacheFolder(".");
  if (!target.is_cuda)
    return calibratedProcessorFile(cache);
  if (!target.runs_on_gpu)
    return std::nullopt;
  Expected<CudaDriver> driver = CudaDriver::load();
  Expected<GpuFacts> gpu = driver ? driver->describe() : driver.takeError();
  if (gpu)
    return calibratedFile(cache, gpu->name, gpu->multiprocessors);
  consumeError(gpu.takeError()); // the program may run on another machine
  return std::nullopt;
}

/// Returns the device of a file of gpuopt calibrate; fails if the file is no
/// longer one for this gpuopt or machine.
static Expected<DeviceModel> loadCalibrated(StringRef file) {
  Expected<DeviceModel> model = loadDeviceModel(file);
  if (model)
    if (Error error = checkCalibration(*model, file))
      return std::move(error);
  return model;
}

/// Returns the file that gpuopt calibrate has left for this machine, and says
/// so; `otherwise` if there is none that can be used.
static std::string calibratedDevice(const TargetInfo &target,
                                    StringRef otherwise) {
  std::optional<std::string> found = calibratedFileFor(target);
  if (!found || !sys::fs::exists(*found))
    return otherwise.str();
  const std::string &file = *found;
  Expected<DeviceModel> model = loadCalibrated(file);
  if (!model) {
    errs() << "gpuopt: warning: " << toString(model.takeError())
           << "; times are those of --device=" << otherwise << "\n";
    return otherwise.str();
  }
  addNote("device: " + model->name + " (" + file + ")");
  return file;
}

/// Says that the times of a plan are those of the built-in processor, and how
/// it gets those of this machine. A plan does not take them by itself, as the
/// program may be for another machine.
static void tellModelProcessor(const TargetInfo &target) {
  std::optional<std::string> measured = calibratedFileFor(target);
  bool isMeasured = false;
  if (measured && sys::fs::exists(*measured)) {
    Expected<DeviceModel> model = loadCalibrated(*measured);
    isMeasured = bool(model);
    if (!model)
      consumeError(model.takeError());
  }
  addNote("device: host, a model of a processor, not this machine's; " +
          (isMeasured ? "--device='" + *measured +
                            "' is what gpuopt calibrate has measured here"
                      : "gpuopt calibrate measures this one, for --device"));
}

/// Returns the value of --device or, without it, the device that the measured
/// times are of, or the one that was measured here.
static std::string chooseDevice(const TargetInfo &target,
                                const MeasuredCosts *costs) {
  if (!deviceName.empty())
    return deviceName;
  const DeviceModel *gpu = costs ? findBuiltinGpu(costs->device) : nullptr;
  std::string usual = !target.is_cuda ? "host" : gpu ? gpu->name : kDefaultGpu;
  if (runsHere())
    return calibratedDevice(target, usual);
  if (planCommand() && !target.is_cuda && !costs)
    tellModelProcessor(target);
  return usual;
}

/// Fails if the measured times are of another target than the device, and warns
/// if they are of another GPU.
static Error checkDevice(const DeviceModel &model, const MeasuredCosts &costs) {
  if (!model.target.empty() && model.target != costs.target)
    return createStringError("--profile-costs: '" + profileCosts +
                             "' was measured on " + costs.target + ", on '" +
                             costs.device + "', but --device=" + deviceName +
                             " is a device of target " + model.target +
                             "; leave out one of them");
  bool isBuiltin = any_of(builtinDeviceModels(), [&](const DeviceModel &known) {
    return known.name == model.name;
  });
  if (costs.target == "cuda" && isBuiltin &&
      findBuiltinGpu(costs.device) != findBuiltinGpu(model.name))
    errs() << "gpuopt: warning: --profile-costs: '" << profileCosts
           << "' was measured on '" << costs.device
           << "', but other times are those of --device=" << model.name << "\n";
  return Error::success();
}

/// Tells that a device was named on which the program cannot run. A plan may be
/// asked what the other device would take, but a program that is kept was
/// chosen by times that it will not have.
static void tellOtherDevice(const DeviceModel &model,
                            const TargetInfo &target) {
  if (deviceName.empty() || model.hasWarps() == target.is_cuda)
    return;
  std::string kind = model.hasWarps() ? "GPU" : "processor",
              fitting = model.hasWarps() ? "cuda" : "host";
  (planCommand() ? addNote : addWarning)(
      "--device=" + deviceName + " is a " + kind +
      ", but the program is for --target=" + std::string(target.name) +
      ": times, and what is chosen by them, are those of the " + kind +
      "; give --target=" + fitting + ", or leave out --device");
}

/// Returns what to do about a value of --device that is neither a device nor a
/// file; nothing if that is not known.
static std::string hintForDevice(const std::string &name) {
  if (StringRef(name).contains_insensitive(".json") ||
      StringRef(name).contains('/') || sys::fs::exists(name))
    return "";
  std::vector<std::string_view> devices, targets;
  for (const DeviceModel &known : builtinDeviceModels())
    devices.push_back(known.name);
  for (const TargetInfo &known : kTargets)
    targets.push_back(known.name);
  if (std::string meant = choice_meant_by(name, devices); !meant.empty())
    return "; did you mean '" + meant + "'?";
  std::string target = choice_meant_by(name, targets);
  return target.empty() ? ""
                        : "; --target=" + target +
                              " says what the program is for, and --device "
                              "whose times are estimated";
}

Error gpuopt::collectTimes(const TargetInfo &target, bool describesKernels,
                           train::ScheduleOptions &options) {
  auto costs = collectCosts(target, options);
  if (!costs)
    return costs.takeError();
  options.device = chooseDevice(target, costs->get());
  Expected<DeviceModel> model = loadDeviceModel(options.device);
  Error error =
      model ? checkCalibration(*model, options.device) : model.takeError();
  if (!error)
    error = checkProcessor(*model);
  if (error)
    return createStringError("--device: " + toString(std::move(error)) +
                             hintForDevice(options.device));
  if (StringRef(options.device).equals_insensitive(model->name))
    options.device = model->name; // h200 for H200; a file has a name of its own
  if (describesKernels && !model->hasWarps())
    return createStringError(
        "--kernels needs a GPU, but --device=" + options.device +
        " is a processor; name a GPU, such as --device=h200");
  tellOtherDevice(*model, target);
  return *costs ? checkDevice(*model, **costs) : Error::success();
}
