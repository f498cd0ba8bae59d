// Which bytes buffers have in common, against a search that is obvious.

#include "mlir/IR/BuiltinOps.h"

#include "gpuopt/Dialect/Device/IR/Accesses.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "gtest/gtest.h"
#include <random>

using namespace mlir;
using namespace gpuopt::device;

namespace {

/// Makes buffers of up to 40 bytes within the first 500 of the arena or of the
/// host's memory, some of them empty.
class RandomBuffers {
public:
  explicit RandomBuffers(unsigned seed) : random(seed) {
    context.loadDialect<DeviceDialect>();
    module = ModuleOp::create(UnknownLoc::get(&context));
    builder.setInsertionPointToEnd(module->getBody());
  }

  BufferOp next() {
    int64_t elements = int64_t(random() % 11), offset = int64_t(random() % 460);
    BufferKind kind = random() % 3 ? BufferKind::Arena : BufferKind::Host;
    return BufferOp::create(
        builder, builder.getUnknownLoc(), "b" + std::to_string(number++), kind,
        offset, RankedTensorType::get({elements}, builder.getF32Type()), "b");
  }

private:
  std::mt19937 random;
  MLIRContext context;
  OpBuilder builder{&context};
  OwningOpRef<ModuleOp> module;
  unsigned number = 0;
};

TEST(ByteRanges, OverlapWhatOneOfTheirBuffersOverlaps) {
  for (unsigned seed = 0; seed < 30; ++seed) {
    RandomBuffers buffers(seed);
    ByteRanges ranges;
    SmallVector<BufferOp> inserted;
    unsigned overlapping = 0;
    for (unsigned i = 0; i < 40; ++i) {
      BufferOp buffer = buffers.next();
      bool expected =
          buffer.getSizeInBytes() > 0 &&
          llvm::any_of(inserted, [&](BufferOp other) {
            return other.getSizeInBytes() > 0 && anyOverlaps(other, buffer);
          });
      ASSERT_EQ(ranges.overlaps(buffer), expected) << seed << " " << i;
      overlapping += expected;
      if (i % 2 == 0) {
        ranges.insert(buffer);
        inserted.push_back(buffer);
      }
    }
    EXPECT_GT(overlapping, 0u);
  }
}

} // namespace
