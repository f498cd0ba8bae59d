// What attention takes depends on the kernels that a device runs. Times are
// compared with those of steps on an H200 (docs/benchmarks.md, "Training on a
// GPU"), whose kernels for warps were timed before it had those for
// warpgroups.

#include "gpuopt/Analysis/Costs/AttentionCost.h"
#include "gpuopt/Analysis/Costs/CostModel.h"
#include "gpuopt/Dialect/NN/IR/AttentionScores.h"
#include "gpuopt/Pipelines/RegisterAll.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"
#include <cmath>
#include <set>

using namespace mlir;
using namespace gpuopt;

namespace {

DeviceModel deviceOf(StringRef name) {
  return llvm::cantFail(loadDeviceModel(name));
}

/// Returns an H200 that has no kernels for warpgroups.
DeviceModel h200ByWarps() {
  DeviceModel device = deviceOf("h200");
  device.computeCapability = 8.0;
  return device;
}

/// An attention whose queries, keys and values have the same sizes.
struct Sizes {
  int64_t batch = 64, heads = 12, tokens = 128, head = 64;
  std::string type = "f16", options = "";
  /// The type of a mask, which is an operand if this is not empty.
  std::string mask = "";
};

class AttentionCostTest : public testing::Test {
protected:
  AttentionCostTest() : context(registry()) {}

  static DialectRegistry registry() {
    DialectRegistry registry;
    registerAllDialects(registry);
    return registry;
  }

