//===- Plan.cpp - The memory plan as JSON ---------------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Plan.h"

#include "Types.h"
#include "gpuopt/Dialect/Device/IR/DeviceDialect.h"
#include "gpuopt/Dialect/Train/IR/TrainDialect.h"
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
  if (auto result =
          buffer->getAttrOfType<IntegerAttr>(device::kResultAttribute))
    object["result"] = result.getInt();
  if (buffer.getLiveFrom()) {
    object["step"] = buffer.getStep()->str();
    object["lifetime"] = llvm::json::Array{(int64_t)*buffer.getLiveFrom(),
                                           (int64_t)*buffer.getLiveTo()};
  }
  return object;
}

/// What a schedule under a budget promises: times are estimates.
static llvm::json::Object scheduleJson(DictionaryAttr plan) {
  auto number = [&](StringRef name) {
    return plan.getAs<IntegerAttr>(name).getInt();
  };
  auto real = [&](StringRef name) {
    return plan.getAs<FloatAttr>(name).getValueAsDouble();
  };
  auto percent = [&](StringRef name) {
    return 100 * real(name) / std::max(1., real("plain_ns"));
  };
  llvm::json::Object object{{"arena_bytes", number("arena_bytes")},
                            {"plain_arena_bytes", number("plain_arena_bytes")},
                            {"plain_ns", real("plain_ns")},
                            {"added_ns", real("added_ns")},
                            {"added_percent", percent("added_ns")},
                            {"lower_bound_percent", percent("lower_bound_ns")}};
  if (plan.contains("transfer_bytes")) {
    object["transfer_bytes"] = number("transfer_bytes");
    object["transfer_ns"] = real("transfer_ns");
    object["transfer_wait_ns"] = real("transfer_wait_ns");
  }
  return object;
}

std::string cxx::planJson(ModuleOp module) {
  device::MemoryOp memory = *module.getOps<device::MemoryOp>().begin();
  llvm::json::Array buffers;
  for (device::BufferOp buffer : module.getOps<device::BufferOp>())
    buffers.push_back(bufferJson(buffer));
  int64_t arena = memory.getArenaBytes(),
          persistent = memory.getPersistentBytes();
  llvm::json::Object plan{{"arena_bytes", arena},
                          {"persistent_bytes", persistent},
                          {"total_bytes", arena + persistent},
                          {"buffers", std::move(buffers)}};
  if (memory.getHostBytes() > 0)
    plan["host_bytes"] = (int64_t)memory.getHostBytes();
  llvm::json::Object schedules;
  for (device::StepOp step : module.getOps<device::StepOp>())
    if (auto schedule =
            step->getAttrOfType<DictionaryAttr>(train::kPlanAttribute))
      schedules[step.getSymName()] = scheduleJson(schedule);
  if (!schedules.empty())
    plan["schedules"] = std::move(schedules);
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::json::OStream json(stream, /*IndentSize=*/1);
  json.value(std::move(plan));
  return text + "\n";
}

void cxx::addProofs(ModuleOp module, ProgramFiles &files) {
  for (device::StepOp step : module.getOps<device::StepOp>()) {
    auto proof = step->getAttrOfType<ArrayAttr>(train::kProofAttribute);
    if (!proof || proof.size() != 2)
      continue;
    for (auto [attribute, suffix] :
         llvm::zip(proof, ArrayRef<StringRef>{".problem.json", ".plan.json"})) {
      auto bytes = dyn_cast<DenseI8ResourceElementsAttr>(attribute);
      std::optional<ArrayRef<int8_t>> text =
          bytes ? bytes.tryGetAsArrayRef() : std::nullopt;
      if (text)
        files[(step.getSymName() + suffix).str()] = std::string(
            reinterpret_cast<const char *>(text->data()), text->size());
    }
  }
}
