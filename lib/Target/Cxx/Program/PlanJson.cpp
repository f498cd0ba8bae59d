//===- PlanJson.cpp - The memory plan as JSON -----------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Program/PlanJson.h"

#include "Types.h"
#include "gpuopt/Dialect/Device/IR/DeviceDialect.h"
#include "gpuopt/Dialect/Train/IR/BudgetCost.h"
#include "gpuopt/settings/conv_calls.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace gpuopt;

static llvm::json::Object bufferJson(device::BufferOp buffer) {
  auto type = cast<RankedTensorType>(buffer.getType());
  llvm::json::Array shape;
  for (int64_t size : type.getShape())
    shape.push_back(size);
  llvm::json::Object object{{"name", buffer.getSymName()},
                            {"origin", buffer.getOrigin()},
                            {"kind", stringifyBufferKind(buffer.getKind())},
                            {"type", cxx::typeName(type.getElementType())},
                            {"shape", std::move(shape)},
                            {"bytes", buffer.getSizeInBytes()},
                            {"offset", (int64_t)buffer.getOffset()}};
  if (std::optional<uint64_t> result = buffer.getResultNumber())
    object["result"] = (int64_t)*result;
  if (buffer.getLiveFrom()) {
    object["step"] = buffer.getStep()->str();
    object["lifetime"] = llvm::json::Array{(int64_t)*buffer.getLiveFrom(),
                                           (int64_t)*buffer.getLiveTo()};
  }
  return object;
}

static llvm::json::Value numbersJson(Attribute value) {
  if (auto number = dyn_cast<IntegerAttr>(value))
    return number.getInt();
  llvm::json::Array numbers;
  for (int64_t number : cast<DenseI64ArrayAttr>(value).asArrayRef())
    numbers.push_back(number);
  return numbers;
}

/// Returns the constant of type ConvShape among the arguments of a call; null
/// if it has none.
static device::StructAttr convShapeOf(device::CallOp call) {
  for (Attribute argument : call.getArguments())
    if (auto constant = dyn_cast<device::StructAttr>(argument);
        constant && constant.getStructType() == kConvShapeType)
      return constant;
  return nullptr;
}

/// Returns the convolutions of all steps, each once, for
/// gpuopt-plan-convolutions. Fields of a shape that have the struct's default
/// are left out.
static llvm::json::Array convolutionsJson(ModuleOp module, bool allowsTf32) {
  llvm::json::Array convolutions;
  module.walk([&](device::CallOp call) {
    device::StructAttr shape = convShapeOf(call);
    if (!shape)
      return;
    llvm::json::Object fields;
    for (NamedAttribute field : shape.getFields())
      fields[field.getName().getValue()] = numbersJson(field.getValue());
    std::string type = cxx::typeName(
        cast<TypeAttr>(call.getTemplateArguments()->getValue().front())
            .getValue());
    llvm::json::Object convolution{{"call", call.getFunction()},
                                   {"type", type},
                                   {"shape", std::move(fields)}};
    if (allowsTf32 && type == "f32")
      convolution["allows_tf32"] = true;
    llvm::json::Value listed(std::move(convolution));
    if (!llvm::is_contained(convolutions, listed))
      convolutions.push_back(std::move(listed));
  });
  return convolutions;
}

/// Adds what a schedule under a budget promises.
static void addPromises(train::PlanAttr plan, llvm::json::Object &object) {
  object["arena_bytes"] = plan.getArenaBytes();
  object["plain_arena_bytes"] = plan.getPlainArenaBytes();
  if (train::TransfersAttr transfers = plan.getTransfers()) {
    object["transfer_bytes"] = transfers.getBytes();
    object["transfer_ns"] = transfers.getBusyNanoseconds().getValueAsDouble();
    object["transfer_wait_ns"] =
        transfers.getWaitedNanoseconds().getValueAsDouble();
  }
}

/// Returns what a budget costs a step, whose plan is null if nothing runs
/// again. Times are estimates; percents are of the time without a budget.
static llvm::json::Object scheduleJson(train::PlanAttr plan,
                                       const StepTime &time) {
  train::BudgetCost cost = train::budgetCostOf(plan, time.nanoseconds,
                                               time.nanosecondsWithoutBudget);
  llvm::json::Object object{
      {"plain_ns", cost.withoutBudget},
      {"added_ns", cost.added},
      {"added_percent", cost.percentOf(cost.added)},
      {"recompute_ns", cost.recompute},
      {"recompute_percent", cost.percentOf(cost.recompute)},
      {"lower_bound_percent", cost.percentOf(cost.lowerBound)}};
  if (plan)
    addPromises(plan, object);
  return object;
}

static llvm::json::Object schedulesJson(ModuleOp module,
                                        const EmissionOptions &options) {
  llvm::json::Object schedules;
  train::TrainDialect::PlanAttrHelper plans(module.getContext());
  for (device::StepOp step : module.getOps<device::StepOp>()) {
    train::PlanAttr plan = plans.getAttr(step);
    StepTime time;
    if (auto found = options.stepTimes.find(step.getSymName().str());
        found != options.stepTimes.end())
      time = found->second;
    else if (plan)
      time.nanoseconds = time.nanosecondsWithoutBudget =
          plan.getPlainNanoseconds().getValueAsDouble();
    if (plan || time.nanoseconds != time.nanosecondsWithoutBudget)
      schedules[step.getSymName()] = scheduleJson(plan, time);
  }
  return schedules;
}

std::string cxx::planJson(ModuleOp module, const EmissionOptions &options) {
  device::MemoryOp memory = *module.getOps<device::MemoryOp>().begin();
  llvm::json::Array buffers;
  for (device::BufferOp buffer : module.getOps<device::BufferOp>())
    buffers.push_back(bufferJson(buffer));
  int64_t arena = memory.getArenaBytes(),
          persistent = memory.getPersistentBytes();
  llvm::json::Object plan{{"version", kPlanVersion},
                          {"arena_bytes", arena},
                          {"persistent_bytes", persistent},
                          {"total_bytes", arena + persistent},
                          {"buffers", std::move(buffers)}};
  if (memory.getHostBytes() > 0)
    plan["host_bytes"] = (int64_t)memory.getHostBytes();
  llvm::json::Object schedules = schedulesJson(module, options);
  if (!schedules.empty())
    plan["schedules"] = std::move(schedules);
  if (llvm::json::Array found = convolutionsJson(module, options.allowsTf32);
      !found.empty())
    plan["convolutions"] = std::move(found);
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::json::OStream json(stream, /*IndentSize=*/1);
  json.value(std::move(plan));
  return text + "\n";
}

void cxx::addProofs(ModuleOp module, ProgramFiles &files) {
  train::TrainDialect::ProofAttrHelper proofs(module.getContext());
  for (device::StepOp step : module.getOps<device::StepOp>()) {
    train::ProofAttr proof = proofs.getAttr(step);
    if (!proof)
      continue;
    auto add = [&](DenseResourceElementsAttr file, StringRef suffix) {
      if (std::optional<ArrayRef<int8_t>> text =
              cast<DenseI8ResourceElementsAttr>(file).tryGetAsArrayRef())
        files[(step.getSymName() + suffix).str()] = std::string(
            reinterpret_cast<const char *>(text->data()), text->size());
    };
    add(proof.getProblem(), ".problem.json");
    add(proof.getPlan(), ".plan.json");
  }
}
