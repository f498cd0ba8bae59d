//===- TimeExpandedCut.h - Prices of memory at time points ------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The lower bound, for one set of prices. Time points are first executions
// T_1 < ... < T_K. For every schedule and every op v before T_k say
//
//   Y(v,k) = 1 where v is executed again after the first execution of T_k,
//   A(v,k) = 1 where v's output is had at some time after T_k: still resident
//              at T_k, or executed again.
//
// Every schedule within the budget B satisfies: A(v,k) = 1 where an op after
// T_k reads v; A(v,k) = 1 implies Y(v,k) = 1 or v resident at T_k; Y(v,k) = 1
// implies A(u,k) = 1 for the inputs u of v; Y(v,k) = 1 implies Y(v,k-1) = 1;
// and the residents at T_k beside its working set W_k have B - W_k bytes. With
// prices p_k >= 0 on the last, the least of
//
//   sum_v c_v Y(v, first k) + sum_k p_k (sum_v m_v [A(v,k) and not Y(v,k)]
//                                        - (B - W_k))
//
// is below the added cost of every schedule, and is a minimum cut: source side
// 0, sink side 1. One time point, at the loss, is the classical cut of "save or
// recompute". An output that shares a storage has no bytes; that it is had
// implies that its storage is.
//
// An output v that may be offloaded can be had without being resident or
// executed again, for o_v. With shares s_v1 + ... + s_vK <= o_v, what is paid
// for one reload pays for min(s_vk, p_k m_v) at each time point, so the bound
// holds with that in place of p_k m_v. (To let the cut itself choose, once for
// all time points, would not be submodular.) Shares in proportion to the prices
// are taken: with one time point at work they lose nothing.
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_PLANNING_RECOMPUTE_TIMEEXPANDEDCUT_H
#define GPUOPT_LIB_PLANNING_RECOMPUTE_TIMEEXPANDEDCUT_H

#include "MaxFlow.h"
#include "Recompute/Graph.h"

#include <memory>

namespace gpuopt::planning {

/// Costs and prices as integers. A cost c becomes floor(c 2^costShift); a
/// price p makes a storage of m bytes cost floor(p m / 2^priceShift) of that.
struct IntegerScale {
  int costShift = 0;
  int priceShift = 0;

  IntegerScale() = default;
  IntegerScale(double totalCost, int64_t peakInBytes);
  /// Returns the integer of a cost, at most 2^52, which also stands for
  /// infinity.
  int64_t scaleCost(double cost) const;
  int64_t priceBytes(int64_t price, int64_t bytes) const;
};

/// An arc of the network as certificates describe it.
struct CutArc {
  enum Kind {
    /// s -> Y(op, t) for a time point t: its capacity is the op's cost.
    Recompute,
    /// Y(op, t) -> Y(op, other), where `other` is a later time point.
    Monotone,
    /// Y(op, t) -> A(op, t), or the sink: its capacity is the price of the
    /// bytes, or a share of the offload cost.
    Resident,
    /// A(other, t) -> Y(op, t): op reads other.
    Needs,
    /// A(other, t) -> A(op, t): op lies in other.
    Shares
  } kind;
  int op, timePoint, other;
};

class TimeExpandedCut {
public:
  /// Expects time points in increasing order with working sets within the
  /// budget.
  TimeExpandedCut(const Graph &graph, std::vector<int> timePoints,
                  int64_t budgetInBytes, IntegerScale scale);

  /// Returns the bound for these prices, one per time point, in units of
  /// 2^-costShift.
  int64_t solve(const std::vector<int64_t> &prices);

  /// Reads the decisions of the last minimum cut; `preferResident` picks, among
  /// equal cuts, the one that recomputes least.
  void readCut(bool preferResident);
  bool isResident(int op, int timePoint) const;
  bool isRecomputed(int op, int timePoint) const;
  /// Whether an output is needed at a time point, but neither resident nor
  /// computed again.
  bool isReloaded(int op, int timePoint) const;

  /// Returns the resident bytes at each time point beside the working set,
  /// minus what the budget leaves for them. This is the slope of the bound in
  /// the prices.
  std::vector<int64_t> excessBytes() const;

  const std::vector<int> &timePoints() const { return timePointOps; }
  const std::vector<CutArc> &arcs() const { return words; }
  int64_t flow(int arc) const { return network->flow(arc); }
  MaxFlow &maxFlow() { return *network; } ///< With the last prices.

private:
  void numberNodes();
  void addArcsOf(int op, int timePoint);
  void addArc(int from, int to, int64_t capacity, CutArc word);
  void sumPrices(const std::vector<int64_t> &prices);
  bool isKept(int op, int timePoint) const;
  void addReloadSlopes(std::vector<int64_t> &excess) const;
  int &runNode(int op, int timePoint) { return runNodes[timePoint][op]; }
  int &hadNode(int op, int timePoint) { return hadNodes[timePoint][op]; }

  const Graph &graph;
  std::vector<int> timePointOps;
  int64_t budget;
  IntegerScale scale;
  /// Whether an op's output is in the working set of a time point.
  std::vector<std::vector<char>> isFree;
  std::vector<std::vector<int>> runNodes, hadNodes; ///< Y and A, or -1.
  int nodes = 2;
  std::unique_ptr<MaxFlow> network;
  std::vector<CutArc> words;
  std::vector<char> sinkSide;
  /// For ops that may be offloaded: the sum of the last prices over the time
  /// points at which the op's bytes are priced, and whether the offload cost is
  /// below what they come to.
  std::vector<int64_t> lastPrices;
  std::vector<__int128> priceSums;
  std::vector<char> isCheaperOffloaded;
};

} // namespace gpuopt::planning

#endif // GPUOPT_LIB_PLANNING_RECOMPUTE_TIMEEXPANDEDCUT_H
