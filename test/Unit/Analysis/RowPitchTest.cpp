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
  EXPECT_EQ(withoutPads(padded), type({2, 3, 5}));
  // A vocabulary of 50257 halves, of 65536 tokens.
  EXPECT_EQ(sizeInBytes(withRowPitch(type({64, 1024, 50257}), 50304)),
            int64_t(65536) * 50304 * 2);
}

TEST_F(RowPitchTest, CountsSpareRows) {
  Pads pads;
  pads.spareRows = 2;
  RankedTensorType spare = withPads(type({3, 5}), pads);
  EXPECT_EQ(spare, type({3, 5}, pitch(2, "spare_rows")));
  EXPECT_EQ(stridesInMemory(spare), (SmallVector<int64_t>{5, 1}));
  EXPECT_EQ(extentsInMemory(spare), (SmallVector<int64_t>{5, 5}));
  EXPECT_EQ(elementsInMemory(spare), 25);
  EXPECT_EQ(spare.getNumElements(), 15);
  EXPECT_FALSE(padsOf(spare).areZeros);
  pads.rowPitch = 8;
  pads.areZeros = true;
  RankedTensorType both = withPads(spare, pads);
  EXPECT_EQ(extentsInMemory(both), (SmallVector<int64_t>{5, 8}));
  EXPECT_EQ(elementsInMemory(both), 40);
  EXPECT_TRUE(padsOf(both).areZeros);
  EXPECT_TRUE(isSameButForPads(both, spare));
  EXPECT_EQ(withoutPads(both), type({3, 5}));
  // Without memory that holds them, there are no zeros.
  EXPECT_EQ(withPads(both, Pads{0, 0, true}), type({3, 5}));
  EXPECT_EQ(extentsInMemory(type({})), SmallVector<int64_t>());
}

TEST_F(RowPitchTest, HasSpareRowsBehindMatricesAlone) {
  EXPECT_TRUE(hasValidPads(type({3, 5}, pitch(3, "spare_rows"))));
  EXPECT_FALSE(hasValidPads(type({3, 5}, pitch(4, "spare_rows"))));
  EXPECT_FALSE(hasValidPads(type({3, 5}, pitch(-1, "spare_rows"))));
  EXPECT_FALSE(hasValidPads(type({2, 3, 5}, pitch(1, "spare_rows"))));
  Builder b(&context);
  EXPECT_FALSE(hasValidPads(type({3, 5}, b.getDictionaryAttr({}))));
  EXPECT_FALSE(hasValidPads(type(
      {3, 5}, b.getDictionaryAttr(b.getNamedAttr("zeros", b.getUnitAttr())))));
}

TEST_F(RowPitchTest, DoesNotTellTypesApart) {
  RankedTensorType dense = type({3, 5}), padded = withRowPitch(dense, 8);
  EXPECT_TRUE(isSameButForPads(dense, padded));
  EXPECT_TRUE(isSameButForPads(padded, withRowPitch(dense, 16)));
  EXPECT_FALSE(isSameButForPads(dense, type({5, 3})));
  EXPECT_FALSE(isSameButForPads(dense, Float16Type::get(&context)));
}

TEST_F(RowPitchTest, IsTheOnlyEncoding) {
  EXPECT_TRUE(hasValidPads(type({3, 5})));
  EXPECT_TRUE(hasValidPads(type({3, 5}, pitch(8))));
  EXPECT_FALSE(hasValidPads(type({3, 5}, pitch(5))));
  EXPECT_FALSE(hasValidPads(type({3, 5}, pitch(4))));
  EXPECT_FALSE(hasValidPads(type({3, 5}, pitch(8, "pitch"))));
  EXPECT_FALSE(hasValidPads(type({5}, pitch(8))));
  EXPECT_FALSE(
      hasValidPads(type({3, 5}, Builder(&context).getI64IntegerAttr(8))));
}

} // namespace
