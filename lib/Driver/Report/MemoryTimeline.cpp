//===- MemoryTimeline.cpp - What is alive after each op -------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report/MemoryTimeline.h"

#include "gpuopt/Dialect/Device/IR/DeviceDialect.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/Endian.h"

using namespace mlir;
using namespace gpuopt;

MemoryTimeline gpuopt::describeTimeline(ModuleOp module) {
  MemoryTimeline timeline;
  device::MemoryOp memory = *module.getOps<device::MemoryOp>().begin();
  timeline.persistentBytes = memory.getPersistentBytes();
  timeline.totalBytes = memory.getPersistentBytes() + memory.getArenaBytes();
  for (device::BufferOp buffer : module.getOps<device::BufferOp>()) {
    if (buffer.getKind() == device::BufferKind::Host)
      continue;
    PlacedTensor tensor;
    tensor.name = buffer.getSymName().str();
    tensor.origin = buffer.getOrigin().str();
    tensor.kind = stringifyBufferKind(buffer.getKind()).str();
    llvm::raw_string_ostream(tensor.type) << buffer.getType();
    tensor.offset = buffer.getOffset();
    tensor.bytes = buffer.getSizeInBytes();
    if (buffer.getLiveFrom()) {
      tensor.step = buffer.getStep()->str();
      tensor.from = *buffer.getLiveFrom();
      tensor.to = *buffer.getLiveTo();
    }
    timeline.tensors.push_back(std::move(tensor));
  }
  return timeline;
}

//===----------------------------------------------------------------------===//
// By op
//===----------------------------------------------------------------------===//

/// The numbers of the tensors of each step, in the order of the steps.
using Steps = llvm::MapVector<StringRef, std::vector<size_t>>;

static Steps stepsOf(const MemoryTimeline &timeline) {
  Steps steps;
  for (auto [number, tensor] : llvm::enumerate(timeline.tensors))
    if (!tensor.step.empty())
      steps[tensor.step].push_back(number);
  return steps;
}

/// Returns the ops of a step at which a tensor begins or ceases to live; what
/// is alive does not change between them.
static llvm::json::Array opsOf(const MemoryTimeline &timeline,
                               ArrayRef<size_t> numbers) {
  std::map<int64_t, std::vector<size_t>> begins, ends;
  for (size_t number : numbers) {
    begins[timeline.tensors[number].from].push_back(number);
    ends[timeline.tensors[number].to].push_back(number);
  }
  int64_t last = ends.empty() ? 0 : ends.rbegin()->first;
  llvm::json::Array ops;
  std::set<size_t> live;
  int64_t bytes = 0;
  for (int64_t op = 0; op < last; ++op) {
    for (size_t number : ends[op])
      live.erase(number), bytes -= timeline.tensors[number].bytes;
    for (size_t number : begins[op])
      live.insert(number), bytes += timeline.tensors[number].bytes;
    llvm::json::Array computes, alive;
    for (size_t number : begins[op])
      computes.push_back(int64_t(number));
    for (size_t number : live)
      alive.push_back(int64_t(number));
    ops.push_back(llvm::json::Object{{"op", op},
                                     {"computes", std::move(computes)},
                                     {"live_bytes", bytes},
                                     {"live", std::move(alive)}});
  }
  return ops;
}

llvm::json::Object gpuopt::toJson(const MemoryTimeline &timeline) {
  llvm::json::Array tensors;
  for (const PlacedTensor &tensor : timeline.tensors)
    tensors.push_back(llvm::json::Object{{"name", tensor.name},
                                         {"origin", tensor.origin},
                                         {"kind", tensor.kind},
                                         {"type", tensor.type},
                                         {"offset", tensor.offset},
                                         {"bytes", tensor.bytes}});
  llvm::json::Array steps;
  for (auto &[step, numbers] : stepsOf(timeline))
    steps.push_back(llvm::json::Object{{"step", step.str()},
                                       {"ops", opsOf(timeline, numbers)}});
  return llvm::json::Object{{"total_bytes", timeline.totalBytes},
                            {"persistent_bytes", timeline.persistentBytes},
                            {"tensors", std::move(tensors)},
                            {"steps", std::move(steps)}};
}

//===----------------------------------------------------------------------===//
// As a snapshot of PyTorch
//===----------------------------------------------------------------------===//

/// Where the allocation seems to lie: any address but 0 does.
static constexpr int64_t kAddress = int64_t(1) << 40;

/// Returns a stack of one frame, by which the page names a block.
static llvm::json::Array framesOf(const PlacedTensor &tensor) {
  std::string place = tensor.step.empty() ? tensor.kind : tensor.step;
  return llvm::json::Array{llvm::json::Object{
      {"name", tensor.origin.empty() ? tensor.name : tensor.origin},
      {"filename", tensor.name + ": " + tensor.type + " in " + place},
      {"line", tensor.from}}};
}

static llvm::json::Object eventOf(StringRef action, const PlacedTensor &tensor,
                                  int64_t time) {
  return llvm::json::Object{
      {"action", action},     {"addr", kAddress + tensor.offset},
      {"size", tensor.bytes}, {"stream", 0},
      {"time_us", time},      {"frames", framesOf(tensor)}};
}

