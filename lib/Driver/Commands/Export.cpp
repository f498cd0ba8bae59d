//===- Export.cpp - A model with the weights of a training ----------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands/Process.h"
#include "Files/JoinPath.h"
#include "Files/LoraAdapter.h"
#include "Files/MissingWeights.h"
#include "Files/ModelHash.h"
#include "Files/OtherFormats.h"
#include "Files/SourceModel.h"
#include "Files/TrainedModel.h"
#include "Flags/Notes.h"
#include "gpuopt/Driver/Driver.h"
#include "gpuopt/Import/Onnx/ImportOnnx.h"
#include "gpuopt/Import/Onnx/ReplaceWeights.h"
#include "gpuopt/Pipelines/RegisterAll.h"
#include "gpuopt/Support/CheckOutput.h"
#include "gpuopt/device/missing_path.h"
#include "gpuopt/trainer/checkpoints/checkpoint_names.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace gpuopt;

/// Returns "'a', 'b' and 3 more".
static std::string listOf(ArrayRef<std::string> all) {
  constexpr size_t kMostNames = 8;
  std::vector<std::string> names;
  for (const std::string &name : all.take_front(kMostNames))
    names.push_back("'" + name + "'");
  std::string text = llvm::join(names, ", ");
  if (size_t more = all.size() - names.size())
    text += " and " + std::to_string(more) + " more";
  return text;
}

namespace {

/// Reads the weights of a run and of an adapter, and makes of them the elements
/// of initializers.
class Exporter {
public:
  explicit Exporter(const ExportOptions &options) : options(options) {}

  int run() {
    // With an adapter, the weights may be those that the model has.
    bool isWeights = StringRef(options.run).ends_with(".safetensors");
    bool isModel = !isWeights && llvm::sys::fs::is_regular_file(options.run);
    if (llvm::Error error =
            llvm::joinErrors(isWeights ? llvm::Error::success()
                                       : refuseOtherFormats(options.run),
                             refuseOtherFormats(options.model)))
      return failure(std::move(error));
    if (isModel && options.adapter.empty())
      return failure("'" + options.run +
                     "' is a file: expects the folder of a run, a "
                     ".safetensors file and --model or, with --merge-lora, a "
                     "model");
    if (isWeights && options.averages)
      return failure("--averages are those of a run, but '" + options.run +
                     "' is a file of weights");
    std::string problem = isModel ? "" : isWeights ? loadFile() : load();
    if (!problem.empty())
      return failure(problem);
    if (isModel)
      model = options.run;
    if (!options.adapter.empty())
      if (problem = adapter.load(options.adapter); !problem.empty())
        return failure("--merge-lora: " + problem);
    if (llvm::Error error = checkTarget())
      return failure(std::move(error));
    MLIRContext context;
    context.getDiagEngine().registerHandler([](Diagnostic &diagnostic) {
      failure(diagnostic.str());
      return success();
    });
    if (failed(replaceWeights(
            model, options.file, context,
            [&](const InitializerShape &shape) { return newElements(shape); },
            [&] { return checkAdapter(); },
            [&](ArrayRef<std::vector<std::string>> names) {
              return checkNames(names);
            })))
      return 1;
    warnOfUnused();
    printNotes();
    llvm::outs() << "wrote " << options.file << ": " << model;
    if (!isModel)
      llvm::outs() << " with " << used.size() << " tensors of " << file;
    if (adapted > 0)
      llvm::outs() << (isModel ? " with " : " and ") << adapted
                   << " tensors adapted by " << options.adapter;
    llvm::outs() << "\n";
    return 0;
  }

private:
  /// Fails if the file to write is one of those that are read.
  llvm::Error checkTarget() {
    std::vector<std::string> inputs{model, file};
    if (!options.adapter.empty())
      for (StringRef name :
           {"adapter_config.json", "adapter_model.safetensors"})
        inputs.push_back(joinPath(options.adapter, name));
    if (llvm::Error error = checkOutput(
            options.file, SmallVector<StringRef>(inputs.begin(), inputs.end())))
      return error;
    return checkReplaced(options.file, ".onnx");
  }

  /// Reads weights that a loop of one's own may have saved; returns what is
  /// wrong.
  std::string loadFile() {
    model = options.model;
    if (model.empty())
      return "'" + options.run +
             "' does not say which model it is of; name it by --model";
    file = options.run;
    return weights.load(file);
  }

  /// Finds the model of a run, and reads the weights; returns what is wrong.
  std::string load() {
    if (!llvm::sys::fs::exists(options.run))
      return describe_missing(options.run);
    if (std::string why = whyNoWeights(options.run, options.averages);
        !why.empty())
      return why;
    model = options.model;
    bool findsModel = model.empty();
    if (findsModel) {
      llvm::Expected<std::string> found = findSourceModelFile(options.run);
      if (!found)
        return llvm::toString(found.takeError()) + "; name it by --model";
      model = *found;
    }
    file = joinPath(options.run, options.averages ? kAveragesFile : kModelFile);
    return loadTrained({.weights = file,
                        .model = model,
                        .findsModel = findsModel,
                        .averages = options.averages,
                        .remedy = "name a model that fits by --model"},
                       weights, [&] { return graphHash(); });
  }

