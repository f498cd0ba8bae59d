//===- Compilation.cpp - A model on its way through the phases ------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands/Compilation.h"

#include "Commands/KernelChoice.h"
#include "Files/ModelHash.h"
#include "Flags/Notes.h"
#include "gpuopt/Analysis/Origins.h"
#include "gpuopt/Dialect/Onnx/IR/OnnxOps.h"
#include "gpuopt/Dialect/Train/IR/TrainDialect.h"
#include "gpuopt/Pipelines/RegisterAll.h"
#include "gpuopt/Planning/Recompute/LadderStore.h"
#include "gpuopt/Support/NameExpression.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace gpuopt;

/// Prints "gpuopt: error: /layer1/Conv: ...". The location is the name of an
/// ONNX node; an error of the whole graph has the name of the file instead of
/// the name that the exporter gave the graph.
static void printDiagnostic(Diagnostic &diagnostic, StringRef graph,
                            StringRef file, llvm::raw_ostream &stream) {
  stream << "gpuopt: ";
  switch (diagnostic.getSeverity()) {
  case DiagnosticSeverity::Error:
    stream << "error: ";
    break;
  case DiagnosticSeverity::Warning:
    stream << "warning: ";
    break;
  default:
    stream << "note: ";
    break;
  }
  if (auto name = dyn_cast<NameLoc>(diagnostic.getLocation());
      name && !name.getName().empty())
    stream << (isa<NameLoc>(name.getChildLoc()) || name.getName() != graph
                   ? name.getName().getValue()
                   : file)
           << ": ";
  stream << diagnostic.str() << "\n";
  for (Diagnostic &note : diagnostic.getNotes())
    if (!StringRef(note.str()).starts_with("see current operation"))
      stream << "  note: " << note.str() << "\n";
}

static DialectRegistry allDialects() {
  DialectRegistry registry;
  registerAllDialects(registry);
  return registry;
}

Compilation::Compilation(const DriverOptions &options, bool isSilent)
    : options(options), scheduleOptions(options.pipeline), isSilent(isSilent),
      context(allDialects()) {
  if (!scheduleOptions.ladders)
    scheduleOptions.ladders = std::make_shared<planning::LadderStore>();
  kernelOptions = scheduleOptions;
  context.getDiagEngine().registerHandler([this](Diagnostic &diagnostic) {
    // Remarks say what a training does.
    if (diagnostic.getSeverity() == DiagnosticSeverity::Remark &&
        this->options.pipeline.step.inference)
      return success();
    std::string text;
    llvm::raw_string_ostream stream(text);
    printDiagnostic(diagnostic, graphName, this->options.model, stream);
    diagnostics += text;
    bool isNote = diagnostic.getSeverity() == DiagnosticSeverity::Remark ||
                  diagnostic.getSeverity() == DiagnosticSeverity::Note;
    if (!this->isSilent && !(isNote && this->options.emission.settings.quiet))
      llvm::errs() << text;
    return success();
  });
}

LogicalResult Compilation::runTo(Phase last) {
  for (Phase phase : allPhases().drop_front(phasesDone)) {
    if (phase > last)
      break;
    if (failed(run(phase))) {
      explainBudget();
      return failure();
    }
    ++phasesDone;
    if (!options.dumpPhasesTo.empty() && failed(dump(phase)))
      return failure();
  }
  return success();
}

std::string Compilation::describePrecision() const {
  train::TrainDialect::PrecisionAttrHelper precisions((*module).getContext());
  for (train::StepOp step : (*module).getOps<train::StepOp>())
    if (train::PrecisionAttr report = precisions.getAttr(step);
        report && step.getKind() == train::StepKind::Micro)
      return report.getSummary().str();
  return "";
}

