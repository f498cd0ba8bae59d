//===- PlanFile.cpp - Reads and writes plans ------------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Files.h"
#include "WholeNumber.h"

#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace gpuopt;
using namespace gpuopt::solve;
using namespace gpuopt::planning;
namespace json = llvm::json;

/// More flows than this go into a binary file beside the plan.
static constexpr size_t mostFlowsInText = 200'000;

static std::string flowPath(llvm::StringRef path) {
  return (path + ".flow").str();
}

static MaybeError writeFlows(llvm::StringRef path,
                             const std::vector<Certificate::Flow> &flows) {
  std::vector<int64_t> numbers;
  for (const Certificate::Flow &f : flows)
    numbers.insert(numbers.end(),
                   {f.kind, f.op, f.timePoint, f.other, f.amount});
  return writeFile(path, {reinterpret_cast<const char *>(numbers.data()),
                          numbers.size() * sizeof(int64_t)});
}

MaybeError solve::writePlan(llvm::StringRef path, const PlanFile &plan) {
  const Certificate &certificate = plan.certificate;
  bool isBinary = path != "-" && certificate.flows.size() > mostFlowsInText;
  if (isBinary)
    if (MaybeError error = writeFlows(flowPath(path), certificate.flows))
      return error;
  return writeFile(path, printPlan(plan, /*withFlows=*/!isBinary));
}

/// Integers of an array, or an error that names it.
static Result<std::vector<int64_t>> integers(const json::Object &object,
                                             llvm::StringRef key) {
  const json::Array *array = object.getArray(key);
  if (!array)
    return Error{"expects the array '" + key.str() + "'"};
  std::vector<int64_t> result;
  for (const json::Value &value : *array) {
    std::optional<int64_t> number = wholeNumber(value);
    if (!number)
      return Error{"expects integers in '" + key.str() + "'"};
    result.push_back(*number);
  }
  return result;
}

static bool fitsInt(int64_t value) {
  return value >= INT32_MIN && value <= INT32_MAX;
}

static MaybeError appendFlow(llvm::ArrayRef<int64_t> numbers,
                             Certificate &certificate) {
  for (int64_t number : numbers.drop_back())
    if (!fitsInt(number))
      return Error{"expects 32-bit indices in 'flows'"};
  certificate.flows.push_back({int(numbers[0]), int(numbers[1]),
                               int(numbers[2]), int(numbers[3]), numbers[4]});
  return std::nullopt;
}

static MaybeError readBinaryFlows(llvm::StringRef path, int64_t count,
                                  Certificate &certificate) {
  Result<std::string> contents = readFile(path);
  if (!contents)
    return contents.error();
  if (count < 0 || contents->size() / 40 != size_t(count) ||
      contents->size() % 40 != 0)
    return Error{"expects " + std::to_string(count) + " flows in '" +
                 path.str() + "'"};
  for (int64_t i = 0; i < count; ++i) {
    int64_t numbers[5];
    memcpy(numbers, contents->data() + 40 * i, 40);
    if (MaybeError error = appendFlow(numbers, certificate))
      return error;
  }
  return std::nullopt;
}

static MaybeError readCertificate(const json::Object &object,
                                  llvm::StringRef path,
                                  Certificate &certificate) {
  if (object.getString("order") != llvm::StringRef("fixed"))
    return Error{"expects 'order' to be 'fixed': no other is proven"};
  Result<std::vector<int64_t>> timePoints = integers(object, "time_points");
  Result<std::vector<int64_t>> prices = integers(object, "prices");
  if (!timePoints || !prices)
    return timePoints ? prices.error() : timePoints.error();
  for (int64_t timePoint : *timePoints) {
    if (!fitsInt(timePoint))
      return Error{"expects 32-bit indices in 'time_points'"};
    certificate.timePoints.push_back(timePoint);
  }
  certificate.prices = *prices;
  int64_t costShift = wholeNumber(object, "cost_shift").value_or(INT64_MAX);
  int64_t priceShift = wholeNumber(object, "price_shift").value_or(INT64_MAX);
  if (!fitsInt(costShift) || !fitsInt(priceShift))
    return Error{"expects 'cost_shift' and 'price_shift'"};
  certificate.costShift = costShift;
  certificate.priceShift = priceShift;
  std::optional<int64_t> count = wholeNumber(object, "flow_count");
  if (count && !path.empty())
    return readBinaryFlows(flowPath(path), *count, certificate);
  const json::Array *flows = object.getArray("flows");
  if (!flows)
    return Error{"expects the array 'flows'"};
  for (const json::Value &flow : *flows) {
    llvm::SmallVector<int64_t, 5> numbers;
    if (const json::Array *array = flow.getAsArray())
      for (const json::Value &number : *array)
        numbers.push_back(wholeNumber(number).value_or(INT64_MIN));
    if (numbers.size() != 5)
      return Error{"expects five integers per flow"};
    if (MaybeError error = appendFlow(numbers, certificate))
      return error;
  }
  return std::nullopt;
}

/// An op, or {"reload": op}.
static Result<int> readExecution(const json::Value &value) {
  const json::Object *reload = value.getAsObject();
  std::optional<int64_t> op =
      reload ? wholeNumber(*reload, "reload") : wholeNumber(value);
  if (!op)
    return Error{"expects ops and reloads of ops in 'schedule'"};
  if (!fitsInt(*op) || *op < 0)
    return Error{"expects 31-bit indices in 'schedule'"};
  return reload ? reloadOf(int(*op)) : int(*op);
}

/// `path` is empty for text in memory.
static Result<PlanFile> parsePlan(const json::Value &root,
                                  llvm::StringRef path) {
  const json::Object *object = root.getAsObject();
  if (!object)
    return Error{"expects an object"};
  const json::Array *schedule = object->getArray("schedule");
  if (!schedule)
    return Error{"expects the array 'schedule'"};
  PlanFile plan;
  for (const json::Value &value : *schedule) {
    Result<int> entry = readExecution(value);
    if (!entry)
      return entry.error();
    plan.schedule.push_back(*entry);
  }
  std::optional<int64_t> budget = wholeNumber(*object, "budget_bytes");
  if (!budget)
    return Error{"expects the integer 'budget_bytes'"};
  plan.budgetInBytes = *budget;
  plan.peakInBytes = wholeNumber(*object, "peak_bytes").value_or(-1);
  plan.addedPercent = object->getNumber("added_percent").value_or(NAN);
  plan.lowerBoundPercent =
      object->getNumber("lower_bound_percent").value_or(NAN);
  if (const json::Object *certificate = object->getObject("certificate"))
    if (MaybeError error =
            readCertificate(*certificate, path, plan.certificate))
      return *error;
  return plan;
}

Result<PlanFile> solve::readPlan(llvm::StringRef path) {
  Result<json::Value> root = readJson(path);
  if (!root)
    return root.error();
  Result<PlanFile> plan = ::parsePlan(*root, path);
  if (!plan)
    return Error{"'" + path.str() + "': " + plan.error().message};
  return plan;
}

Result<PlanFile> solve::parsePlan(llvm::StringRef text) {
  Result<json::Value> root = parseJson(text);
  return root ? ::parsePlan(*root, "") : root.error();
}