/// Returns the blocks of the segment after the last step, when only what is
/// persistent is alive. They lie one after the other.
static llvm::json::Array blocksOf(const MemoryTimeline &timeline) {
  std::vector<const PlacedTensor *> kept;
  for (const PlacedTensor &tensor : timeline.tensors)
    if (tensor.step.empty() && tensor.bytes > 0)
      kept.push_back(&tensor);
  llvm::stable_sort(kept, [](const PlacedTensor *a, const PlacedTensor *b) {
    return a->offset < b->offset;
  });
  llvm::json::Array blocks;
  int64_t end = 0;
  auto add = [&](int64_t to, int64_t bytes, StringRef state,
                 llvm::json::Array frames) {
    if (to > end)
      blocks.push_back(llvm::json::Object{{"address", kAddress + end},
                                          {"size", to - end},
                                          {"requested_size", bytes},
                                          {"state", state},
                                          {"frames", std::move(frames)}});
    end = std::max(end, to);
  };
  for (const PlacedTensor *tensor : kept) {
    add(tensor->offset, 0, "inactive", llvm::json::Array());
    add(tensor->offset + tensor->bytes, tensor->bytes, "active_allocated",
        framesOf(*tensor));
  }
  add(timeline.totalBytes, 0, "inactive", llvm::json::Array());
  return blocks;
}

/// Appends what is allocated and freed in a step that begins at `time`. Returns
/// when it ends. An op takes a microsecond.
static int64_t addTrace(const MemoryTimeline &timeline,
                        ArrayRef<size_t> numbers, int64_t time,
                        llvm::json::Array &trace) {
  // What ceases to live comes before what begins to at the same op.
  std::vector<std::tuple<int64_t, bool, size_t>> changes;
  int64_t end = 0;
  for (size_t number : numbers) {
    const PlacedTensor &tensor = timeline.tensors[number];
    if (tensor.bytes == 0 || tensor.to <= tensor.from)
      continue;
    changes.push_back({tensor.from, true, number});
    changes.push_back({tensor.to, false, number});
    end = std::max(end, tensor.to);
  }
  llvm::sort(changes);
  for (auto [op, begins, number] : changes) {
    const PlacedTensor &tensor = timeline.tensors[number];
    if (begins) {
      trace.push_back(eventOf("alloc", tensor, time + op));
      continue;
    }
    trace.push_back(eventOf("free_requested", tensor, time + op));
    trace.push_back(eventOf("free_completed", tensor, time + op));
  }
  return time + end + 1;
}

llvm::json::Object gpuopt::toSnapshot(const MemoryTimeline &timeline) {
  int64_t active = 0;
  llvm::json::Array trace;
  PlacedTensor all;
  all.name = "the program's one allocation";
  all.bytes = timeline.totalBytes;
  trace.push_back(eventOf("segment_alloc", all, 0));
  for (const PlacedTensor &tensor : timeline.tensors)
    if (tensor.step.empty() && tensor.bytes > 0) {
      active += tensor.bytes;
      trace.push_back(eventOf("alloc", tensor, 0));
    }
  int64_t time = 1;
  for (auto &[step, numbers] : stepsOf(timeline))
    time = addTrace(timeline, numbers, time, trace);
  llvm::json::Object segment{{"device", 0},
                             {"address", kAddress},
                             {"total_size", timeline.totalBytes},
                             {"allocated_size", active},
                             {"active_size", active},
                             {"requested_size", active},
                             {"stream", 0},
                             {"segment_type", "large"},
                             {"segment_pool_id", llvm::json::Array{0, 0}},
                             {"is_expandable", false},
                             {"frames", llvm::json::Array()},
                             {"blocks", blocksOf(timeline)}};
  return llvm::json::Object{
      {"segments", llvm::json::Array{std::move(segment)}},
      {"device_traces", llvm::json::Array{std::move(trace)}},
      {"external_annotations", llvm::json::Array()},
      {"allocator_settings", llvm::json::Object()}};
}

//===----------------------------------------------------------------------===//
// Pickle
//===----------------------------------------------------------------------===//

namespace {

/// Writes the opcodes of pickletools.
class PickleWriter {
public:
  std::string write(const llvm::json::Value &value) {
    text = "\x80\x02"; // PROTO
    add(value);
    return text + "."; // STOP
  }

private:
  void add(const llvm::json::Value &value) {
    if (const llvm::json::Object *object = value.getAsObject()) {
      text += "}("; // EMPTY_DICT, MARK
      for (const auto &[key, member] : *object)
        add(StringRef(key)), add(member);
      text += "u"; // SETITEMS
    } else if (const llvm::json::Array *array = value.getAsArray()) {
      text += "]("; // EMPTY_LIST, MARK
      for (const llvm::json::Value &element : *array)
        add(element);
      text += "e"; // APPENDS
    } else if (std::optional<StringRef> string = value.getAsString()) {
      add(*string);
    } else if (std::optional<bool> boolean = value.getAsBoolean()) {
      text += *boolean ? "\x88" : "\x89"; // NEWTRUE, NEWFALSE
    } else if (std::optional<int64_t> integer = value.getAsInteger()) {
      text += "\x8a\x08"; // LONG1 of eight bytes
      append(llvm::support::endian::byte_swap<int64_t>(
          *integer, llvm::endianness::little));
    } else if (std::optional<double> number = value.getAsNumber()) {
      text += "G"; // BINFLOAT
      append(llvm::support::endian::byte_swap<uint64_t>(
          llvm::bit_cast<uint64_t>(*number), llvm::endianness::big));
    } else {
      text += "N"; // NONE
    }
  }
  void add(StringRef string) {
    text += "X"; // BINUNICODE
    append(llvm::support::endian::byte_swap<uint32_t>(
        string.size(), llvm::endianness::little));
    text += string;
  }
  template <typename T>
  void append(T bytes) {
    text.append(reinterpret_cast<const char *>(&bytes), sizeof bytes);
  }

  std::string text;
};

} // namespace

std::string gpuopt::toPickle(const llvm::json::Value &value) {
  return PickleWriter().write(value);
}
