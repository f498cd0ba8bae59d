//===- ImportOnnx.cpp - From an ONNX file to the onnx dialect -------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Import/Onnx/ImportOnnx.h"

#include "GraphImporter.h"
#include "NodeOrder.h"
#include "Strings.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace gpuopt;
using namespace gpuopt::onnx;

/// The oldest opset that is read. Older operators broadcast in another way;
/// such files should be converted to a newer opset.
static constexpr int64_t kMinOpset = 7;
/// The newest opset whose operators were compared with what gpuopt reads. Later
/// operators may have attributes with another meaning.
static constexpr int64_t kNewestOpset = 28;

llvm::Error OnnxImportOptions::addDimension(StringRef text) {
  auto [name, number] = text.rsplit('=');
  int64_t size;
  if (name.empty() || number.getAsInteger(10, size))
    return llvm::createStringError(
        llvm::Twine("expects a dimension as NAME=N, but got '") + text + "'");
  auto [known, isNew] = dimensions.try_emplace(name.str(), size);
  if (!isNew && known->second != size)
    return llvm::createStringError(
        llvm::Twine("dimension '") + name + "' is given two sizes, " +
        llvm::Twine(known->second) + " and " + llvm::Twine(size));
  return llvm::Error::success();
}

static LogicalResult checkOpsets(const Opsets &opsets,
                                 const Reporter &reporter) {
  for (const auto &[domain, version] : opsets) {
    if (version < 1)
      return reporter.error() << "imports opset " << version << " of domain '"
                              << domain << "', which is no version";
    if (domain == GraphOp::kDefaultDomain && version < kMinOpset)
      return reporter.error()
             << "is of opset " << version << ", but gpuopt reads opset "
             << kMinOpset
             << " and up: export again, or convert it with "
                "onnx.version_converter.convert_version(model, "
             << kMinOpset << ")";
  }
  return success();
}

static void warnOfNewOpset(const Opsets &opsets, const Reporter &reporter) {
  auto found = opsets.find(GraphOp::kDefaultDomain.str());
  if (found != opsets.end() && found->second > kNewestOpset)
    reporter.warning() << "is of opset " << found->second
                       << ", but gpuopt knows operators up to opset "
                       << kNewestOpset
                       << ": what newer ones mean is not certain; export with "
                          "that one if the model allows it";
}

OwningOpRef<ModuleOp>
gpuopt::importOnnxModel(StringRef path, MLIRContext &context,
                        const OnnxImportOptions &options) {
  context.loadDialect<OnnxDialect>();
  Reporter reporter(context, path);
  std::unique_ptr<ModelFile> file = ModelFile::open(path, reporter);
  if (!file)
    return {};
  const proto::ModelProto &model = file->getModel();
  if (failed(checkStrings(model, reporter)))
    return {};
  Opsets opsets = collectOpsets(model.opset_import());
  if (failed(checkOpsets(opsets, reporter)))
    return {};
  FailureOr<NodeList> list = inlineFunctions(model, opsets, reporter);
  if (failed(list) || failed(checkOpsets(opsets, reporter)) ||
      failed(sortNodes(list->nodes, model.graph(), reporter)))
    return {};
  warnOfNewOpset(opsets, reporter);
  GraphInputs inputs = collectInputs(model.graph());
  FailureOr<ConstantInputs> constants =
      takeConstantInputs(inputs, options, reporter);
  Dimensions dimensions(options, reporter);
  if (failed(constants) || failed(dimensions.bind(inputs, *constants)))
    return {};
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&context));
  GraphImporter importer(*file, std::move(inputs), std::move(*constants),
                         dimensions, reporter);
  if (failed(importer.run(list->nodes, opsets, *module)) ||
      failed(verify(*module)))
    return {};
  return module;
}
