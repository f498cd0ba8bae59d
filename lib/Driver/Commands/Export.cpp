//===- Export.cpp - A model with the weights of a training ----------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands/Process.h"
#include "Files/JoinPath.h"
#include "Files/SourceModel.h"
#include "Files/TrainedWeights.h"
#include "gpuopt/Driver/Driver.h"
#include "gpuopt/Import/Onnx/ReplaceWeights.h"
#include "gpuopt/trainer/checkpoints/checkpoint_names.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace gpuopt;

/// Warns of the weights of a file that the model has no initializer for.
static void warnOfUnused(const TrainedWeights &weights,
                         const llvm::StringSet<> &used, StringRef file) {
  constexpr size_t kMostNames = 8;
  std::vector<std::string> names;
  for (const std::string &name : weights.names())
    if (!used.contains(name))
      names.push_back("'" + name + "'");
  if (names.empty())
    return;
  size_t more = names.size() - std::min(names.size(), kMostNames);
  names.resize(names.size() - more);
  llvm::errs() << "gpuopt: warning: '" << file
               << "' has weights that are no initializers of the model, and "
                  "are left out: "
               << llvm::join(names, ", ");
  if (more > 0)
    llvm::errs() << " and " << more << " more";
  llvm::errs() << "\n";
}

int gpuopt::exportModel(const ExportOptions &options) {
  std::string model = options.model;
  if (model.empty()) {
    llvm::Expected<std::string> found = findSourceModel(options.run);
    if (!found)
      return failure(llvm::toString(found.takeError()) +
                     "; name it by --model");
    model = *found;
  }
  std::string file =
      joinPath(options.run, options.averages ? kAveragesFile : kModelFile);
  TrainedWeights weights;
  if (std::string problem = weights.load(file); !problem.empty())
    return failure(problem);
  MLIRContext context;
  context.getDiagEngine().registerHandler([](Diagnostic &diagnostic) {
    failure(diagnostic.str());
    return success();
  });
  llvm::StringSet<> used;
  auto newElements = [&](const InitializerShape &shape)
      -> FailureOr<std::optional<std::string>> {
    if (!weights.has(shape.name))
      return std::optional<std::string>();
    used.insert(shape.name);
    std::string bytes;
    std::string problem =
        weights.read(shape.name, shape.type,
                     {shape.dimensions.begin(), shape.dimensions.end()}, bytes);
    if (problem.empty())
      return std::optional<std::string>(std::move(bytes));
    return failure("'" + file + "' is of another model: " + problem),
           mlir::failure();
  };
  if (failed(replaceWeights(model, options.file, context, newElements)))
    return 1;
  warnOfUnused(weights, used, file);
  llvm::outs() << "wrote " << options.file << ": " << model << " with "
               << used.size() << " tensors of " << file << "\n";
  return 0;
}
