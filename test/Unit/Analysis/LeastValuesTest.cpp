// The least values of expressions as denominators have them.

#include "gpuopt/Analysis/Kernels/LeastValues.h"
#include "gpuopt/Dialect/NN/IR/NNDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"
#include <limits>

using namespace mlir;
using namespace gpuopt;

namespace {

constexpr double kNothing = -std::numeric_limits<double>::infinity();

class LeastValuesTest : public testing::Test {
protected:
  LeastValuesTest() {
    context.loadDialect<nn::NNDialect, arith::ArithDialect, math::MathDialect,
                        func::FuncDialect>();
  }

  /// Returns the last value of a function over %x and %y, tensors of 2x4
  /// floats, and %c, as many conditions.
  Value parse(StringRef body) {
    std::string text = "func.func @f(%x: tensor<2x4xf32>, %y: tensor<2x4xf32>, "
                       "%c: tensor<2x4xi1>) {\n" +
                       body.str() + "\nreturn }";
    module = parseSourceString<ModuleOp>(text, &context);
    if (!module)
      return nullptr;
    func::FuncOp function = *module->getOps<func::FuncOp>().begin();
    return std::prev(function.getBody().front().end(), 2)->getResult(0);
  }

  double leastOf(StringRef body) {
    Value value = parse(body);
    EXPECT_TRUE(value);
    return value ? leastValueOf(value) : 0;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

TEST_F(LeastValuesTest, KnowsNothingOfArguments) {
  EXPECT_EQ(leastOf("%0 = arith.addf %x, %y : tensor<2x4xf32>"), kNothing);
  EXPECT_EQ(leastOf("%0 = arith.mulf %x, %y : tensor<2x4xf32>"), kNothing);
  EXPECT_EQ(leastOf("%0 = arith.subf %x, %x : tensor<2x4xf32>"), kNothing);
  EXPECT_EQ(leastOf("%0 = arith.divf %x, %y : tensor<2x4xf32>"), kNothing);
  EXPECT_EQ(leastOf("%0 = arith.minimumf %x, %y : tensor<2x4xf32>"), kNothing);
}

TEST_F(LeastValuesTest, FollowsArithmetic) {
  // The denominator of a sigmoid.
  EXPECT_EQ(leastOf("%e = math.exp %x : tensor<2x4xf32>\n"
                    "%one = arith.constant dense<1.0> : tensor<2x4xf32>\n"
                    "%0 = arith.addf %e, %one : tensor<2x4xf32>"),
            1);
  // The denominator of a norm: the root of a square and of what is added.
  EXPECT_EQ(leastOf("%s = arith.mulf %x, %x : tensor<2x4xf32>\n"
                    "%quarter = arith.constant dense<0.25> : tensor<2x4xf32>\n"
                    "%v = arith.addf %s, %quarter : tensor<2x4xf32>\n"
                    "%0 = math.sqrt %v : tensor<2x4xf32>"),
            0.5);
  EXPECT_EQ(leastOf("%a = math.absf %x : tensor<2x4xf32>\n"
                    "%three = arith.constant dense<3.0> : tensor<2x4xf32>\n"
                    "%0 = arith.maximumf %a, %three : tensor<2x4xf32>"),
            3);
  // A quotient of what is not negative is not negative either, and no more is
  // known of it: the divisor may be large.
  EXPECT_EQ(leastOf("%e = math.exp %x : tensor<2x4xf32>\n"
                    "%three = arith.constant dense<3.0> : tensor<2x4xf32>\n"
                    "%0 = arith.divf %three, %e : tensor<2x4xf32>"),
            0);
}

TEST_F(LeastValuesTest, TakesTheSmallerOfTwoChoices) {
  const StringRef both =
      "%two = arith.constant dense<2.0> : tensor<2x4xf32>\n"
      "%three = arith.constant dense<3.0> : tensor<2x4xf32>\n";
  EXPECT_EQ(leastOf(both.str() + "%0 = arith.select %c, %three, %two : "
                                 "tensor<2x4xi1>, tensor<2x4xf32>"),
            2);
  EXPECT_EQ(leastOf(both.str() + "%0 = arith.select %c, %two, %x : "
                                 "tensor<2x4xi1>, tensor<2x4xf32>"),
            kNothing);
}

/// The sum over a row of exp(x - `shift`), with the maximum as %m.
std::string sumOfExp(StringRef shift) {
  return ("%max = nn.reduce max %x [1] : tensor<2x4xf32>\n"
          "%m = nn.broadcast %max : tensor<2x1xf32> to tensor<2x4xf32>\n"
          "%d = arith.subf %x, " +
          shift +
          " : tensor<2x4xf32>\n"
          "%e = math.exp %d : tensor<2x4xf32>\n"
          "%0 = nn.reduce sum %e [1] : tensor<2x4xf32>")
      .str();
}

TEST_F(LeastValuesTest, KnowsTheDenominatorOfASoftmax) {
  // The largest element of a row adds exp(0).
  EXPECT_EQ(leastOf(sumOfExp("%m")), 1);
  // Shifted by anything else, all terms may be tiny.
  EXPECT_EQ(leastOf(sumOfExp("%y")), 0);
}

TEST_F(LeastValuesTest, DividesByWhatIsFarFromZero) {
  auto divides = [&](StringRef divisor) {
    Value value = parse("%d = arith.constant dense<" + divisor.str() +
                        "> : tensor<2x4xf32>\n"
                        "%0 = arith.divf %x, %d : tensor<2x4xf32>");
    return dividesByNormalNumber(value.getDefiningOp<arith::DivFOp>());
  };
  EXPECT_TRUE(divides("1.0e-30"));
  EXPECT_FALSE(divides("1.0e-31")); // 2^-100 is 7.9e-31
  EXPECT_FALSE(divides("-1.0"));
}

} // namespace
