//===- Bundle.cpp - Maximises a concave function over prices --------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Recompute/Bound/Bundle.h"

#include <algorithm>
#include <cmath>

using namespace gpuopt::planning;

static constexpr size_t mostPlanes = 120;

static double dot(const std::vector<double> &a, const std::vector<double> &b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i)
    sum += a[i] * b[i];
  return sum;
}

double Bundle::heightAt(const Plane &plane,
                        const std::vector<double> &point) const {
  double height = plane.atCenter;
  for (size_t i = 0; i < point.size(); ++i)
    height += plane.slope[i] * (point[i] - center[i]);
  return height;
}

void Bundle::moveTo(const std::vector<double> &point) {
  for (Plane &plane : planes)
    plane.atCenter = heightAt(plane, point);
  center = point;
}

void Bundle::add(const std::vector<double> &point, double value,
                 const std::vector<std::vector<double>> &slopes) {
  double gained = value - centerValue;
  if (!hasCenter) {
    double length = dot(slopes[0], slopes[0]);
    step = length > 0 ? firstReach / length : 1;
  }
  if (!hasCenter || gained > 0.1 * predicted) { // a serious step
    if (hasCenter && gained > 0.5 * predicted)
      step *= 2;
    moveTo(point);
    centerValue = value;
    hasCenter = true;
    nullSteps = 0;
  } else if (++nullSteps % 6 == 0) {
    step /= 2;
  }
  for (const std::vector<double> &slope : slopes) {
    Plane plane{value, slope};
    for (size_t i = 0; i < point.size(); ++i)
      plane.atCenter += slope[i] * (center[i] - point[i]);
    planes.push_back(std::move(plane));
  }
  if (planes.size() == slopes.size())
    planes[0].weight = 1;
  forgetPlanes();
}

/// Removes the oldest planes without weight.
void Bundle::forgetPlanes() {
  for (size_t i = 0; planes.size() > mostPlanes && i + 2 < planes.size();)
    if (planes[i].weight <= 0)
      planes.erase(planes.begin() + i);
    else
      ++i;
}

std::vector<double> Bundle::pointOf(const std::vector<double> &mean) const {
  std::vector<double> point(center.size());
  for (size_t i = 0; i < point.size(); ++i)
    point[i] = std::max(0., center[i] + step * mean[i]);
  return point;
}

/// Solves the dual problem: finds the weights of the planes that minimise the
/// height reached. Weight moves from the highest plane in use to the lowest.
/// The step is exact if no price is at 0, and short otherwise.
void Bundle::solveMaster() {
  size_t n = planes.size();
  std::vector<double> mean(center.size(), 0), height(n);
  for (const Plane &plane : planes)
    for (size_t k = 0; k < mean.size(); ++k)
      mean[k] += plane.weight * plane.slope[k];
  for (int round = 0; round < 1000; ++round) {
    trial = pointOf(mean);
    size_t low = 0, high = n;
    for (size_t i = 0; i < n; ++i) {
      height[i] = heightAt(planes[i], trial);
      if (height[i] < height[low])
        low = i;
      if (planes[i].weight > 0 && (high == n || height[i] > height[high]))
        high = i;
    }
    double gap = height[high] - height[low], length = 0;
    predicted = height[low] - centerValue;
    if (gap <= 0.003 * std::abs(predicted) || gap <= 0)
      return;
    for (size_t k = 0; k < mean.size(); ++k) {
      double difference = planes[low].slope[k] - planes[high].slope[k];
      length += difference * difference;
    }
    double moved = planes[high].weight;
    if (length > 0)
      moved = std::min(moved, gap / (step * length));
    planes[low].weight += moved;
    planes[high].weight -= moved;
    for (size_t k = 0; k < mean.size(); ++k)
      mean[k] += moved * (planes[low].slope[k] - planes[high].slope[k]);
  }
}

std::vector<double> Bundle::next(double tolerance) {
  solveMaster();
  for (int looks = 0; predicted <= tolerance; ++looks) {
    if (looks == 8)
      return {};
    step *= 8; // nothing to gain near the center
    solveMaster();
  }
  return trial;
}