LogicalResult Compilation::run(Phase phase) {
  if (phase == Phase::Import) {
    module = importOnnxModel(options.model, context, options.import);
    if (!module)
      return failure();
    for (auto graph : (*module).getOps<onnx::GraphOp>())
      graphName = nameOf(graph.getLoc());
    takeHashes(*module);
    return success();
  }
  if (phase == Phase::Clusters) {
    KernelChoice choice = chooseKernels(*module, options, kernelOptions);
    kernelOptions = std::move(choice.options);
    stepWithoutBudget = std::move(choice.withoutBudget);
  }
  OwningOpRef<ModuleOp> imported;
  if (phase == Phase::NN && !options.pipeline.legalise.trainedParams.empty())
    imported = module->clone();
  PassManager passes(&context);
  addPhase(passes, phase,
           phase < Phase::Schedule ? kernelOptions : scheduleOptions);
  if (failed(passes.run(*module)))
    return failure();
  if (imported)
    takeHashes(*imported);
  if (phase == Phase::NN &&
      (failed(checkParams("--frozen-params",
                          options.pipeline.legalise.frozenParams)) ||
       failed(checkParams("--trained-params",
                          options.pipeline.legalise.trainedParams))))
    return failure();
  if (std::string text = describePrecision();
      phase == Phase::Precision && !isSilent && !text.empty())
    addNote("precision: " + text);
  return phase == Phase::Precision ? takeCosts() : success();
}

void Compilation::takeHashes(ModuleOp imported) {
  llvm::StringSet<> weights;
  for (const std::string &name : options.pipeline.legalise.storedWeights)
    weights.insert(name);
  for (auto variable : (*module).getOps<train::VariableOp>())
    weights.insert(variable.getSymName());
  auto isTrained = [&](StringRef name) { return weights.contains(name); };
  modelHash = hashOfModel(imported, isTrained);
  // An input that has become a constant is one of this command alone.
  if (options.import.constantInputs.empty())
    graphHash = hashOfGraph(imported, isTrained);
}

LogicalResult Compilation::takeCosts() {
  llvm::Expected<CostReport> found = reportCosts(options, *module);
  if (!found)
    return report(llvm::toString(found.takeError())), failure();
  costs = std::move(*found);
  if (stepWithoutBudget)
    costs.withoutBudget = *stepWithoutBudget;
  if (isSilent)
    return success();
  if (std::string text = costs.describe(); !text.empty())
    addNote("costs: " + text);
  if (std::string text = costs.warning(); !text.empty())
    llvm::errs() << "gpuopt: warning: " << text << "\n";
  return success();
}

LogicalResult Compilation::checkParams(StringRef flag, StringRef names) {
  auto matches = [&](train::VariableOp variable) {
    return variable.isNamed(names);
  };
  if (names.empty() ||
      llvm::any_of((*module).getOps<train::VariableOp>(), matches))
    return success();
  if (auto constants =
          (*module)->getAttrOfType<ArrayAttr>(kNeededConstantsAttribute))
    if (llvm::any_of(constants.getAsRange<StringAttr>(), [&](StringAttr name) {
          return NameExpression(names).match(name);
        }))
      return success();
  return report(flag + " '" + names + "' matches no parameter of the model"),
         failure();
}

void Compilation::explainBudget() {
  std::string measured = noteOn("memory budget");
  if (!unmetBudget() || measured.empty())
    return;
  std::string text = "  note: --memory-budget=auto is " + measured + "\n";
  diagnostics += text;
  if (!isSilent)
    llvm::errs() << text;
}

void Compilation::report(const Twine &error) {
  diagnostics += ("gpuopt: error: " + error + "\n").str();
  if (!isSilent)
    llvm::errs() << "gpuopt: error: " << error << "\n";
}

LogicalResult Compilation::dump(Phase phase) {
  if (std::error_code code =
          llvm::sys::fs::create_directories(options.dumpPhasesTo))
    return report("cannot create '" + options.dumpPhasesTo +
                  "': " + code.message()),
           failure();
  SmallString<256> path(options.dumpPhasesTo);
  llvm::sys::path::append(path, std::to_string((int)phase) + "-" +
                                    gpuopt::nameOf(phase).str() + ".mlir");
  std::error_code code;
  llvm::raw_fd_ostream stream(path, code);
  if (code)
    return report("cannot write '" + path.str() + "': " + code.message()),
           failure();
  module->print(stream, OpPrintingFlags().enableDebugInfo());
  return success();
}

train::UnmetBudgetAttr Compilation::unmetBudget() const {
  if (!module)
    return nullptr;
  ModuleOp op = *module;
  return train::TrainDialect::UnmetBudgetAttrHelper(op.getContext())
      .getAttr(op);
}

int Compilation::exitStatus() const { return unmetBudget() ? 2 : 1; }
