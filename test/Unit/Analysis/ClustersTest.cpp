// Random steps are clustered, and must come out as steps: a cycle of clusters
// has no order, and an order that is wrong puts a use before its definition,
// which MLIR's verifier refuses.

#include "gpuopt/Analysis/Kernels/Clusters.h"
#include "gpuopt/Dialect/Train/IR/TrainDialect.h"
#include "gpuopt/Pipelines/RegisterAll.h"
#include "gpuopt/Transforms/Kernels/Passes.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "gtest/gtest.h"
#include <random>

using namespace mlir;
using namespace gpuopt;

namespace {

/// Writes a step of random ops over 8x8 and 4x8 tensors as text. Products,
/// views and joins divide the elementwise work and the reductions into kernels
/// that depend on each other in many ways.
class RandomStep {
public:
  RandomStep(unsigned seed, unsigned numOps) : random(seed) {
    text = "train.step @step forward (\"y\" %y: tensor<4x8xf32>";
    half.push_back("%y");
    for (unsigned input = 0; input < 6; ++input) {
      full.push_back("%x" + std::to_string(input));
      text += ", \"x" + std::to_string(input) + "\" " + full.back() +
              ": tensor<8x8xf32>";
    }
    text += ") {\n";
    for (unsigned op = 0; op < numOps; ++op)
      addOp();
    for (unsigned i = 0; i < full.size(); i += 3)
      text += "  train.output \"o" + std::to_string(i) + "\", " + full[i] +
              " : tensor<8x8xf32>\n";
    text += "}\n";
  }

  std::string text;

private:
  unsigned below(unsigned n) { return random() % n; }
  /// A recent value, so that chains arise, one of the inputs, which kernels
  /// share, or any.
  std::string one(const std::vector<std::string> &values) {
    unsigned near = std::min<size_t>(values.size(), 6);
    switch (below(3)) {
    case 0:
      return values[values.size() - 1 - below(near)];
    case 1:
      return values[below(near)];
    default:
      return values[below(values.size())];
    }
  }
  std::string define(const std::string &op) {
    std::string name = "%v" + std::to_string(numNames++);
    text += "  " + name + " = " + op + "\n";
    return name;
  }

  void addOp() {
    const std::string type = " : tensor<8x8xf32>";
    std::string a = one(full), b = one(full);
    switch (below(12)) {
    case 0:
      full.push_back(define("nn.contract \"ik,kj->ij\" " + a + ", " + b + type +
                            ", tensor<8x8xf32>"));
      return;
    case 1:
      full.push_back(define("nn.transpose " + a + " [1, 0]" + type));
      return;
    case 2:
      full.push_back(define("math.tanh " + a + type));
      return;
    case 3:
      full.push_back(spread(a, below(2)));
      return;
    case 4:
    case 5:
      half.push_back(define("nn.slice " + a +
                            (below(2) ? " [0, 0]" : " [4, 0]") +
                            " [4, 8] [1, 1]" + type));
      return;
    case 6:
      full.push_back(define("nn.concat " + one(half) + ", " + one(half) +
                            " dim 0 : tensor<4x8xf32>, tensor<4x8xf32>"));
      return;
    case 7:
    case 8:
      half.push_back(define("arith.addf " + one(half) + ", " + one(half) +
                            " : tensor<4x8xf32>"));
      return;
    default:
      full.push_back(define((below(2) ? "arith.addf " : "arith.mulf ") + a +
                            ", " + b + type));
    }
  }

  /// Sums over rows or columns, repeated to the full shape.
  std::string spread(const std::string &value, bool rows) {
    std::string sum = define("nn.reduce sum " + value +
                             (rows ? " [1]" : " [0]") + " : tensor<8x8xf32>");
    return define("nn.broadcast " + sum + " : " +
                  (rows ? "tensor<8x1xf32>" : "tensor<1x8xf32>") +
                  " to tensor<8x8xf32>");
  }

  std::mt19937 random;
  std::vector<std::string> full, half; ///< Values of either shape.
  unsigned numNames = 0;
};

class ClustersTest : public testing::Test {
protected:
  ClustersTest() {
    DialectRegistry registry;
    registerAllDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  OwningOpRef<ModuleOp> parse(const std::string &text) {
    return parseSourceString<ModuleOp>(text, &context);
  }

  MLIRContext context;
};

TEST_F(ClustersTest, RandomStepsKeepAnOrder) {
  unsigned numValues = 0, numClusters = 0;
  for (unsigned seed = 0; seed < 2000; ++seed) {
    RandomStep step(seed, 4 + seed % 60);
    OwningOpRef<ModuleOp> module = parse(step.text);
    ASSERT_TRUE(module) << step.text;
    train::StepOp op = *module->getOps<train::StepOp>().begin();
    Clustering clustering = findClusters(op.getBody().front());
    numClusters += clustering.clusters.size();
    numValues += clustering.clusterOf.size();
    PassManager passes(&context);
    passes.addPass(kernels::createFormClusters());
    ASSERT_TRUE(succeeded(passes.run(*module))) << step.text;
  }
  // Otherwise no cluster could have closed a cycle.
  EXPECT_GT(numValues, numClusters + 2000);
}

} // namespace
