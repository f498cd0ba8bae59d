//===- ReplaceWeightsTest.cpp - Models that get other weights -------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Import/Onnx/ReplaceWeights.h"

#include "mlir/IR/Diagnostics.h"
#include "onnx.pb.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace gpuopt;
using namespace gpuopt::onnx;
using proto::TensorProto;

namespace {

/// A model with 'a' and 'b' in one file beside it, whose name they spell in two
/// ways, and 'c' in the model.
class ReplaceWeights : public ::testing::Test {
protected:
  ReplaceWeights() : context(MLIRContext::Threading::DISABLED) {
    llvm::sys::fs::createUniqueDirectory("gpuopt", folder);
    context.getDiagEngine().registerHandler(
        [this](Diagnostic &diagnostic) { errors.push_back(diagnostic.str()); });
    model.add_opset_import()->set_version(20);
    addExternal("a", "w/all.bin", "0");
    addExternal("b", "./w/./all.bin", "4");
    TensorProto *c = addTensor("c");
    c->add_dims(1);
    c->set_raw_data("cccc");
    llvm::sys::fs::create_directory(in("w"));
    write(in("w/all.bin"), "aaaabbbb....");
  }
  ~ReplaceWeights() override { llvm::sys::fs::remove_directories(folder); }

  std::string in(StringRef name) {
    SmallString<64> path(folder);
    llvm::sys::path::append(path, name);
    return path.str().str();
  }
  static void write(StringRef path, StringRef content) {
    std::error_code error;
    llvm::raw_fd_ostream(path, error) << content;
    EXPECT_FALSE(error);
  }
  static std::string read(StringRef path) {
    auto buffer = llvm::MemoryBuffer::getFile(path);
    return buffer ? (*buffer)->getBuffer().str() : "none";
  }
  TensorProto *addTensor(StringRef name) {
    TensorProto *tensor = model.mutable_graph()->add_initializer();
    tensor->set_name(name.str());
    tensor->set_data_type(TensorProto::FLOAT);
    return tensor;
  }
  void addExternal(StringRef name, StringRef location, StringRef offset) {
    TensorProto *tensor = addTensor(name);
    tensor->add_dims(1);
    tensor->set_data_location(TensorProto::EXTERNAL);
    for (auto [key, value] :
         {std::pair("location", location), std::pair("offset", offset)}) {
      auto *entry = tensor->add_external_data();
      entry->set_key(key);
      entry->set_value(value.str());
    }
  }
  /// Writes the model to `target` with four equal capital letters in place of
  /// the elements that have some.
  LogicalResult replace(StringRef target, StringRef elements = "") {
    write(in("m.onnx"), model.SerializeAsString());
    errors.clear();
    return replaceWeights(
        in("m.onnx"), target, context,
        [&](const InitializerShape &shape)
            -> FailureOr<std::optional<std::string>> {
          std::string letter = StringRef(shape.name).upper();
          return std::optional(elements.empty() ? std::string(4, letter[0])
                                                : elements.str());
        },
        [] { return success(); });
  }
  void expectError(StringRef message) {
    ASSERT_EQ(errors.size(), 1u);
    EXPECT_NE(StringRef(errors[0]).find(message), StringRef::npos) << errors[0];
  }

  MLIRContext context;
  SmallString<64> folder;
  proto::ModelProto model;
  std::vector<std::string> errors;
};

TEST_F(ReplaceWeights, TakesTwoSpellingsOfAFileForOne) {
  ASSERT_TRUE(succeeded(replace(in("out/m.onnx"))));
  EXPECT_EQ(read(in("out/m.onnx.data")), "AAAABBBB....");
  proto::ModelProto written;
  ASSERT_TRUE(written.ParseFromString(read(in("out/m.onnx"))));
  EXPECT_EQ(written.graph().initializer(2).raw_data(), "CCCC");
}

TEST_F(ReplaceWeights, CountsElementsThatShareBytes) {
  auto add = [&](TensorProto::DataType type, int64_t count) {
    TensorProto *tensor = addTensor("d");
    tensor->set_data_type(type);
    tensor->add_dims(count);
    return tensor;
  };
  // All have four bytes, the last of them not always full.
  add(TensorProto::INT4, 7)->set_raw_data("dddd");
  add(TensorProto::UINT4, 8)->set_raw_data("dddd");
  add(TensorProto::FLOAT4E2M1, 8)->set_raw_data("dddd");
  add(TensorProto::INT2, 13)->set_raw_data("dddd");
  TensorProto *typed = add(TensorProto::UINT2, 16);
  for (int number : {1, 2, 3, 4})
    typed->add_int32_data(number);
  auto &initializers = *model.mutable_graph()->mutable_initializer();
  for (int i = 3; i < initializers.size(); ++i)
    initializers[i].set_name("d" + std::to_string(i));
  ASSERT_TRUE(succeeded(replace(in("out/m.onnx")))) << errors.front();
  proto::ModelProto written;
  ASSERT_TRUE(written.ParseFromString(read(in("out/m.onnx"))));
  for (int i = 3; i < initializers.size(); ++i) {
    EXPECT_EQ(written.graph().initializer(i).raw_data(), "DDDD");
    EXPECT_EQ(written.graph().initializer(i).int32_data_size(), 0);
  }
  initializers[3].set_raw_data("ddddddd");
  EXPECT_TRUE(failed(replace(in("out/m.onnx"))));
  expectError("initializer 'd3' has 7 bytes of data, but its type and shape "
              "need 4");
}

TEST_F(ReplaceWeights, LeavesNoFileIfTheModelCannotBeWritten) {
  ASSERT_FALSE(llvm::sys::fs::create_directory(in("out")));
  ASSERT_FALSE(llvm::sys::fs::create_directory(in("out/m.onnx")));
  EXPECT_TRUE(failed(replace(in("out/m.onnx"))));
  expectError("m.onnx': it is a folder");
  // A link to a device that takes nothing fails once all files are whole.
  ASSERT_FALSE(llvm::sys::fs::create_link("/dev/full", in("out/full.onnx")));
  EXPECT_TRUE(failed(replace(in("out/full.onnx"))));
  expectError("full.onnx': No space left on device");
  llvm::sys::fs::remove(in("out/full.onnx"));
  std::error_code code;
  std::vector<std::string> left;
  for (llvm::sys::fs::directory_iterator file(in("out"), code), end;
       file != end; file.increment(code))
    left.push_back(llvm::sys::path::filename(file->path()).str());
  EXPECT_EQ(left, std::vector<std::string>{"m.onnx"});
}

TEST_F(ReplaceWeights, RefusesSizesThatDoNotFit) {
  EXPECT_TRUE(failed(replace(in("out/m.onnx"), "12345678")));
  expectError("initializer 'a': the new elements have 8 bytes, but its type "
              "and shape need 4");
  TensorProto &damaged = *model.mutable_graph()->mutable_initializer(2);
  damaged.set_raw_data("cccccc");
  EXPECT_TRUE(failed(replace(in("out/m.onnx"))));
  expectError("initializer 'c' has 6 bytes of data, but its type and shape "
              "need 4");
  damaged.set_dims(0, int64_t(1) << 60);
  damaged.add_dims(16);
  EXPECT_TRUE(failed(replace(in("out/m.onnx"))));
  expectError("initializer 'c' has the impossible shape [1152921504606846976, "
              "16]");
  EXPECT_FALSE(llvm::sys::fs::exists(in("out")));
}

} // namespace
