// Strides and sizes of tensors whose rows lie further apart than they are long.

#include "gpuopt/Support/RowPitch.h"
#include "gpuopt/Support/TensorSize.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace gpuopt;

namespace {

class RowPitchTest : public testing::Test {
protected:
  RankedTensorType type(ArrayRef<int64_t> shape, Attribute encoding = {}) {
    return RankedTensorType::get(shape, Float16Type::get(&context), encoding);
  }
  Attribute pitch(int64_t elements, StringRef name = "row_pitch") {
    Builder b(&context);
    return b.getDictionaryAttr(
        b.getNamedAttr(name, b.getI64IntegerAttr(elements)));
  }

  MLIRContext context;
};

TEST_F(RowPitchTest, IsTheRowsSizeWhereNothingElseIsSaid) {
  EXPECT_EQ(rowPitchOf(type({})), 1);
  EXPECT_EQ(rowPitchOf(type({5})), 5);
  EXPECT_EQ(rowPitchOf(type({2, 3, 5})), 5);
  EXPECT_EQ(stridesInMemory(type({2, 3, 5})), (SmallVector<int64_t>{15, 5, 1}));
  EXPECT_EQ(sizeInBytes(type({2, 3, 5})), 60);
  EXPECT_EQ(sizeInBytes(type({})), 2);
  EXPECT_EQ(sizeInBytes(type({4, 0})), 0);
}

TEST_F(RowPitchTest, CountsThePadOfEachRow) {
  RankedTensorType padded = withRowPitch(type({2, 3, 5}), 8);
  EXPECT_EQ(padded, type({2, 3, 5}, pitch(8)));
  EXPECT_EQ(rowPitchOf(padded), 8);
  EXPECT_EQ(stridesInMemory(padded), (SmallVector<int64_t>{24, 8, 1}));
  EXPECT_EQ(elementsInMemory(padded), 2 * 3 * 8);
  EXPECT_EQ(sizeInBytes(padded), 2 * 3 * 8 * 2);
  EXPECT_EQ(padded.getNumElements(), 30);
  EXPECT_EQ(withRowPitch(padded, 5), type({2, 3, 5}));
  EXPECT_EQ(withoutRowPitch(padded), type({2, 3, 5}));
  // A vocabulary of 50257 halves, of 65536 tokens.
  EXPECT_EQ(sizeInBytes(withRowPitch(type({64, 1024, 50257}), 50304)),
            int64_t(65536) * 50304 * 2);
}

TEST_F(RowPitchTest, DoesNotTellTypesApart) {
  RankedTensorType dense = type({3, 5}), padded = withRowPitch(dense, 8);
  EXPECT_TRUE(isSameButForPitch(dense, padded));
  EXPECT_TRUE(isSameButForPitch(padded, withRowPitch(dense, 16)));
  EXPECT_FALSE(isSameButForPitch(dense, type({5, 3})));
  EXPECT_FALSE(isSameButForPitch(dense, Float16Type::get(&context)));
}

TEST_F(RowPitchTest, IsTheOnlyEncoding) {
  EXPECT_TRUE(hasValidRowPitch(type({3, 5})));
  EXPECT_TRUE(hasValidRowPitch(type({3, 5}, pitch(8))));
  EXPECT_FALSE(hasValidRowPitch(type({3, 5}, pitch(5))));
  EXPECT_FALSE(hasValidRowPitch(type({3, 5}, pitch(4))));
  EXPECT_FALSE(hasValidRowPitch(type({3, 5}, pitch(8, "pitch"))));
  EXPECT_FALSE(hasValidRowPitch(type({5}, pitch(8))));
  EXPECT_FALSE(
      hasValidRowPitch(type({3, 5}, Builder(&context).getI64IntegerAttr(8))));
}

} // namespace
