// The time of a kernel on a GPU has two limits: the bytes that its loads keep
// in flight, and the instructions of its lanes. The tests compare both with
// numbers that were worked out by hand from the device model.

#include "gpuopt/Analysis/Costs/CostModel.h"
#include "gpuopt/Analysis/Costs/KernelCost.h"
#include "gpuopt/Analysis/Costs/ProductCost.h"
#include "gpuopt/Dialect/Train/IR/TrainDialect.h"
#include "gpuopt/Pipelines/RegisterAll.h"
#include "gpuopt/Support/RowPitch.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace gpuopt;

namespace {

DeviceModel deviceOf(StringRef name) {
  return llvm::cantFail(loadDeviceModel(name));
}

/// Returns a type such as "tensor<4x8xf16>".
std::string tensorOf(int64_t rows, int64_t columns, const std::string &type) {
  return "tensor<" + std::to_string(rows) + "x" + std::to_string(columns) +
         "x" + type + ">";
}

class CostModelTest : public testing::Test {
protected:
  CostModelTest() : context(registry()) {}

  static DialectRegistry registry() {
    DialectRegistry registry;
    registerAllDialects(registry);
    return registry;
  }

  /// Parses a step with these inputs and this body; returns its first op of
  /// type OpT.
  template <typename OpT>
  OpT first(const std::string &inputs, const std::string &body) {
    module = parseSourceString<ModuleOp>("train.step @step forward (" + inputs +
                                             ") {\n" + body + "}\n",
                                         &context);
    OpT found;
    if (module)
      module->walk([&](OpT op) { found = found ? found : op; });
    return found;
  }

  /// Returns a kernel that adds up f16 elements of `rows` x `columns` along
  /// `dim`.
  nn::FusedOp sumKernel(int64_t rows, int64_t columns, int64_t dim) {
    std::string full = tensorOf(rows, columns, "f16"),
                wide = tensorOf(rows, columns, "f32"),
                sums = dim == 0 ? tensorOf(1, columns, "f32")
                                : tensorOf(rows, 1, "f32");
    return first<nn::FusedOp>(
        "\"x\" %x: " + full,
        "%0 = nn.fused \"sum\" %x : " + full + " -> " + sums +
            " {\n^bb0(%a: " + full + "):\n%1 = arith.extf %a : " + full +
            " to " + wide + "\n%2 = nn.reduce sum %1 [" + std::to_string(dim) +
            "] : " + wide + "\nnn.yield %2 : " + sums +
            "\n}\ntrain.output \"y\", %0 : " + sums + "\n");
  }

  /// Returns a kernel that applies `op` to each of some elements of `type`.
  nn::FusedOp elementwiseKernel(const std::string &op, int64_t elements,
                                const std::string &type = "f32") {
    std::string tensor =
        "tensor<" + std::to_string(elements) + "x" + type + ">";
    return first<nn::FusedOp>(
        "\"x\" %x: " + tensor,
        "%0 = nn.fused \"k\" %x : " + tensor + " -> " + tensor +
            " {\n^bb0(%a: " + tensor + "):\n%1 = " + op + " %a : " + tensor +
            "\nnn.yield %1 : " + tensor +
            "\n}\ntrain.output \"y\", %0 : " + tensor + "\n");
  }

