//===- PlaceTransfers.cpp - Transfers beside other work -------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Transfers begin and are awaited in gaps between the ops that do work: gap g
// is before the g-th of these ops. The link carries one transfer at a time, in
// the order in which they begin.
//
//===----------------------------------------------------------------------===//

#include "Schedule/PlaceTransfers.h"

#include "gpuopt/Analysis/Costs/CostModel.h"
#include "gpuopt/Analysis/Costs/OffloadCost.h"
#include "gpuopt/Analysis/Memory/StepMemory.h"

using namespace mlir;
using namespace gpuopt;
using namespace gpuopt::train;

namespace {

class Placer {
public:
  Placer(StepOp step, const DeviceModel &device, int64_t limitInBytes)
      : step(step), device(device), limit(limitInBytes) {
    collect();
    measure();
  }

  void run() {
    beginReloadsEarly();
    awaitOffloadsLate();
    rewrite();
  }

private:
  struct Reload {
    ReloadOp op;
    int begin, use; ///< Gaps in which it begins and is awaited.
    int earliest;   ///< The gap in which the copy out is awaited.
  };
  struct Offload {
    OffloadOp op;
    AwaitOffloadOp await;
    int begin, end;      ///< Gaps in which it begins and is awaited.
    int latest;          ///< The gap of the first copy back.
    bool isLate = false; ///< Whether the await moves.
  };

  static bool isTransfer(Operation *op) {
    return isa<OffloadOp, AwaitOffloadOp, ReloadOp, AwaitReloadOp>(op);
  }

  void collect() {
    for (Operation &op : step.getBody().front()) {
      int gap = work.size();
      if (auto offload = dyn_cast<OffloadOp>(op)) {
        offloadOf[offload.getCopy()] = offloads.size();
        offloads.push_back({offload, {}, gap, gap, INT_MAX});
      } else if (auto await = dyn_cast<AwaitOffloadOp>(op)) {
        Offload &offload = offloads[offloadOf[await.getCopy()]];
        offload.await = await;
        offload.end = gap;
      } else if (auto reload = dyn_cast<ReloadOp>(op)) {
        int earliest = offloads[offloadOf[reload.getCopy()]].end;
        reloads.push_back({reload, gap, gap, earliest});
      } else if (!namesMemory(&op) && !isTransfer(&op)) {
        work.push_back(&op);
      }
    }
  }

  /// Computes the bytes alive at each op that does work, and when the op
  /// begins.
  void measure() {
    llvm::StringMap<unsigned> names;
    StepMemory memory(step, names);
    std::vector<int64_t> change;
    for (const PlannedBuffer &buffer : memory.getBuffers()) {
      change.resize(std::max<size_t>(change.size(), buffer.to + 1), 0);
      int64_t bytes = alignedSizeInBytes(buffer.type);
      change[buffer.from] += bytes;
      change[buffer.to] -= bytes;
    }
    double time = 0;
    int64_t index = 0, alive = 0;
    for (Operation &op : step.getBody().front()) {
      if (namesMemory(&op))
        continue;
      alive += index < int64_t(change.size()) ? change[index] : 0;
      ++index;
      if (isTransfer(&op))
        continue;
      live.push_back(alive);
      begins.push_back(time);
      time += timeInNanoseconds(&op, device);
    }
    begins.push_back(time);
  }

  double timeOf(Value value) const {
    return transferInNanoseconds(sizeInBytes(value), device);
  }

  /// Goes from the last transfer to the first, since each must be finished when
  /// the next one begins.
  void beginReloadsEarly() {
    double next = HUGE_VAL;
    for (Reload &reload : llvm::reverse(reloads)) {
      int64_t bytes = alignedSizeInBytes(reload.op.getResult());
      double latest =
          std::min(begins[reload.use], next) - timeOf(reload.op.getResult());
      int &gap = reload.begin;
      while (gap > reload.earliest && begins[gap] > latest &&
             live[gap - 1] + bytes <= limit)
        live[--gap] += bytes;
      next = begins[gap];
      Offload &offload = offloads[offloadOf[reload.op.getCopy()]];
      offload.latest = std::min(offload.latest, gap);
    }
  }

  void awaitOffloadsLate() {
    double link = 0;
    for (Offload &offload : offloads) {
      int64_t bytes = alignedSizeInBytes(offload.op.getValue());
      link =
          std::max(link, begins[offload.begin]) + timeOf(offload.op.getValue());
      int &gap = offload.end;
      while (gap + 1 < offload.latest && gap < int(work.size()) &&
             begins[gap] < link && live[gap] + bytes <= limit)
        live[gap++] += bytes, offload.isLate = true;
    }
  }

  /// Transfers that begin in one gap keep their order.
  void rewrite() {
    for (Offload &offload : offloads)
      if (offload.isLate && offload.end < int(work.size()))
        offload.await->moveBefore(work[offload.end]);
    for (Reload &reload : reloads)
      if (reload.begin < reload.use)
        reload.op->moveBefore(work[reload.begin]);
  }

  StepOp step;
  const DeviceModel &device;
  int64_t limit;
  std::vector<Operation *> work;
  std::vector<int64_t> live;
  std::vector<double> begins; ///< In nanoseconds; then the end of the last op.
  std::vector<Reload> reloads;
  std::vector<Offload> offloads;
  llvm::DenseMap<Value, unsigned> offloadOf;
};

} // namespace

void train::placeTransfers(StepOp step, const DeviceModel &device,
                           int64_t limitInBytes) {
  // Without overlap of transfers and work, moving them gains nothing.
  if (limitInBytes > 0 && device.overlapsTransfers)
    Placer(step, device, limitInBytes).run();
}
