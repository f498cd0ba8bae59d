//===- ReplaceWeights.cpp - A model with other weights --------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The model is written again as it was read, with raw data in place of elements
// that are new. Files beside the model are copied, with the new elements where
// the old ones were.
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Import/Onnx/ReplaceWeights.h"

#include "ElementTypes.h"
#include "ExternalData.h"
#include "ModelFile.h"
#include "gpuopt/Support/WriteFile.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace gpuopt;
using namespace gpuopt::onnx;
using proto::TensorProto;

namespace {

class WeightReplacer {
public:
  WeightReplacer(const ModelFile &file, const Reporter &reporter,
                 StringRef target, NewElements newElements)
      : file(file), reporter(reporter), target(target),
        newElements(newElements), external(reporter), model(file.getModel()) {}

  LogicalResult run() {
    for (int i = 0; i < model.graph().initializer_size(); ++i)
      if (failed(replace(i)))
        return failure();
    if (!hasNewElements)
      return reporter.error() << "has none of the weights";
    for (auto &[location, copy] : copies)
      if (failed(write(copy)))
        return failure();
    std::string bytes;
    if (!model.SerializeToString(&bytes))
      return reporter.error() << "is too large for one file";
    return check(writeFile(target, bytes), target);
  }

private:
  /// A file beside the model, and what is new in it by offset.
  struct Copy {
    std::string from, to;
    std::map<int64_t, std::string> changes;
  };

  LogicalResult replace(int index) {
    TensorProto &tensor = *model.mutable_graph()->mutable_initializer(index);
    std::string where = "initializer '" + tensor.name() + "'";
    std::optional<ElementType> element =
        getElementType(tensor.data_type(), &reporter.getContext());
    if (!element) // the importer does not read it, either
      return reporter.error() << where << ": expects numbers, but got "
                              << getDataTypeName(tensor.data_type());
    InitializerShape shape{tensor.name(), "", {}, element->sizeInBytes};
    llvm::raw_string_ostream(shape.type) << element->type;
    for (int64_t dimension : tensor.dims()) {
      shape.dimensions.push_back(dimension);
      shape.sizeInBytes *= dimension;
    }
    FailureOr<std::optional<std::string>> elements = newElements(shape);
    if (failed(elements))
      return failure();
    hasNewElements |= elements->has_value();
    if (tensor.data_location() == TensorProto::EXTERNAL)
      return replaceExternal(tensor, shape.sizeInBytes, where, *elements);
    if (*elements) {
      tensor.clear_float_data();
      tensor.clear_double_data();
      tensor.clear_int32_data();
      tensor.set_raw_data(**elements);
    } else if (std::optional<ByteRange> range = file.getRawData(index)) {
      tensor.set_raw_data(file.getBytes(*range).str());
    }
    return success();
  }

  LogicalResult replaceExternal(const TensorProto &tensor, int64_t sizeInBytes,
                                StringRef where,
                                std::optional<std::string> &elements) {
    FailureOr<FileAttr> range = external.locate(tensor, sizeInBytes, where);
    if (failed(range))
      return failure();
    std::string location;
    for (const auto &entry : tensor.external_data())
      if (entry.key() == "location")
        location = entry.value();
    Copy &copy = copies[location];
    copy.from = range->getFile().str();
    SmallString<128> to(llvm::sys::path::parent_path(target));
    llvm::sys::path::append(to, location);
    copy.to = to.str().str();
    bool isSame = false;
    if (!llvm::sys::fs::equivalent(copy.from, copy.to, isSame) && isSame)
      return reporter.error()
             << "has elements in '" << location
             << "' beside it, which would be replaced: write to a file in "
                "another folder";
    if (elements)
      copy.changes[range->getOffset()] = std::move(*elements);
    return success();
  }

  LogicalResult write(const Copy &copy) {
    auto buffer = mapFile(copy.from);
    if (!buffer)
      return reporter.error() << "cannot read '" << copy.from
                              << "': " << buffer.getError().message();
    std::string bytes = (*buffer)->getBuffer().str();
    for (auto &[offset, elements] : copy.changes)
      bytes.replace(offset, elements.size(), elements);
    StringRef folder = llvm::sys::path::parent_path(copy.to);
    if (!folder.empty())
      if (std::error_code code = llvm::sys::fs::create_directories(folder))
        return reporter.error()
               << "cannot create '" << folder << "': " << code.message();
    return check(writeFile(copy.to, bytes), copy.to);
  }

  LogicalResult check(llvm::Error error, StringRef path) {
    if (!error)
      return success();
    return reporter.error() << "cannot write '" << path
                            << "': " << llvm::toString(std::move(error));
  }

  const ModelFile &file;
  const Reporter &reporter;
  StringRef target;
  NewElements newElements;
  ExternalFiles external;
  proto::ModelProto model;
  std::map<std::string, Copy> copies; // by location
  bool hasNewElements = false;
};

} // namespace

LogicalResult gpuopt::replaceWeights(StringRef path, StringRef target,
                                     MLIRContext &context,
                                     NewElements newElements) {
  context.loadDialect<OnnxDialect>();
  Reporter reporter(context, path);
  std::unique_ptr<ModelFile> file = ModelFile::open(path, reporter);
  if (!file)
    return failure();
  return WeightReplacer(*file, reporter, target, newElements).run();
}