  /// Returns the hash of the model's graph; empty if its inputs have sizes that
  /// only flags of its compilation give.
  std::string graphHash() {
    MLIRContext context;
    DialectRegistry registry;
    registerAllDialects(registry);
    context.appendDialectRegistry(registry);
    // What is wrong with the model is told where it is copied.
    context.getDiagEngine().registerHandler(
        [](Diagnostic &) { return success(); });
    OnnxImportOptions import;
    import.usualBatchSize = 1;
    OwningOpRef<ModuleOp> module = importOnnxModel(model, context, import);
    // The file has what is trained by --trained-params as well.
    auto isTrained = [&](StringRef name) { return weights.has(name.str()); };
    return module ? hashOfGraph(*module, isTrained) : "";
  }

  FailureOr<std::optional<std::string>>
  newElements(const InitializerShape &shape) {
    std::vector<int64_t> dimensions(shape.dimensions.begin(),
                                    shape.dimensions.end());
    std::optional<std::string> bytes;
    if (weights.has(shape.name)) {
      used.insert(shape.name);
      std::string problem =
          weights.read(shape.name, shape.type, dimensions, bytes.emplace());
      if (!problem.empty())
        return gpuopt::failure("'" + file +
                               "' is of another model: " + problem),
               mlir::failure();
    }
    std::string weight = adapter.weightOf(shape.name);
    if (weight.empty())
      return bytes;
    if (!bytes) {
      FailureOr<std::string> own = shape.readElements();
      if (failed(own))
        return mlir::failure();
      bytes = *own;
    }
    std::string problem = adapter.apply(weight, shape.type, dimensions, *bytes);
    if (!problem.empty())
      return gpuopt::failure("--merge-lora: initializer '" + shape.name +
                             "': " + problem),
             mlir::failure();
    ++adapted;
    return bytes;
  }

  /// Fails if the weights are of another model.
  LogicalResult checkNames(ArrayRef<std::vector<std::string>> initializers) {
    std::vector<std::string> names = weights.names();
    bool fits = llvm::any_of(
        initializers, [&](auto &all) { return weights.has(all.front()); });
    if (names.empty() || fits)
      return matchAdapter(initializers);
    return gpuopt::failure(
               "'" + file + "' has no weight of '" + model +
               "': its names are " + listOf(names) +
               ", but those of the model's initializers are needed, as "
               "gpuopt.export gives them by the module's state_dict()"),
           mlir::failure();
  }

  /// A model that lacks a part of the adapter would compute something else.
  LogicalResult matchAdapter(ArrayRef<std::vector<std::string>> names) {
    if (options.adapter.empty())
      return success();
    std::vector<std::string> missing;
    std::string problem = adapter.match(names.vec(), missing);
    if (!missing.empty())
      problem =
          "the model has no initializers for " + listOf(missing) + " of '" +
          options.adapter +
          (missing.size() == adapter.size()
               ? "'; export it with the names of its parameters, as "
                 "gpuopt.export does"
               : "', though for its other weights: it is of another model, or "
                 "the export has changed these; merge the adapter by PEFT's "
                 "merge_and_unload and export the result");
    if (problem.empty())
      return success();
    return gpuopt::failure("--merge-lora: " + problem), mlir::failure();
  }

  LogicalResult checkAdapter() {
    std::string problem = adapter.checkOrientation();
    if (problem.empty())
      return success();
    return gpuopt::failure("--merge-lora: " + problem), mlir::failure();
  }

  /// Warns of the weights of a run that the model has no initializer for, but
  /// not of one with the same elements as another: most likely, that is a
  /// further name of a tied weight.
  void warnOfUnused() {
    std::vector<std::string> names;
    for (const std::string &name : weights.names())
      if (!used.contains(name) &&
          llvm::none_of(used.keys(), [&](StringRef other) {
            return weights.areSame(name, other.str());
          }))
        names.push_back(name);
    if (!names.empty())
      llvm::errs() << "gpuopt: warning: '" << file
                   << "' has weights that are no initializers of the model, "
                      "and are left out: "
                   << listOf(names) << "\n";
  }

  const ExportOptions &options;
  std::string model;
  std::string file; ///< It has the weights of the run.
  TrainedWeights weights;
  LoraAdapter adapter;
  llvm::StringSet<> used; ///< These weights of the run are in the model.
  size_t adapted = 0;
};

} // namespace

int gpuopt::exportModel(const ExportOptions &options) {
  return Exporter(options).run();
}