  nn::ContractOp product(int64_t m, int64_t n, int64_t k) {
    std::string x = tensorOf(m, k, "f16"), w = tensorOf(k, n, "f16");
    return first<nn::ContractOp>(
        "\"x\" %x: " + x + ", \"w\" %w: " + w,
        "%0 = nn.contract \"ik,kj->ij\" %x, %w : " + x + ", " + w +
            "\ntrain.output \"y\", %0 : " + tensorOf(m, n, "f16") + "\n");
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

TEST_F(CostModelTest, FewWarpsHaveFewBytesInFlight) {
  DeviceModel h200 = deviceOf("h200");
  // 768 columns by 32 threads of 8 lanes are 3 blocks of one warp: 3 x 32 loads
  // of 16 bytes on the way, whatever the launch shape makes of it.
  nn::FusedOp op = sumKernel(65536, 768, 0);
  ASSERT_TRUE(op);
  KernelCost cost = kernelCostOf(op, h200);
  double warps = double(cost.launch.blocks * cost.launch.threads) / 32;
  double inFlight = bytesInFlight(cost.launch, h200);
  EXPECT_EQ(cost.launch.vectorBytes, 16);
  EXPECT_DOUBLE_EQ(inFlight,
                   warps * 32 * 16 * double(cost.launch.loadsInFlight));
  // By Little's law, the bytes in flight arrive in each latency. The first of
  // these latencies is part of the launch.
  double bytes = 65536. * 768 * 2;
  EXPECT_NEAR(timeInNanoseconds(op, h200),
              (bytes / inFlight - 1) * 700 + 1e9 * h200.secondsPerLaunch, 1);
}

TEST_F(CostModelTest, FewWarpsGainNothingByHalfTheBytes) {
  DeviceModel h200 = deviceOf("h200");
  nn::FusedOp op = sumKernel(256, 64, 0);
  ASSERT_TRUE(op);
  OpWork work = workOf(op, h200);
  EXPECT_TRUE(work.leavesDeviceIdle);
  EXPECT_NEAR(timeInNanoseconds(
                  withBytes(work, work.bytesRead / 2, work.bytesWritten), h200),
              timeInNanoseconds(work, h200), 5); // of 2008
  // Where the device is full, half the bytes take half the time.
  op = elementwiseKernel("arith.negf", 1 << 26);
  ASSERT_TRUE(op);
  work = workOf(op, h200);
  EXPECT_FALSE(work.leavesDeviceIdle);
  EXPECT_NEAR(
      timeInNanoseconds(
          withBytes(work, work.bytesRead / 2, work.bytesWritten / 2), h200) -
          2000,
      (timeInNanoseconds(work, h200) - 2000) / 2, 1);
}

TEST_F(CostModelTest, ManyWarpsReachTheBandwidth) {
  DeviceModel h200 = deviceOf("h200");
  nn::FusedOp op = elementwiseKernel("arith.negf", 1 << 26);
  ASSERT_TRUE(op);
  // 4.1 TB/s x 700 ns are 2.87 MB, fewer than what is in flight.
  EXPECT_GE(bytesInFlight(kernelCostOf(op, h200).launch, h200), 2.87e6);
  double bytes = 2. * 4 * (1 << 26);
  EXPECT_NEAR(timeInNanoseconds(op, h200), bytes / 4.1e3 + 2000, 1);
  // With ten times the latency they are not.
  h200.memoryLatencyInSeconds *= 10;
  EXPECT_GT(timeInNanoseconds(op, h200), 1.5 * bytes / 4.1e3);
}

TEST_F(CostModelTest, InstructionsBoundWhatHasManyForEachByte) {
  DeviceModel h200 = deviceOf("h200");
  nn::FusedOp op = elementwiseKernel("math.sin", 1 << 26, "f16");
  ASSERT_TRUE(op);
  OpWork work = workOf(op, h200);
  // 59 of a sine; a load, a store and an iteration of the loop for each 8
  // elements.
  EXPECT_DOUBLE_EQ(work.laneInstructions,
                   double(1 << 26) * (59 + (10 + 10 + 6) / 8.));
  // 132 x 128 lanes at 1.755 GHz begin 29.65e12 in a second.
  EXPECT_NEAR(timeInNanoseconds(op, h200),
              work.laneInstructions / 29.652e3 + 2000, 100);
  EXPECT_GT(work.laneInstructions / 29.652e3,
            (work.bytesRead + work.bytesWritten) / 4.1e3);
}

TEST_F(CostModelTest, DoublesAreAsSlowAsTheDeviceIs) {
  nn::FusedOp op = elementwiseKernel("math.tanh", 1 << 24, "f64");
  ASSERT_TRUE(op);
  DeviceModel device = deviceOf("4090");
  double launch = 1e9 * device.secondsPerLaunch;
  double slow = timeInNanoseconds(op, device) - launch;
  EXPECT_NEAR(slow,
              64e9 * workOf(op, device).laneInstructions /
                  device.laneInstructionsPerSecond(),
              1);
  device.f64InstructionShare = 1. / 32;
  EXPECT_NEAR((timeInNanoseconds(op, device) - launch) * 2, slow, 1);
}

TEST_F(CostModelTest, ResidentWarpsAreBoundByEachResource) {
  DeviceModel h200 = deviceOf("h200");
  LaunchShape launch;
  launch.blocks = 1 << 20;
  launch.threads = 256;
  launch.registers = 32;
  EXPECT_EQ(residentWarps(launch, h200), 64); // 2048 threads
  launch.registers = 57;                      // 64, of 65,536
  EXPECT_EQ(residentWarps(launch, h200), 32);
  launch.registers = 32;
  launch.sharedBytes = 100 * 1024; // two blocks of 228 KiB
  EXPECT_EQ(residentWarps(launch, h200), 16);
  launch.sharedBytes = 0;
  launch.threads = 32; // 32 blocks
  EXPECT_EQ(residentWarps(launch, h200), 32);
  launch.blocks = 66; // half a block for each
  EXPECT_EQ(residentWarps(launch, h200), 0.5);
}

// Three planes of an image become pixels of three channels: the elements of a
// thread lie far apart, but those of its neighbours beside each of them. Of
// rows of 64, a warp has four, which share sectors of 32 bytes by halves.
TEST_F(CostModelTest, NeighboursShareSectors) {
  DeviceModel h200 = deviceOf("h200");
  auto extra = [&](int64_t planes) {
    std::string c = std::to_string(planes);
    auto op = first<nn::FusedOp>(
        "\"x\" %x: tensor<8x" + c + "x4096xf32>",
        "%t = nn.transpose %x [0, 2, 1] : tensor<8x" + c +
            "x4096xf32>\n%0 = nn.fused \"copy\" %t : tensor<8x4096x" + c +
            "xf32> -> tensor<8x4096x" + c + "xf32> {\n^bb0(%a: tensor<8x4096x" +
            c + "xf32>):\nnn.yield %a : tensor<8x4096x" + c + "xf32>\n}");
    EXPECT_TRUE(op);
    return kernelCostOf(op, h200).extraBytesRead;
  };
  EXPECT_EQ(extra(3), 0);
  EXPECT_EQ(extra(64), 8. * 4096 * 64 * (16 - 4));
  EXPECT_EQ(extra(128), 8. * 4096 * 128 * (32 - 4));
}

TEST_F(CostModelTest, ResidentBlocksKeepTheMemoryBusy) {
  // 4.1 TB/s x 700 ns / 132 = 21.7 KB, and 1.3 TB/s x 600 ns / 108 = 7.2 KB.
  DeviceModel h200 = deviceOf("h200"), a100 = deviceOf("a100");
  LaunchShape launch;
  launch.threads = 256;
  launch.loadsInFlight = 2; // 8 KiB
  launch.registers = 40;
  EXPECT_EQ(residentBlocksFor(launch, h200), 3);
  EXPECT_EQ(residentBlocksFor(launch, a100), 1);
  launch.loadsInFlight = 1;                      // 6 blocks are wanted
  EXPECT_EQ(residentBlocksFor(launch, h200), 4); // 56 registers a thread
  launch.registers = 250;
  EXPECT_EQ(residentBlocksFor(launch, h200), 1);
  launch.threads = 32;
  launch.registers = 24;
  EXPECT_EQ(residentBlocksFor(launch, h200), 32); // no more blocks
}

TEST_F(CostModelTest, LongRowsAreReadAgainByEachWalk) {
  DeviceModel h200 = deviceOf("h200");
  auto extra = [&](int64_t rows, int64_t columns) {
    std::string full = tensorOf(rows, columns, "f32"),
                one = tensorOf(rows, 1, "f32");
    auto op = first<nn::FusedOp>(
        "\"x\" %x: " + full,
        "%0 = nn.fused \"centre\" %x : " + full + " -> " + full +
            " {\n^bb0(%a: " + full + "):\n%1 = nn.reduce sum %a [1] : " + full +
            "\n%2 = nn.broadcast %1 : " + one + " to " + full +
            "\n%3 = arith.subf %a, %2 : " + full + "\nnn.yield %3 : " + full +
            "\n}\ntrain.output \"y\", %0 : " + full + "\n");
    EXPECT_TRUE(op);
    return kernelCostOf(op, h200).extraBytesRead;
  };
  // The rows of all blocks at once are far below 50 MiB, and far above.
  EXPECT_EQ(extra(8192, 1024), 0);
  EXPECT_EQ(extra(8192, 65536), 8192. * 65536 * 4);
}

TEST_F(CostModelTest, LongRowsHaveOneWalkForMaximumAndExponentials) {
  DeviceModel h200 = deviceOf("h200");
  auto softmax = [&](const std::string &columns, const std::string &shifted,
                     const std::string &flags = "") {
    std::string full = "tensor<4096x" + columns + "xf32>",
                one = "tensor<4096x1xf32>";
    auto op = first<nn::FusedOp>(
        "\"x\" %x: " + full + ", \"y\" %y: " + full,
        "%0 = nn.fused \"softmax\" %x, %y : " + full + ", " + full + " -> " +
            full + " {\n^bb0(%a: " + full + ", %b: " + full +
            "):\n%1 = nn.reduce max %a [1] : " + full +
            "\n%2 = nn.broadcast %1 : " + one + " to " + full +
            "\n%3 = arith.subf " + shifted + ", %2 : " + full +
            "\n%4 = math.exp %3 : " + full + "\n%5 = nn.reduce sum %4 [1] : " +
            full + "\n%6 = nn.broadcast %5 : " + one + " to " + full +
            "\n%7 = arith.divf %4, %6 " + flags + ": " + full +
            "\nnn.yield %7 : " + full +
            "\n}\ntrain.output \"z\", %0 : " + full + "\n");
    EXPECT_TRUE(op);
    return kernelCostOf(op, h200);
  };
  // 3 x 132 blocks of 512 threads have rows of 40 kB: they fit the cache, so
  // that the second walk finds them there.
  KernelCost one = softmax("10000", "%a", "fastmath<arcp> "),
             other = softmax("10000", "%b");
  EXPECT_EQ(one.launch.threads, 512);
  EXPECT_EQ(one.extraBytesRead, 0);
  // The test whether the sum is to be scaled, which takes 4 and the lanes
  // share, stands against a walk: a load of 10 for 4 lanes, and an iteration
  // of 6. And a quotient that is marked takes 2 instructions in place of 15.
  const double elements = 4096. * 10000;
  EXPECT_NEAR((other.laneInstructions - one.laneInstructions) / elements,
              (10 + 6 - 4) / 4. + 15 - 2, 0.01);
  // Far longer rows are read twice, and would be three times.
  EXPECT_EQ(softmax("100000", "%a").extraBytesRead, 4096. * 100000 * 4);
}

TEST_F(CostModelTest, BlocksHoldRowsOfUpTo8192Elements) {
  DeviceModel h200 = deviceOf("h200");
  auto launch = [&](int64_t columns) {
    return kernelCostOf(sumKernel(4096, columns, 1), h200).launch;
  };
  EXPECT_EQ(launch(1024).threads, 128); // 4 rows, a warp for each
  EXPECT_EQ(launch(1024).groups, 4);
  EXPECT_EQ(launch(1032).groups, 1); // 128 threads, though 64 would do
  EXPECT_EQ(launch(1032).threads, 128);
  EXPECT_EQ(launch(8192).threads, 256); // 32 elements each
  EXPECT_EQ(launch(8192).rowStorage, RowStorage::Registers);
  EXPECT_EQ(launch(8200).rowStorage, RowStorage::Nowhere);
  // 4 loads of 16 bytes in each of its threads.
  EXPECT_EQ(launch(8192).loadsInFlight, 4);
}

TEST_F(CostModelTest, StridedAccessesMoveSectors) {
  DeviceModel h200 = deviceOf("h200");
  auto op = first<nn::FusedOp>(
      "\"x\" %x: tensor<512x1024xf16>",
      "%t = nn.transpose %x [1, 0] : tensor<512x1024xf16>\n"
      "%0 = nn.fused \"neg\" %t : tensor<1024x512xf16> -> tensor<1024x512xf16> "
      "{\n^bb0(%a: tensor<1024x512xf16>):\n%1 = arith.negf %a : "
      "tensor<1024x512xf16>\nnn.yield %1 : tensor<1024x512xf16>\n}\n"
      "train.output \"y\", %0 : tensor<1024x512xf16>\n");
  ASSERT_TRUE(op);
  // Each sector of 32 bytes is read for 2 bytes, so 30 are extra.
  EXPECT_EQ(kernelCostOf(op, h200).extraBytesRead, 512. * 1024 * 30);
}

TEST_F(CostModelTest, TilesThatFillNoWaveCostAShare) {
  DeviceModel h200 = deviceOf("h200");
  ProductCalls calls;
  calls.m = calls.n = 128;
  calls.k = 256; // too short to be split
  EXPECT_DOUBLE_EQ(shareOfFullTiles(calls, h200), 1 / 132.);
  calls.batch = 132;
  EXPECT_DOUBLE_EQ(shareOfFullTiles(calls, h200), 1);
  calls.batch = 133; // a second wave, of one tile
  EXPECT_DOUBLE_EQ(shareOfFullTiles(calls, h200), 133 / 264.);
  calls.batch = 132;
  calls.m = 64 + 32; // three quarters of each tile
  EXPECT_DOUBLE_EQ(shareOfFullTiles(calls, h200), 0.75);
  calls = ProductCalls();
  calls.m = calls.n = 128;
  calls.k = 1 << 20; // 32 parts of one tile
  EXPECT_DOUBLE_EQ(shareOfFullTiles(calls, h200), 32 / 132.);
}

TEST_F(CostModelTest, OddRowsHalveTheRateOfHalves) {
  DeviceModel h200 = deviceOf("h200");
  nn::ContractOp odd = product(4096, 50257, 768);
  ASSERT_TRUE(odd);
  EXPECT_FALSE(productCallsOf(odd)->hasAlignedRows);
  double slow = timeInNanoseconds(odd, h200);
  nn::ContractOp even = product(4096, 50304, 768);
  ASSERT_TRUE(even);
  EXPECT_TRUE(productCallsOf(even)->hasAlignedRows);
  EXPECT_NEAR(slow / timeInNanoseconds(even, h200), 2, 0.1);
}

TEST_F(CostModelTest, RowsOfAnOddLengthMayBeginEvenly) {
  DeviceModel h200 = deviceOf("h200");
  auto logits = [&](const std::string &pitch) {
    return first<nn::ContractOp>(
        "\"x\" %x: tensor<4096x768xf16>, \"w\" %w: tensor<50257x768xf16>",
        "%0 = nn.contract \"tk,vk->tv\" %x, %w" + pitch +
            " : tensor<4096x768xf16>, tensor<50257x768xf16>\n");
  };
  nn::ContractOp dense = logits("");
  ASSERT_TRUE(dense);
  EXPECT_FALSE(productCallsOf(dense)->hasAlignedRows);
  double slow = timeInNanoseconds(dense, h200);
  nn::ContractOp padded = logits(" row_pitch 50304");
  ASSERT_TRUE(padded);
  EXPECT_TRUE(productCallsOf(padded)->hasAlignedRows);
  EXPECT_EQ(productCallsOf(padded)->n, 50257);
  EXPECT_NEAR(slow / timeInNanoseconds(padded, h200), 2, 0.1);
  EXPECT_EQ(workOf(padded, h200).bytesWritten, 4096. * 50304 * 2);
  // The last column is a call by itself.
  EXPECT_EQ(productCallsOf(padded)->endCalls, 1);
  EXPECT_EQ(workOf(padded, h200).launches, 2);
}

TEST_F(CostModelTest, PadsAndSpareRowsNeedNoOddEnds) {
  DeviceModel h200 = deviceOf("h200");
  const std::string pitch = "{row_pitch = 50304 : i64}",
                    zeros = "{row_pitch = 50304 : i64, zeros}",
                    spare = "{spare_rows = 47 : i64, zeros}";
  auto product = [&](const std::string &what, const std::string &left,
                     const std::string &right) {
    return first<nn::ContractOp>("\"a\" %a: tensor<" + left +
                                     ">, \"b\" %b: tensor<" + right + ">",
                                 "%0 = nn.contract " + what + " : tensor<" +
                                     left + ">, tensor<" + right + ">\n");
  };
  const std::string x = "4096x768xf16", w = "50257x768xf16, " + spare,
                    dense = "50257x768xf16", logits = "4096x50257xf16, ";
  // The pads of logits are written, and may hold anything, ...
  nn::ContractOp op = product("\"tk,vk->tv\" %a, %b row_pitch 50304", x, w);
  EXPECT_EQ(productCallsOf(op)->n, 50304);
  EXPECT_EQ(productCallsOf(op)->endCalls, 0);
  EXPECT_TRUE(productCallsOf(op)->hasAlignedRows);
  EXPECT_EQ(workOf(op, h200).launches, 1);
  // ... but they hold zeros, as the spare rows do.
  EXPECT_TRUE(padsOf(op.getType()).areZeros);
  // A sum needs zeros in both operands.
  op = product("\"tv,vk->tk\" %a, %b", logits + zeros, w);
  EXPECT_EQ(productCallsOf(op)->k, 50304);
  EXPECT_EQ(productCallsOf(op)->endCalls, 0);
  op = product("\"tv,vk->tk\" %a, %b", logits + pitch, w);
  EXPECT_EQ(productCallsOf(op)->k, 50257);
  EXPECT_EQ(productCallsOf(op)->endCalls, 1);
  op = product("\"tv,vk->tk\" %a, %b", logits + zeros, dense);
  EXPECT_EQ(productCallsOf(op)->k, 50257);
  // Rows of a gradient that nobody reads take anything.
  op = product("\"tv,tk->vk\" %a, %b spare_rows 47", logits + pitch, x);
  EXPECT_EQ(productCallsOf(op)->m, 50304);
  EXPECT_EQ(productCallsOf(op)->endCalls, 0);
  EXPECT_EQ(workOf(op, h200).bytesWritten, 50304. * 768 * 2);
  op = product("\"tv,tk->vk\" %a, %b", logits + zeros, x);
  EXPECT_EQ(productCallsOf(op)->m, 50257);
}

TEST_F(CostModelTest, ABiasEndsWithTheLastColumn) {
  auto op = first<nn::ContractOp>(
      "\"x\" %x: tensor<4096x768xf16>, \"w\" %w: tensor<1009x768xf16, "
      "{spare_rows = 15 : i64, zeros}>, \"b\" %b: tensor<1009xf16>",
      "%0 = nn.contract \"tk,vk->tv\" %x, %w bias %b row_pitch 1024 : "
      "tensor<4096x768xf16>, tensor<1009x768xf16, {spare_rows = 15 : i64, "
      "zeros}> bias tensor<1009xf16>\n");
  ASSERT_TRUE(op);
  EXPECT_EQ(productCallsOf(op)->n, 1009);
  EXPECT_FALSE(padsOf(op.getType()).areZeros);
}

TEST_F(CostModelTest, OddEndsOfBatchesAreNotCutOff) {
  auto op = first<nn::ContractOp>(
      "\"x\" %x: tensor<8x64x32xf16>, \"w\" %w: tensor<8x197x32xf16>",
      "%0 = nn.contract \"btk,bvk->btv\" %x, %w row_pitch 200 : "
      "tensor<8x64x32xf16>, tensor<8x197x32xf16>\n");
  ASSERT_TRUE(op);
  EXPECT_FALSE(productCallsOf(op)->hasAlignedRows);
  EXPECT_EQ(productCallsOf(op)->endCalls, 0);
}

TEST_F(CostModelTest, TwoBatchStridesAreManyCalls) {
  DeviceModel h200 = deviceOf("h200");
  // Heads of a projection [batch, tokens, heads, width].
  auto op = first<nn::ContractOp>(
      "\"q\" %q: tensor<64x128x12x64xf16>, \"k\" %k: tensor<64x128x12x64xf16>",
      "%0 = nn.contract \"bihd,bjhd->bhij\" %q, %k : "
      "tensor<64x128x12x64xf16>, tensor<64x128x12x64xf16>\n"
      "train.output \"y\", %0 : tensor<64x12x128x128xf16>\n");
  ASSERT_TRUE(op);
  std::optional<ProductCalls> calls = productCallsOf(op);
  ASSERT_TRUE(calls);
  EXPECT_EQ(calls->calls * calls->batch, 64 * 12);
  EXPECT_GT(calls->calls, 1);
  EXPECT_GT(timeInNanoseconds(op, h200),
            1e9 * h200.secondsPerLaunch * double(calls->calls));
}

TEST_F(CostModelTest, ProductsWithAReluTakeManyInstructionsInHalfPrecision) {
  const std::string x = "tensor<802816x64xf16>", y = "tensor<802816x256xf16>",
                    w = "tensor<64x256xf16>", b = "tensor<256xf16>",
                    mask = "tensor<802816x8xi32>",
                    inputs = "\"x\" %x: " + x + ", \"w\" %w: " + w +
                             ", \"r\" %r: " + y;
  auto millisecondsOf = [&](Operation *op) {
    return op ? timeInNanoseconds(op, deviceOf("h200")) * 1e-6 : 0;
  };
  const double forward = millisecondsOf(first<nn::ContractReluOp>(
      inputs + ", \"b\" %b: " + b,
      "%y, %m = nn.contract_relu \"tc,cd->td\" %x, %w bias %b plus %r "
      "keeps_mask : " +
          x + ", " + w + " bias " + b + " plus " + y + "\n"));
  const double backward = millisecondsOf(first<nn::ContractReluGradOp>(
      inputs + ", \"m\" %m: " + mask,
      "%y = nn.contract_relu_grad \"tc,cd->td\" %x, %w mask %m plus %r : " + x +
          ", " + w + " mask " + mask + " plus " + y + "\n"));
  EXPECT_NEAR(forward, 0.315, 0.03);
  EXPECT_NEAR(backward, 0.498, 0.03);
}

TEST_F(CostModelTest, RowsAreScatteredByManyKernels) {
  auto op = first<nn::ScatterAddOp>(
      "\"i\" %i: tensor<64xi64>, \"dy\" %dy: tensor<64x768xf16>",
      "%0 = nn.scatter_add %dy, %i rows 1024 : tensor<64x768xf16>, "
      "tensor<64xi64>\n");
  ASSERT_TRUE(op);
  EXPECT_EQ(workOf(op, deviceOf("h200")).launches, 8);
  EXPECT_EQ(workOf(op, deviceOf("h200")).bytesWritten, 1024 * 768 * 2);
}

TEST_F(CostModelTest, RowsThatAreNotAddedToAreNeitherReadNorWritten) {
  auto first = this->first<nn::ScatterAddOp>(
      "\"i\" %i: tensor<64xi64>, \"dy\" %dy: tensor<64x768xf32>",
      "%0 = nn.scatter_add %dy, %i rows 1024 : tensor<64x768xf32>, "
      "tensor<64xi64>\n"
      "%1 = nn.scatter_add %dy, %i rows 1024 plus %0 : tensor<64x768xf32>, "
      "tensor<64xi64>, tensor<1024x768xf32>\n");
  ASSERT_TRUE(first);
  OpWork work = workOf(*first.getResult().getUsers().begin(), deviceOf("h200"));
  EXPECT_EQ(work.bytesWritten, 64 * 768 * 4);
  EXPECT_EQ(work.bytesRead, 64 * 8 + 2 * 64 * 768 * 4);
}

TEST_F(CostModelTest, ProcessorsFetchAhead) {
  DeviceModel host = deviceOf("host");
  nn::FusedOp op = sumKernel(4096, 64, 0);
  ASSERT_TRUE(op);
  // 524,288 bytes at 20 GB/s and 64 sums of 4, and a launch.
  EXPECT_NEAR(timeInNanoseconds(op, host), (524288 + 256) / 20. + 2000, 1);
  EXPECT_EQ(workOf(op, host).laneInstructions, 0);
}

} // namespace
