//===- ModelHashTest.cpp - What tells a model from others -----------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Files/ModelHash.h"
#include "gpuopt/Dialect/Onnx/IR/OnnxDialect.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace gpuopt;

/// Returns the hash of a model with an initializer.
static std::string hashWith(const std::string &initializer,
                            const std::string &type = "tensor<2xf32>",
                            const std::string &trained = "") {
  MLIRContext context;
  context.loadDialect<onnx::OnnxDialect>();
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(
      "onnx.graph @g(%x: tensor<2xf32>) -> (!onnx.unknown) attributes "
      "{inputNames = [\"x\"], opsets = {ai.onnx = 20 : i64}, "
      "outputNames = [\"y\"]} {\n"
      "  %c = onnx.initializer " +
          initializer + " : " + type +
          "\n  %y = onnx.node \"Add\"(%x, %c) : (tensor<2xf32>, " + type +
          ") -> !onnx.unknown\n"
          "  onnx.return %y : !onnx.unknown\n}",
      &context);
  EXPECT_TRUE(module);
  return module ? hashOfGraph(*module,
                              [&](StringRef name) { return name == trained; })
                : "";
}

TEST(ModelHashTest, WeightsCountByTheirNames) {
  const std::string hash = hashWith("\"w\" = dense<[1.0, 2.0]>");
  EXPECT_EQ(hash, hashWith("\"w\" trained false = dense<[1.0, 3.0]>"));
  EXPECT_NE(hash, hashWith("\"v\" = dense<[1.0, 2.0]>"));
}

TEST(ModelHashTest, ConstantsCountByTheirValues) {
  const std::string hash = hashWith("\"w\" constant true = dense<[1.0, 2.0]>");
  EXPECT_EQ(hash, hashWith("\"v\" constant true = dense<[1.0, 2.0]>"));
  EXPECT_NE(hash, hashWith("\"w\" constant true = dense<[1.0, 3.0]>"));
  EXPECT_NE(hash, hashWith("\"w\" = dense<[1.0, 2.0]>"));
}

TEST(ModelHashTest, TrainedConstantsCountAsWeights) {
  const std::string type = "tensor<2xf32>",
                    hash = hashWith("\"w\" constant true = dense<[1.0, 2.0]>",
                                    type, "w");
  EXPECT_EQ(hash,
            hashWith("\"w\" constant true = dense<[1.0, 3.0]>", type, "w"));
  EXPECT_EQ(hash, hashWith("\"w\" = dense<[1.0, 3.0]>"));
  EXPECT_NE(hash,
            hashWith("\"w\" constant true = dense<[1.0, 2.0]>", type, "v"));
}

TEST(ModelHashTest, ConstantsCountByTheirShapes) {
  EXPECT_NE(
      hashWith("\"c\" constant true = dense<[[1.0, 2.0]]>", "tensor<1x2xf32>"),
      hashWith("\"c\" constant true = dense<[[1.0], [2.0]]>",
               "tensor<2x1xf32>"));
  EXPECT_NE(hashWith("\"c\" constant true = dense<1.0>", "tensor<1xf32>"),
            hashWith("\"c\" constant true = dense<1.0>", "tensor<2xf32>"));
}
