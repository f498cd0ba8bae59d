//===- gpuopt-plan-convolutions.cpp - cuDNN's plans without a GPU ---------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Asks cuDNN how it would compute the convolutions of programs on a GPU that
// need not be there: by which engine, and with how large a workspace. What it
// cannot plan has a reason; programs compute that by cuDNN's older calls.
//
//===----------------------------------------------------------------------===//

#include "ConvolutionList.h"
#include "DeviceDescriptions.h"
#include "gpuopt/Planning/Bytes.h"
#include "gpuopt/Support/CheckOutput.h"
#include "gpuopt/Support/WriteFile.h"
#include "gpuopt/Version.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/WithColor.h"

using namespace llvm;
using namespace gpuopt;

static cl::OptionCategory category("Options of gpuopt-plan-convolutions");
static cl::list<std::string> inputs(cl::Positional, cl::desc("<plan.json>..."),
                                    cl::cat(category));
// An option refers to its description.
static const std::string
    deviceText("GPU that is planned for (" + describedDeviceNames() +
               ") or a file in which cuDNN has described one; default h200");
static cl::opt<std::string> device("device", cl::init("h200"),
                                   cl::value_desc("name or file"),
                                   cl::desc(deviceText), cl::cat(category));
static cl::opt<std::string>
    workspaceSize("workspace-size", cl::init("256MiB"), cl::value_desc("bytes"),
                  cl::desc("Workspace that a convolution may use; default "
                           "256MiB"),
                  cl::cat(category));
static cl::opt<std::string>
    output("o", cl::init("-"), cl::value_desc("file"),
           cl::desc("Where the plans, or the description "
                    "of the device, go; default: "
                    "standard output"),
           cl::cat(category));

static cl::opt<bool>
    describes("describe-device",
              cl::desc("Print how cuDNN describes the GPU of this machine, for "
                       "--device elsewhere, and stop"),
              cl::cat(category));

static cl::opt<bool>
    listsChoices("choices",
                 cl::desc("List the plans too that a program times to choose "
                          "the fastest"),
                 cl::cat(category));

static int fail(const Twine &message) {
  WithColor::error(errs(), "gpuopt-plan-convolutions") << message << "\n";
  return 1;
}

/// Writes what is asked for to where -o says.
static llvm::Error write(StringRef text) {
  if (output == "-") {
    outs() << text;
    return llvm::Error::success();
  }
  if (llvm::Error error = writeFile(output, text))
    return createStringError("cannot write '" + output +
                             "': " + toString(std::move(error)));
  return llvm::Error::success();
}

/// Writes the description of the GPU that is there.
static llvm::Error describeThisDevice() {
  cudnnHandle_t handle = nullptr;
  if (cudnnStatus_t status = cudnnCreate(&handle))
    return createStringError(
        "--describe-device needs a GPU that cuDNN can use, but it says " +
        Twine(cudnnGetErrorString(status)));
  std::string text;
  try {
    text = describe_device(handle);
  } catch (const gpuopt::Error &error) {
    cudnnDestroy(handle);
    return createStringError("--describe-device: " + Twine(error.what()));
  }
  cudnnDestroy(handle);
  return write(text + "\n");
}

/// Returns the names of the plans that a program times, the first of which
/// cuDNN takes for the fastest. Each is found by its name again.
static json::Array listChoices(const PlanDevice &target, const ConvGraph &graph,
                               int64_t workspaceLimit) {
  json::Array names;
  for (const CudnnPlan &plan :
       plans_of_convolution(target, graph, workspaceLimit, kTimedPlans).plans) {
    CudnnPlanResult found =
        find_convolution_plan(target, graph, workspaceLimit, plan.name());
    if (!found.plan || found.plan->serialize() != plan.serialize())
      throw gpuopt::Error("cuDNN has another plan, or none, of the name '" +
                          plan.name() + "'");
    names.push_back(plan.name());
  }
  return names;
}

/// Adds the plan of a convolution to `text`, or why it has none. As in
/// programs, one that has none with its sums is planned without them.
static void plan(const PlanDevice &target, const ConvGraph &graph,
                 int64_t workspaceLimit, json::Object &text) {
  CudnnPlanResult result = plan_convolution(target, graph, workspaceLimit);
  if (!result.plan && graph.adds_sums) {
    ConvGraph withoutSums = graph;
    withoutSums.adds_sums = 0;
    text["sums_fallback"] = result.reason;
    result = plan_convolution(target, withoutSums, workspaceLimit);
  }
  if (!result.plan) {
    text["fallback"] = result.reason;
    return;
  }
  std::string serialized = result.plan->serialize();
  CudnnPlan again = read_cudnn_plan(target, serialized);
  if (again.engine() != result.plan->engine() ||
      again.workspace_bytes() != result.plan->workspace_bytes())
    throw gpuopt::Error("cuDNN reads another plan than the one it has written");
  if (listsChoices)
    text["choices"] = listChoices(target, graph, workspaceLimit);
  text["engine"] = result.plan->engine();
  text["workspace_bytes"] = result.plan->workspace_bytes();
  text["plan"] = std::move(serialized);
}

static json::Object planAll(const PlanDevice &target,
                            std::vector<ListedConvolution> &convolutions,
                            int64_t workspaceLimit) {
  json::Array plans;
  for (ListedConvolution &convolution : convolutions) {
    plan(target, convolution.graph, workspaceLimit, convolution.text);
    plans.push_back(std::move(convolution.text));
  }
  return json::Object{{"cudnn", int64_t(cudnnGetVersion())},
                      {"device", device},
                      {"workspace_limit_bytes", workspaceLimit},
                      {"convolutions", std::move(plans)}};
}

/// Returns the GPU of --device.
static Expected<PlanDevice> makeTarget() {
  Expected<std::string> description = describeDevice(device);
  if (!description)
    return createStringError("--device: " + toString(description.takeError()));
  try {
    return PlanDevice(*description);
  } catch (const gpuopt::Error &error) {
    return createStringError("--device: cuDNN does not take the description '" +
                             device + "': " + error.what());
  }
}

static llvm::Error run(int64_t workspaceLimit) {
  Expected<PlanDevice> target = makeTarget();
  if (!target)
    return target.takeError();
  std::vector<ListedConvolution> convolutions;
  for (const std::string &input : inputs)
    if (llvm::Error error = addConvolutions(input, convolutions))
      return error;
  json::Object plans;
  try {
    plans = planAll(*target, convolutions, workspaceLimit);
  } catch (const std::exception &error) {
    return createStringError(error.what());
  }
  std::string text;
  raw_string_ostream(text) << formatv("{0:2}", json::Value(std::move(plans)))
                           << "\n";
  return write(text);
}

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  cl::HideUnrelatedOptions(category);
  setVersionPrinter("gpuopt-plan-convolutions");
  cl::ParseCommandLineOptions(argc, argv,
                              "cuDNN's plans of convolutions, without a GPU\n");
  if (inputs.empty() && !describes)
    return fail("expects the plan.json of a program, or several");
  planning::Result<int64_t> limit = planning::parseBytes(workspaceSize);
  if (!limit)
    return fail("--workspace-size: " + limit.error().message);
  std::vector<StringRef> read(inputs.begin(), inputs.end());
  if (output != "-")
    if (llvm::Error error = checkOutput(output, read))
      return fail(toString(std::move(error)));
  if (llvm::Error error = describes ? describeThisDevice() : run(*limit))
    return fail(toString(std::move(error)));
  return 0;
}