  /// Returns the op between a step's inputs and its end.
  Operation *parse(const Sizes &sizes, const std::string &op,
                   const std::string &otherTypes) {
    auto tensor = [&](const std::string &rest) {
      return "tensor<" + std::to_string(sizes.batch) + "x" +
             std::to_string(sizes.heads) + "x" + std::to_string(sizes.tokens) +
             rest + ">";
    };
    const std::string x =
        tensor("x" + std::to_string(sizes.head) + "x" + sizes.type);
    const std::string s = "tensor<2x" + tensor("xf32").substr(7);
    std::string types = x + ", " + x + ", " + x;
    if (!otherTypes.empty())
      types += ", " + x + ", " + s + ", " + x;
    std::string inputs = "\"q\" %q: " + x + ", \"s\" %s: " + s, mask;
    if (!sizes.mask.empty()) {
      inputs += ", \"m\" %m: " + sizes.mask;
      types += ", " + sizes.mask;
      mask = " mask %m";
    }
    module = parseSourceString<ModuleOp>(
        "train.step @step forward (" + inputs + ") {\n" + op + mask +
            " scale 0.125" + sizes.options + " : " + types + "\n}\n",
        &context);
    Operation *found = nullptr;
    if (module)
      module->walk([&](Operation *inner) {
        if (isa<nn::AttentionOp, nn::AttentionGradOp>(inner))
          found = inner;
      });
    return found;
  }
  Operation *forward(const Sizes &sizes) {
    return parse(sizes, "%y, %t = nn.attention %q, %q, %q", "");
  }
  Operation *backward(const Sizes &sizes) {
    return parse(sizes,
                 "%dq, %dk, %dv = nn.attention_grad %q, %q, %q, %q, %s, %q",
                 "gradient");
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

const Sizes kGpt2{64, 12, 1024, 64, "f16", " band [-1023, 0]"},
    kVit{128, 12, 197},
    kBert{64, 12, 128, 64, "f16", "", "tensor<64x1x1x128xf32>"};

TEST_F(AttentionCostTest, DevicesHaveOtherKernels) {
  auto threads = [&](Operation *op, const std::string &device) {
    return attentionThreadsOf(op, deviceOf(device));
  };
  Operation *op = backward(kGpt2);
  ASSERT_TRUE(op);
  for (const char *device : {"h200", "h100"})
    EXPECT_EQ(threads(op, device), AttentionThreads::Warpgroups) << device;
  for (const char *device : {"a100", "4090"})
    EXPECT_EQ(threads(op, device), AttentionThreads::Warps) << device;
}

// As kHasWarpgroupKernels of attention_warpgroups_cuda.h says.
TEST_F(AttentionCostTest, WarpgroupsComputeSomeAttentions) {
  auto threads = [&](Operation *op) {
    EXPECT_TRUE(op);
    return op ? attentionThreadsOf(op, deviceOf("h200"))
              : AttentionThreads::Warps;
  };
  auto isByWarpgroups = [&](const Sizes &sizes) {
    return threads(backward(sizes)) == AttentionThreads::Warpgroups;
  };
  EXPECT_TRUE(isByWarpgroups(kVit));
  EXPECT_TRUE(isByWarpgroups(kBert));
  EXPECT_TRUE(isByWarpgroups({.head = 32, .type = "bf16"}));
  EXPECT_FALSE(isByWarpgroups({.type = "f32"}));
  EXPECT_FALSE(isByWarpgroups({.head = 128}));
  EXPECT_FALSE(isByWarpgroups({.head = 20})); // rows of 40 bytes
  EXPECT_FALSE(isByWarpgroups({.options = " softcap 30.0"}));
  EXPECT_FALSE(isByWarpgroups({.mask = "tensor<64x1x1x128xi1>"}));
  EXPECT_FALSE( // whose rows are no pairs
      isByWarpgroups({.tokens = 197, .mask = "tensor<64x1x197x197xf32>"}));
  EXPECT_EQ(threads(forward(kVit)), AttentionThreads::Warpgroups);
  EXPECT_EQ(threads(forward({.head = 128})), AttentionThreads::Warps);
}

TEST_F(AttentionCostTest, EstimatesAreThoseOfTheKernelsThatRun) {
  auto expectTimes = [&](const Sizes &sizes, double byWarpgroups,
                         double byWarps) {
    Operation *op = backward(sizes);
    ASSERT_TRUE(op);
    auto ofStep = [&](const DeviceModel &device) { // of 12 layers, in ms
      return 12e-6 * timeInNanoseconds(op, device);
    };
    EXPECT_NEAR(ofStep(deviceOf("h200")), byWarpgroups, 0.15 * byWarpgroups);
    EXPECT_NEAR(ofStep(h200ByWarps()), byWarps, 0.15 * byWarps);
  };
  expectTimes(kGpt2, 15.36, 22.4);
  expectTimes(kVit, 3.82, 4.6);
  expectTimes(kBert, 1.21, 1.36);
}

// What one forward took alone, in ms.
TEST_F(AttentionCostTest, ForwardsAreThoseOfTheKernelsThatRun) {
  auto expectTime = [&](const Sizes &sizes, const DeviceModel &device,
                        double alone) {
    Operation *op = forward(sizes);
    ASSERT_TRUE(op);
    EXPECT_NEAR(1e-6 * timeInNanoseconds(op, device), alone, 0.15 * alone);
  };
  expectTime(kGpt2, deviceOf("h200"), 0.333);
  expectTime(kVit, deviceOf("h200"), 0.0986);
  expectTime(kBert, deviceOf("h200"), 0.0286);
  expectTime(kGpt2, h200ByWarps(), 0.474);
  expectTime(kBert, h200ByWarps(), 0.0369);
}

TEST_F(AttentionCostTest, LanesMultiplyFloats) {
  Sizes sizes = kGpt2;
  sizes.type = "f32";
  auto expectTime = [&](Operation *op, double ofStep) { // of 12 layers, in ms
    ASSERT_TRUE(op);
    EXPECT_NEAR(12e-6 * timeInNanoseconds(op, deviceOf("h200")), ofStep,
                0.15 * ofStep);
    EXPECT_FALSE(workOf(op, deviceOf("h200")).onMatrixUnits);
  };
  expectTime(forward(sizes), 48.7);
  expectTime(backward(sizes), 214.8);
}

// The same, where matrix units multiply in TF32: at half the rate of f16, and
// with the instructions that nvcc makes for a tile, of 528 tiles of 32 x 32 for
// each head.
TEST_F(AttentionCostTest, MatrixUnitsMultiplyInTf32) {
  Sizes sizes = kGpt2;
  sizes.type = "f32";
  const DeviceModel device = llvm::cantFail(
      loadDeviceModel("h200", /*profileCosts=*/"", /*allowsTf32=*/true));
  auto expectWork = [&](Operation *op, double instructions, double share) {
    ASSERT_TRUE(op);
    const OpWork work = workOf(op, device);
    const double pairs = 64 * 12 * 528 * 32. * 32;
    EXPECT_TRUE(work.onMatrixUnits);
    EXPECT_TRUE(work.multipliesByWarps);
    EXPECT_DOUBLE_EQ(work.laneInstructions, pairs * instructions);
    const double before = timeInNanoseconds(op, deviceOf("h200"));
    EXPECT_LT(timeInNanoseconds(op, device), share * before);
  };
  expectWork(forward(sizes), 24, 0.35);
  expectWork(backward(sizes), 58, 0.35);
  sizes.head = 128;
  expectWork(forward(sizes), 38, 0.35);
  expectWork(backward(sizes), 125, 0.35);
}

TEST_F(AttentionCostTest, TilesAreWhole) {
  Operation *op = backward(kVit);
  ASSERT_TRUE(op);
  const double seen = 197 * 197;
  auto expectPairs = [&](const DeviceModel &device, double inTiles) {
    const OpWork work = workOf(op, device);
    EXPECT_DOUBLE_EQ(work.tileShare, seen / inTiles);
    EXPECT_DOUBLE_EQ(std::fmod(work.laneInstructions, 128 * 12 * inTiles), 0);
  };
  expectPairs(deviceOf("h200"), 256 * 256);
  expectPairs(deviceOf("a100"), 224 * 224);
  op = backward(kGpt2); // 16 tiles on the diagonal, 120 below it
  ASSERT_TRUE(op);
  EXPECT_DOUBLE_EQ(workOf(op, deviceOf("h200")).tileShare,
                   1024 * 1025 / 2 / (136 * 64 * 64.));
  EXPECT_DOUBLE_EQ(workOf(op, deviceOf("4090")).tileShare,
                   1024 * 1025 / 2 / (528 * 32 * 32.));
  op = backward({.head = 32}); // in kernels for heads of 64
  ASSERT_TRUE(op);
  EXPECT_DOUBLE_EQ(workOf(op, deviceOf("h200")).tileShare, 0.5);
  op = forward(kVit); // 13 strips of 16 queries, 4 tiles of keys
  ASSERT_TRUE(op);
  EXPECT_DOUBLE_EQ(workOf(op, deviceOf("a100")).tileShare,
                   seen / (13 * 16 * 256.));
  EXPECT_DOUBLE_EQ(workOf(op, deviceOf("h200")).tileShare, seen / (256 * 256.));
}

/// Counts the pairs of a tile of each corner that has one which is seen.
double countPairs(int64_t rows, int64_t keys, std::array<int64_t, 2> band,
                  nn::ScoreTile tile) {
  std::set<std::pair<int64_t, int64_t>> tiles;
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t key = 0; key < keys; ++key)
      if (key - row >= band[0] && key - row <= band[1])
        tiles.insert({row / tile.queries, key / tile.keys});
  return double(tiles.size()) * double(tile.queries * tile.keys);
}

TEST_F(AttentionCostTest, PairsAreThoseOfTilesThatAreSeen) {
  using Band = std::array<int64_t, 2>;
  for (nn::ScoreTile tile : {nn::ScoreTile{1, 1}, {4, 8}, {16, 4}, {64, 64}})
    for (auto [rows, keys] : {std::pair<int64_t, int64_t>(33, 33), {7, 30}})
      for (Band band : {Band{-33, 0}, Band{-5, 5}, Band{0, 0}, Band{-40, 40}}) {
        auto scores =
            RankedTensorType::get({2, rows, keys}, Float16Type::get(&context));
        EXPECT_EQ(nn::pairsInTiles(scores, ArrayRef<int64_t>(band), tile),
                  2 * countPairs(rows, keys, band, tile))
            << rows << " x " << keys << " in " << tile.queries << " x "
            << tile.keys << ", band " << band[0] << " to " << band[1];
        EXPECT_EQ(nn::pairsInTiles(scores, std::nullopt, tile),
                  2 * countPairs(rows, keys, {-40, 40}, tile));
      }
}

// Scores that a function changes take far longer than those that are products.
TEST_F(AttentionCostTest, ChangesTakeTheirTime) {
  auto timeOf = [&](const Sizes &sizes) {
    Operation *op = backward(sizes);
    return op ? 1e-6 * timeInNanoseconds(op, deviceOf("h200")) : 0;
  };
  // What one backward took alone, at a clock that is 1.13 times as fast.
  auto expectNear = [&](const Sizes &sizes, double alone) {
    EXPECT_NEAR(timeOf(sizes), 1.13 * alone, 0.15 * alone);
  };
  Sizes sizes{.batch = 32, .tokens = 512};
  sizes.mask = "tensor<32x1x1x512xi1>";
  expectNear(sizes, 1.047);
  sizes.mask = "";
  sizes.options = " softcap 30.0";
  expectNear(sizes, 1.168);
  sizes.options = " dropout 0.1 stream 0";
  expectNear(sizes, 1.697);
}

// Each of the three kernels reads what it needs, and does not compute
// meanwhile: 13 tensors of 12.6 MB, and two numbers for each query.
TEST_F(AttentionCostTest, BytesAreMovedByThemselves) {
  Operation *op = backward(kVit);
  ASSERT_TRUE(op);
  DeviceModel h200 = deviceOf("h200");
  OpWork work = workOf(op, h200);
  const double rows = 128 * 12 * 197;
  EXPECT_EQ(work.bytesRead + work.bytesWritten, rows * (13 * 64 * 2 + 2 * 4));
  EXPECT_EQ(work.launches, 3);
  const double time = timeInNanoseconds(work, h200);
  EXPECT_NEAR(time - timeInNanoseconds(withBytes(work, 0, 0), h200),
              1e9 * (work.bytesRead + work.bytesWritten) / 4.1e12, 1);
}

} // namespace
