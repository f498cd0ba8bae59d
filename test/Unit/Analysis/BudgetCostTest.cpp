// What a memory budget costs a step: what its schedules compute again, and
// other kernels.

#include "gpuopt/Dialect/Train/IR/BudgetCost.h"
#include "gpuopt/Analysis/Costs/StepEstimate.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace gpuopt;

namespace {

/// Returns a step of this kind whose schedule adds so many nanoseconds.
std::string stepOf(const std::string &kind, const std::string &added) {
  return "train.step @" + kind + " " + kind +
         " () attributes {train.plan = #train.plan<arenaBytes = 512, "
         "plainArenaBytes = 1024, repeats = 1, plainNanoseconds = 500.0 : f64, "
         "addedNanoseconds = " +
         added + " : f64, lowerBoundNanoseconds = 40.0 : f64>} {\n}\n";
}

TEST(BudgetCostTest, AStepRepeatsTheWorkOfAllItsRuns) {
  MLIRContext context;
  context.loadDialect<train::TrainDialect>();
  auto module = parseSourceString<ModuleOp>(stepOf("micro", "100.0") +
                                                stepOf("update", "5.0") +
                                                stepOf("forward", "1000.0"),
                                            &context);
  ASSERT_TRUE(module);
  EXPECT_EQ(nanosecondsOfRepeats(*module, 1), 105);
  EXPECT_EQ(nanosecondsOfRepeats(*module, 4), 405);
}

TEST(BudgetCostTest, PercentsAreOfTheStepWithoutABudget) {
  MLIRContext context;
  context.loadDialect<train::TrainDialect>();
  auto module = parseSourceString<ModuleOp>(stepOf("micro", "100.0"), &context);
  ASSERT_TRUE(module);
  train::TrainDialect::PlanAttrHelper plans(&context);
  train::PlanAttr plan =
      plans.getAttr(*module->getOps<train::StepOp>().begin());
  // Other kernels take 30 of the 130.
  train::BudgetCost cost = train::budgetCostOf(plan, 430, 400);
  EXPECT_EQ(cost.added, 130);
  EXPECT_EQ(cost.percentOf(cost.added), 32.5);
  EXPECT_EQ(cost.percentOf(cost.recompute), 25);
  EXPECT_EQ(cost.percentOf(cost.lowerBound), 10);
  cost = train::budgetCostOf(nullptr, 430, 400);
  EXPECT_EQ(cost.added, 30);
  EXPECT_EQ(cost.recompute, 0);
  EXPECT_EQ(train::BudgetCost().percentOf(0), 0); // of no time
}

} // namespace
