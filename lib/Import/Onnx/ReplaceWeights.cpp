//===- ReplaceWeights.cpp - A model with other weights --------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The model is written again as it was read, with raw data in place of elements
// that are new. Files beside the model are copied to files that are named after
// the new model, with the new elements where the old ones were, or at the end
// where another tensor has the old ones as well.
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Import/Onnx/ReplaceWeights.h"

#include "Dimensions.h"
#include "ElementTypes.h"
#include "ExternalData.h"
#include "ModelFile.h"
#include "Tensors.h"
#include "TiedNames.h"
#include "gpuopt/Support/NewFiles.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MathExtras.h"
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

  LogicalResult run(Check isComplete, AllNames tellNames) {
    collectInitializers(*model.mutable_graph());
    collectAttributes(*model.mutable_graph(), /*isOfFunction=*/false);
    for (proto::FunctionProto &function : *model.mutable_functions())
      for (proto::NodeProto &node : *function.mutable_node())
        collectAttributes(node, /*isOfFunction=*/true);
    if (tellNames) {
      FailureOr<std::vector<std::vector<std::string>>> names = allNames();
      if (failed(names) || failed(tellNames(*names)))
        return failure();
    }
    for (auto [index, tensor] : llvm::enumerate(initializers))
      if (failed(replace(*tensor, index)))
        return failure();
    if (!hasNewElements)
      return reporter.error() << "has none of the weights";
    if (failed(isComplete()))
      return failure();
    for (const auto &[tensor, where] : attributes)
      if (failed(copyAttribute(*tensor, where)))
        return failure();
    if (failed(checkReplaced()))
      return failure();
    for (Copy &copy : copies)
      if (failed(addCopy(copy)))
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
  /// The elements of a tensor in a file beside the model.
  struct Piece {
    TensorProto *tensor;
    int64_t offset, size;
    std::optional<std::string> elements; // if they are new
  };

  /// A file beside the model, and its pieces that tensors have.
  struct Copy {
    std::string path; // of the file that is copied
    StringRef from;   // its bytes
    std::string to;
    std::vector<Piece> pieces;
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

  /// Collects tensors that are attributes, or initializers inside of functions,
  /// and have their elements in files beside the model: these get other names.
  void collectAttributes(proto::GraphProto &graph, bool isOfFunction) {
    if (isOfFunction) // the initializers of other graphs are collected apart
      for (TensorProto &tensor : *graph.mutable_initializer())
        if (tensor.data_location() == TensorProto::EXTERNAL)
          attributes.push_back(
              {&tensor, "initializer '" + tensor.name() + "' of a function"});
    for (proto::NodeProto &node : *graph.mutable_node())
      collectAttributes(node, isOfFunction);
  }
  void collectAttributes(proto::NodeProto &node, bool isOfFunction) {
    for (proto::AttributeProto &attribute : *node.mutable_attribute()) {
      auto add = [&](TensorProto &tensor) {
        if (tensor.data_location() == TensorProto::EXTERNAL)
          attributes.push_back({&tensor, "attribute '" + attribute.name() +
                                             "' of node '" + node.name() +
                                             "'"});
      };
      if (attribute.type() == proto::AttributeProto::GRAPH)
        collectAttributes(*attribute.mutable_g(), isOfFunction);
      if (attribute.type() == proto::AttributeProto::TENSOR)
        add(*attribute.mutable_t());
      for (TensorProto &tensor : *attribute.mutable_tensors())
        add(tensor);
    }
  }

  /// Returns the names of each initializer, its own first: those that
  /// gpuopt.export has noted, and those of TorchScript's Identity nodes.
  FailureOr<std::vector<std::vector<std::string>>> allNames() {
    llvm::StringMap<std::vector<std::string>> others;
    for (const auto &info : model.graph().value_info())
      if (std::string list = tiedNamesIn(info); !list.empty()) {
        FailureOr<std::vector<std::string>> names =
            parseTiedNames(list, info.name(), reporter);
        if (failed(names))
          return failure();
        others[info.name()] = *names;
      }
    for (const proto::NodeProto &node : model.graph().node())
      if (node.op_type() == "Identity" && node.input_size() == 1 &&
          node.output_size() == 1 && isNameOfWeight(node.output(0)))
        others[node.input(0)].push_back(node.output(0));
    std::vector<std::vector<std::string>> all;
    for (const TensorProto *tensor : initializers) {
      all.push_back({tensor->name()});
      llvm::append_range(all.back(), others.lookup(tensor->name()));
    }
    return all;
  }

  /// Whether a value has the name of a parameter, and not that of a node.
  static bool isNameOfWeight(StringRef name) {
    return name.contains('.') && !name.contains('/');
  }

  LogicalResult copyAttribute(TensorProto &tensor, StringRef where) {
    std::optional<ElementType> element =
        getElementType(tensor.data_type(), &reporter.getContext());
    SmallVector<int64_t> dimensions(tensor.dims().begin(), tensor.dims().end());
    std::optional<int64_t> count = getNumElements(dimensions);
    if (!element || !count)
      return reporter.error()
             << where << " has elements in another file, but its type or shape "
             << "is none that gpuopt reads";
    std::optional<std::string> none;
    return replaceExternal(tensor, element->getSizeInBytes(*count), where,
                           none);
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

  LogicalResult replaceExternal(TensorProto &tensor, int64_t sizeInBytes,
                                StringRef where,
                                std::optional<std::string> &elements) {
    FailureOr<FileAttr> range = external.locate(tensor, sizeInBytes, where);
    if (failed(range))
      return failure();
    copyOf(*range).pieces.push_back({&tensor, int64_t(range->getOffset()),
                                     sizeInBytes, std::move(elements)});
    return success();
  }

  /// Returns the copy of the file that a range lies in: "b.onnx.data" for
  /// "b.onnx", and "b.onnx.data.2" for a second file.
  Copy &copyOf(FileAttr range) {
    // Tensors of one file may spell its name otherwise: "w.bin", "./w.bin".
    SmallString<128> path(range.getFile());
    llvm::sys::path::remove_dots(path);
    for (Copy &copy : copies)
      if (copy.path == path)
        return copy;
    std::string to = (target + ".data").str();
    if (!copies.empty())
      to += "." + std::to_string(copies.size() + 1);
    copies.push_back({path.str().str(), external.getFile(range), to, {}});
    return copies.back();
  }

  /// Fails if a copy would replace a file that the model has elements in, or
  /// one that belongs to no model.
  LogicalResult checkReplaced() {
    for (const Copy &source : copies)
      for (const Copy &copy : copies)
        if (llvm::sys::fs::equivalent(source.path, copy.to))
          return reporter.error()
                 << "has elements in '" << copy.to
                 << "', which would be replaced: write to a file of another "
                    "name";
    for (const Copy &copy : copies)
      if (llvm::sys::fs::exists(copy.to) && !llvm::sys::fs::exists(target))
        return reporter.error()
               << "has elements that would be written to '" << copy.to
               << "', which exists although there is no '" << target
               << "' that it would belong to: choose another name, or remove "
                  "it";
    return success();
  }

  LogicalResult addCopy(Copy &copy) {
    std::string bytes = copy.from.str();
    SmallVector<std::pair<int64_t, int64_t>> taken; // begin and end
    auto take = [&](const Piece &piece) {
      taken.push_back({piece.offset, piece.offset + piece.size});
    };
    auto isTaken = [&](const Piece &piece) {
      return llvm::any_of(taken, [&](auto range) {
        return range.first < piece.offset + piece.size &&
               piece.offset < range.second;
      });
    };
    for (const Piece &piece : copy.pieces)
      if (!piece.elements)
        take(piece);
    for (Piece &piece : copy.pieces) {
      if (piece.elements) {
        constexpr size_t kAlignment = 64;
        if (StringRef(bytes).substr(piece.offset, piece.size) ==
            *piece.elements) {
          // They are there already.
        } else if (isTaken(piece)) { // by a tensor with other elements
          bytes.resize(llvm::alignTo(bytes.size(), kAlignment));
          piece.offset = int64_t(bytes.size());
          bytes += *piece.elements;
        } else {
          bytes.replace(piece.offset, piece.size, *piece.elements);
        }
        take(piece);
      }
      setPlace(piece, llvm::sys::path::filename(copy.to));
    }
    return check(files.add(copy.to, bytes), copy.to);
  }

  /// Writes into a tensor where its elements are.
  static void setPlace(const Piece &piece, StringRef location) {
    auto &entries = *piece.tensor->mutable_external_data();
    entries.Clear();
    auto set = [&](const char *key, std::string value) {
      auto *entry = entries.Add();
      entry->set_key(key);
      entry->set_value(std::move(value));
    };
    set("location", location.str());
    set("offset", std::to_string(piece.offset));
    set("length", std::to_string(piece.size));
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
  std::vector<std::pair<TensorProto *, std::string>> attributes; // and where
  llvm::StringMap<int> uses; // of the names of initializers
  std::vector<Copy> copies;
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
