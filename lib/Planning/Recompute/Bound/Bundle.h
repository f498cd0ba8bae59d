//===- Bundle.h - Maximises a concave function over prices ------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_PLANNING_RECOMPUTE_BUNDLE_H
#define GPUOPT_LIB_PLANNING_RECOMPUTE_BUNDLE_H

#include <vector>

namespace gpuopt::planning {

/// A proximal bundle method (Lemaréchal 1978; Kiwiel 1990) for a concave
/// function of prices >= 0. Every value with its slope defines a plane above
/// the function. The next prices maximise the lowest plane, minus the squared
/// distance to the best prices so far. Deterministic.
class Bundle {
public:
  /// `firstReach` is the expected gain of the first step.
  Bundle(std::vector<double> start, double firstReach)
      : center(std::move(start)), firstReach(firstReach) {}

  /// Adds the function's value at `point`, and one or more slopes there.
  void add(const std::vector<double> &point, double value,
           const std::vector<std::vector<double>> &slopes);

  /// Returns the next prices to try; empty if nothing can be gained.
  std::vector<double> next(double tolerance);

private:
  struct Plane {
    double atCenter; ///< The plane's height at the center.
    std::vector<double> slope;
    double weight = 0; ///< In the master problem's dual.
  };
  double heightAt(const Plane &plane, const std::vector<double> &point) const;
  void solveMaster();
  void moveTo(const std::vector<double> &point);
  void forgetPlanes();
  std::vector<double> pointOf(const std::vector<double> &mean) const;

  std::vector<double> center, trial;
  std::vector<Plane> planes;
  double firstReach, step = 0, centerValue = 0, predicted = 0;
  int nullSteps = 0;
  bool hasCenter = false;
};

} // namespace gpuopt::planning

#endif // GPUOPT_LIB_PLANNING_RECOMPUTE_BUNDLE_H
