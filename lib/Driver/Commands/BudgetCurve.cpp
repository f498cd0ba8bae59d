//===- BudgetCurve.cpp - What budgets cost a run's program ----------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands/BudgetCurve.h"

#include "Build/BuildCache.h"
#include "Files/JoinPath.h"
#include "gpuopt/Planning/Bytes.h"
#include "gpuopt/Support/WriteFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace gpuopt;

BudgetCurve::BudgetCurve(const RunPlanner &planner) : planner(planner) {
  std::string cache = buildCacheFolder("");
  if (sys::path::is_absolute(cache)) // else there is no place for a cache
    file = joinPath(joinPath(cache, "curves"), planner.key() + ".json");
}

/// Takes the points that were kept. What is wrong with the file does not
/// matter: they are planned again.
void BudgetCurve::load() {
  if (file.empty() || !sys::fs::exists(file))
    return;
  Expected<json::Value> value = readJson(file);
  if (!value)
    return consumeError(value.takeError());
  const json::Object *kept = value->getAsObject();
  const json::Array *list = kept ? kept->getArray("points") : nullptr;
  if (!list)
    return;
  top = kept->getInteger("top_bytes").value_or(0);
  arena = kept->getInteger("arena_bytes").value_or(0);
  unmet = kept->getInteger("unmet_bytes").value_or(0);
  for (const json::Value &each : *list)
    if (const json::Object *point = each.getAsObject())
      points.push_back({point->getInteger("budget_bytes").value_or(0),
                        point->getInteger("total_bytes").value_or(0),
                        point->getNumber("added_percent").value_or(0),
                        point->getNumber("lower_bound_percent").value_or(0)});
}

/// Keeps the points for the next time. Without them it only takes longer, so
/// it does not matter if they cannot be written.
void BudgetCurve::keep() const {
  if (file.empty() || !isNew ||
      sys::fs::create_directories(sys::path::parent_path(file)))
    return;
  json::Array list;
  for (const Point &point : points)
    list.push_back(json::Object{{"budget_bytes", point.budget},
                                {"total_bytes", point.total},
                                {"added_percent", point.added},
                                {"lower_bound_percent", point.bound}});
  json::Object kept{{"top_bytes", top},
                    {"arena_bytes", arena},
                    {"unmet_bytes", unmet},
                    {"points", std::move(list)}};
  consumeError(
      writeFile(file, formatv("{0}\n", json::Value(std::move(kept))).str()));
}

Error BudgetCurve::planWithoutBudget() {
  Expected<json::Object> plain =
      planner.plan({"--memory-budget", "--activation-budget", "--allow-offload",
                    "--offload-bandwidth"});
  if (!plain)
    return plain.takeError();
  const json::Object *memory = plain->getObject("memory");
  top = memory ? memory->getInteger("total_bytes").value_or(0) : 0;
  arena = memory ? memory->getInteger("arena_bytes").value_or(0) : 0;
  points.push_back({top, top, 0, 0});
  isNew = true;
  return Error::success();
}

/// Plans within a budget that may be met. Returns false if there is no time.
bool BudgetCurve::plan(int64_t budget) {
  Expected<json::Object> plan =
      planner.plan({"--memory-budget=" + std::to_string(budget) + "B",
                    "--activation-budget"});
  if (!plan) {
    std::string problem = toString(plan.takeError());
    if (planner.isOver())
      return false;
    failed.push_back(planning::formatBytes(budget) + ": " + problem);
    return true;
  }
  isNew = true;
  const json::Object *memory = plan->getObject("memory");
  if (!plan->getBoolean("fits").value_or(false) || !memory) {
    int64_t limit = plan->getInteger("lower_limit_bytes").value_or(0);
    unmet = std::max({unmet, budget, limit - 1});
    return true;
  }
  points.push_back({budget, memory->getInteger("total_bytes").value_or(0),
                    memory->getNumber("added_percent").value_or(0),
                    memory->getNumber("lower_bound_percent").value_or(0)});
  return true;
}

bool BudgetCurve::isKnown(int64_t budget) const {
  return budget <= unmet || any_of(points, [&](const Point &point) {
           return point.budget == budget;
         });
}

Expected<json::Array> BudgetCurve::plan() {
  // Eighths of the arena that a step has without a budget.
  constexpr int kEighths[] = {4, 2, 6, 1, 3, 5, 7};
  load();
  if (top == 0)
    if (Error error = planWithoutBudget())
      return error;
  for (int eighths : kEighths) {
    int64_t budget = top - arena + arena * eighths / 8;
    if (!isKnown(budget) && (left > 0 || !plan(budget)))
      ++left;
  }
  keep();
  return toJson();
}

/// A budget takes the plan of a smaller one that costs less: it fits as well.
json::Array BudgetCurve::toJson() {
  llvm::sort(points, [](const Point &a, const Point &b) {
    return a.budget < b.budget;
  });
  for (size_t i = 1; i < points.size(); ++i)
    if (points[i].added > points[i - 1].added) {
      points[i].added = points[i - 1].added;
      points[i].total = points[i - 1].total;
    }
  // What a budget puts into half precision decides its bound.
  for (Point &point : points)
    point.bound = std::min(point.bound, point.added);
  json::Array curve;
  for (const Point &point : llvm::reverse(points))
    curve.push_back(json::Object{{"budget_bytes", point.budget},
                                 {"total_bytes", point.total},
                                 {"added_percent", point.added},
                                 {"lower_bound_percent", point.bound}});
  return curve;
}
