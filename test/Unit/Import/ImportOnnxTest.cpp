//===- ImportOnnxTest.cpp - Models that are damaged, and large ones -------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Import/Onnx/ImportOnnx.h"

#include "gpuopt/Dialect/Onnx/IR/OnnxOps.h"
#include "mlir/Parser/Parser.h"
#include "onnx.pb.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>

#include <random>

using namespace mlir;
using namespace gpuopt;
using namespace gpuopt::onnx;
using proto::AttributeProto;
using proto::TensorProto;

namespace {

class ImportOnnx : public ::testing::Test {
protected:
  ImportOnnx() : context(MLIRContext::Threading::DISABLED) {
    llvm::sys::fs::createTemporaryFile("gpuopt", "onnx", path);
    context.getDiagEngine().registerHandler(
        [this](Diagnostic &diagnostic) { errors.push_back(diagnostic.str()); });
  }
  ~ImportOnnx() override { llvm::sys::fs::remove(path); }

  OwningOpRef<ModuleOp> import(StringRef bytes) {
    std::error_code error;
    llvm::raw_fd_ostream(path, error) << bytes;
    EXPECT_FALSE(error);
    return importOnnxModel(path, context, options);
  }

  MLIRContext context;
  SmallString<64> path;
  OnnxImportOptions options;
  std::vector<std::string> errors;
};

/// A graph with every kind of thing in it: symbolic input, initializers in raw
/// and typed fields, a function, attributes.
proto::ModelProto makeModel() {
  proto::ModelProto model;
  model.add_opset_import()->set_version(20);
  proto::OperatorSetIdProto *opset = model.add_opset_import();
  opset->set_domain("my");
  opset->set_version(1);

  proto::FunctionProto *function = model.add_functions();
  function->set_domain("my");
  function->set_name("f");
  function->add_input("a");
  function->add_output("b");
  proto::NodeProto *inner = function->add_node();
  inner->set_op_type("Elu");
  inner->add_input("a");
  inner->add_output("b");
  AttributeProto *alpha = inner->add_attribute();
  alpha->set_name("alpha");
  alpha->set_type(AttributeProto::FLOAT);
  alpha->set_ref_attr_name("alpha");

  proto::GraphProto *graph = model.mutable_graph();
  proto::ValueInfoProto *input = graph->add_input();
  input->set_name("x");
  auto *tensor = input->mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(TensorProto::FLOAT);
  tensor->mutable_shape()->add_dim()->set_dim_param("batch");
  tensor->mutable_shape()->add_dim()->set_dim_value(3);
  graph->add_output()->set_name("z");

  TensorProto *raw = graph->add_initializer();
  raw->set_name("raw");
  raw->set_data_type(TensorProto::FLOAT);
  raw->add_dims(65);
  raw->set_raw_data(std::string(260, '\1'));
  TensorProto *typed = graph->add_initializer();
  typed->set_name("typed");
  typed->set_data_type(TensorProto::FLOAT16);
  typed->add_dims(2);
  typed->add_int32_data(1);
  typed->add_int32_data(2);

  proto::NodeProto *node = graph->add_node();
  node->set_op_type("Custom");
  for (const char *name : {"x", "raw", "typed", ""})
    node->add_input(name);
  node->add_output("y");
  AttributeProto *floats = node->add_attribute();
  floats->set_name("floats");
  floats->set_type(AttributeProto::FLOATS);
  floats->add_floats(1);
  floats->add_floats(2);
  AttributeProto *value = node->add_attribute();
  value->set_name("value");
  value->set_type(AttributeProto::TENSOR);
  value->mutable_t()->set_data_type(TensorProto::BOOL);
  value->mutable_t()->set_raw_data("\1");
  proto::NodeProto *call = graph->add_node();
  call->set_domain("my");
  call->set_op_type("f");
  call->add_input("y");
  call->add_output("z");
  return model;
}

TEST_F(ImportOnnx, ReadsTheModelThatIsDamagedBelow) {
  options.batchSize = 2;
  OwningOpRef<ModuleOp> module = import(makeModel().SerializeAsString());
  ASSERT_TRUE(module);
  EXPECT_TRUE(errors.empty());
  auto graph = *module->getOps<GraphOp>().begin();
  EXPECT_EQ(llvm::range_size(graph.getOps<NodeOp>()), 2);
  NodeOp node = *graph.getOps<NodeOp>().begin();
  EXPECT_TRUE(node.is("Custom"));
  EXPECT_EQ(node.getOpset(), 20);
  EXPECT_EQ(node.getNodeName(), "Custom_y");
  EXPECT_TRUE(node.getInput(2));
  EXPECT_FALSE(node.getInput(3)); // omitted
  EXPECT_FALSE(node.getInput(4)); // not there
  EXPECT_TRUE(node.getTensor("value"));
  EXPECT_FALSE(node.getTensor("other"));
  EXPECT_EQ(node.getInt("value", 7), 7); // of another kind
}

TEST_F(ImportOnnx, ReportsEveryTruncation) {
  options.batchSize = 2;
  std::string bytes = makeModel().SerializeAsString();
  for (size_t size = 0; size < bytes.size(); ++size) {
    errors.clear();
    // A cut between two fields of the model leaves a valid message.
    if (!import(StringRef(bytes).take_front(size)))
      EXPECT_FALSE(errors.empty()) << "cut to " << size << " bytes";
  }
}

TEST_F(ImportOnnx, SurvivesMutations) {
  options.batchSize = 2;
  const std::string bytes = makeModel().SerializeAsString();
  std::mt19937 random(1);
  int numImported = 0;
  for (int round = 0; round < 5000; ++round) {
    std::string mutated = bytes;
    for (int count = random() % 4 + 1; count > 0; --count) {
      size_t position = random() % mutated.size();
      switch (random() % 4) {
      case 0:
        mutated[position] = static_cast<char>(random());
        break;
      case 1:
        mutated[position] ^= 1 << random() % 8;
        break;
      case 2:
        mutated.erase(position, random() % 8 + 1);
        break;
      case 3: // large numbers, as sizes and shapes
        mutated.insert(position, random() % 9 + 1, '\xff');
        break;
      }
      if (mutated.empty())
        mutated = "x";
    }
    errors.clear();
    OwningOpRef<ModuleOp> module = import(mutated);
    if (!module) {
      EXPECT_FALSE(errors.empty()) << "round " << round;
      continue;
    }
    ++numImported;
    std::string text;
    llvm::raw_string_ostream(text) << *module;
    EXPECT_TRUE(parseSourceString<ModuleOp>(text, &context))
        << "round " << round << ": " << text;
  }
  EXPECT_GT(numImported, 0); // else the mutations would test nothing deep
}

TEST_F(ImportOnnx, RefusesWhatProtobufCannotHold) {
  int file;
  ASSERT_FALSE(llvm::sys::fs::openFileForWrite(path, file));
  llvm::raw_fd_ostream closer(file, /*shouldClose=*/true);
  // A hole takes no space.
  ASSERT_FALSE(llvm::sys::fs::resize_file_sparse(file, uint64_t(1) << 31));
  EXPECT_FALSE(importOnnxModel(path, context));
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_NE(errors[0].find("is larger than 2 GiB"), std::string::npos);
}

} // namespace
