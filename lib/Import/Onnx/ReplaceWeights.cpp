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

#include "Dimensions.h"
#include "ElementTypes.h"
#include "ExternalData.h"
#include "ModelFile.h"
#include "Tensors.h"
#include "gpuopt/Support/NewFiles.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Path.h"

#include <map>

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

  LogicalResult run(Check isComplete, AllNames tellNames) {
    collectInitializers(*model.mutable_graph());
    std::vector<std::string> names;
    for (const TensorProto *tensor : initializers)
      names.push_back(tensor->name());
    if (tellNames && failed(tellNames(names)))
      return failure();
    for (auto [index, tensor] : llvm::enumerate(initializers))
      if (failed(replace(*tensor, index)))
        return failure();
    if (!hasNewElements)
      return reporter.error() << "has none of the weights";
    if (failed(isComplete()))
      return failure();
    for (auto &[to, copy] : copies)
      if (failed(addCopy(to, copy)))
        return failure();
    std::string bytes;
    if (!model.SerializeToString(&bytes))
      return reporter.error() << "is too large for one file";
    if (failed(check(files.add(target, bytes), target)))
      return failure();
    std::string path;
    llvm::Error error = files.publish(path);
    return check(std::move(error), path);
  }

private:
  /// The bytes of a file beside the model, and what is new in it by offset.
  struct Copy {
    StringRef from;
    std::map<int64_t, std::string> changes;
  };

  /// Collects the initializers of a graph, and then those of the graphs inside
  /// of its nodes.
  void collectInitializers(proto::GraphProto &graph) {
    for (TensorProto &tensor : *graph.mutable_initializer()) {
      initializers.push_back(&tensor);
      ++uses[tensor.name()];
    }
    for (proto::NodeProto &node : *graph.mutable_node())
      for (proto::AttributeProto &attribute : *node.mutable_attribute())
        if (attribute.type() == proto::AttributeProto::GRAPH)
          collectInitializers(*attribute.mutable_g());
  }

  /// Whether an initializer is one of the outermost graph, which are the first.
  bool isOutermost(int index) const {
    return index < file.getModel().graph().initializer_size();
  }

  LogicalResult replace(TensorProto &tensor, int index) {
    std::string where = "initializer '" + tensor.name() + "'";
    std::optional<ElementType> element =
        getElementType(tensor.data_type(), &reporter.getContext());
    if (!element) // the importer does not read it, either
      return reporter.error() << where << ": expects numbers, but got "
                              << getDataTypeName(tensor.data_type());
    InitializerShape shape{tensor.name(), "", {}, 0, {}};
    shape.readElements = [&, index] {
      return elementsOf(tensor, index, shape.sizeInBytes, where);
    };
    llvm::raw_string_ostream(shape.type) << element->type;
    shape.dimensions.assign(tensor.dims().begin(), tensor.dims().end());
    std::optional<int64_t> count = getNumElements(shape.dimensions);
    if (!count) {
      InFlightDiagnostic error = reporter.error();
      error << where << " has the impossible shape [";
      llvm::interleaveComma(shape.dimensions, error);
      return error << "]";
    }
    shape.sizeInBytes = element->getSizeInBytes(*count);
    std::optional<ByteRange> range;
    if (isOutermost(index))
      range = file.getRawData(index);
    if (range && range->size != shape.sizeInBytes)
      return reporter.error() << where << " has " << range->size
                              << " bytes of data, but its type and shape need "
                              << shape.sizeInBytes;
    FailureOr<std::optional<std::string>> elements = newElements(shape);
    if (failed(elements))
      return failure();
    hasNewElements |= elements->has_value();
    if (*elements && uses[tensor.name()] > 1)
      return reporter.error()
             << where << " stands in more than one graph of the model, so that "
             << "its new elements may be of another: give each a name of its "
                "own";
    if (*elements && int64_t((*elements)->size()) != shape.sizeInBytes)
      return reporter.error()
             << where << ": the new elements have " << (*elements)->size()
             << " bytes, but its type and shape need " << shape.sizeInBytes;
    if (tensor.data_location() == TensorProto::EXTERNAL)
      return replaceExternal(tensor, shape.sizeInBytes, where, *elements);
    if (*elements) {
      tensor.clear_float_data();
      tensor.clear_double_data();
      tensor.clear_int32_data();
      tensor.set_raw_data(**elements);
    } else if (range) {
      tensor.set_raw_data(file.getBytes(*range).str());
    }
    return success();
  }

  FailureOr<std::string> elementsOf(const TensorProto &tensor, int index,
                                    int64_t sizeInBytes, StringRef where) {
    if (isOutermost(index))
      if (std::optional<ByteRange> range = file.getRawData(index))
        return file.getBytes(*range).str();
    if (tensor.data_location() == TensorProto::EXTERNAL) {
      FailureOr<FileAttr> range = external.locate(tensor, sizeInBytes, where);
      if (failed(range))
        return failure();
      return external.getBytes(*range).str();
    }
    FailureOr<ElementsAttr> content =
        TensorImporter(file, reporter).importAttribute(tensor, where);
    if (failed(content))
      return failure();
    auto elements = cast<DenseElementsAttr>(*content);
    StringRef bytes(elements.getRawData().data(), elements.getRawData().size());
    std::string all;
    while (int64_t(all.size()) < sizeInBytes) // a splat has one of them
      all += bytes;
    return all;
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
    SmallString<128> to(llvm::sys::path::parent_path(target));
    llvm::sys::path::append(to, location);
    // Tensors of one file may spell its name otherwise: "w.bin", "./w.bin".
    llvm::sys::path::remove_dots(to);
    Copy &copy = copies[to.str().str()];
    copy.from = external.getFile(*range);
    bool isSame = false;
    if (!llvm::sys::fs::equivalent(range->getFile(), to, isSame) && isSame)
      return reporter.error()
             << "has elements in '" << location
             << "' beside it, which would be replaced: write to a file in "
                "another folder";
    if (elements)
      copy.changes[range->getOffset()] = std::move(*elements);
    return success();
  }

  LogicalResult addCopy(const std::string &to, const Copy &copy) {
    std::string bytes = copy.from.str();
    for (auto &[offset, elements] : copy.changes)
      bytes.replace(offset, elements.size(), elements);
    return check(files.add(to, bytes), to);
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
  std::vector<TensorProto *> initializers;
  llvm::StringMap<int> uses;          // of the names of initializers
  std::map<std::string, Copy> copies; // by the path of the new file
  NewFiles files;
  bool hasNewElements = false;
};

} // namespace

LogicalResult gpuopt::replaceWeights(StringRef path, StringRef target,
                                     MLIRContext &context,
                                     NewElements newElements, Check check,
                                     AllNames tellNames) {
  context.loadDialect<OnnxDialect>();
  Reporter reporter(context, path);
  std::unique_ptr<ModelFile> file = ModelFile::open(path, reporter);
  if (!file)
    return failure();
  return WeightReplacer(*file, reporter, target, newElements)
      .run(check, tellNames);
}
