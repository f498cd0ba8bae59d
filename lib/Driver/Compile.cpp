//===- Compile.cpp - From an ONNX file to a folder of sources ---------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OutputDirectory.h"
#include "Weights.h"
#include "gpuopt/Driver/Driver.h"
#include "gpuopt/Pipelines/RegisterAll.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace gpuopt;

/// "error: /layer1/Conv: ...": the location is the name of an ONNX node.
static void printDiagnostic(Diagnostic &diagnostic) {
  bool isError = diagnostic.getSeverity() == DiagnosticSeverity::Error;
  if (diagnostic.getSeverity() == DiagnosticSeverity::Remark)
    return;
  llvm::errs() << "gpuopt: " << (isError ? "error: " : "warning: ");
  if (auto name = dyn_cast<NameLoc>(diagnostic.getLocation()); name && !name.getName().empty())
    llvm::errs() << name.getName().getValue() << ": ";
  llvm::errs() << diagnostic.str() << "\n";
  for (Diagnostic &note : diagnostic.getNotes())
    if (!StringRef(note.str()).starts_with("see current operation"))
      llvm::errs() << "  note: " << note.str() << "\n";
}

static int report(llvm::Error error) {
  llvm::errs() << "gpuopt: error: " << llvm::toString(std::move(error)) << "\n";
  return 1;
}

/// The runtime's headers: beside an installed gpuopt, or in the source tree.
static std::string runtimeFolder() {
  static int anchor;
  SmallString<256> installed(llvm::sys::path::parent_path(llvm::sys::fs::getMainExecutable("gpuopt", &anchor)));
  llvm::sys::path::append(installed, "..", "share", "gpuopt", "runtime");
  return llvm::sys::fs::exists(installed) ? installed.str().str() : GPUOPT_RUNTIME_DIR;
}

std::string gpuopt::resolveTarget(StringRef target) {
  if (target != "auto")
    return target.str();
  bool hasCompiler = static_cast<bool>(llvm::sys::findProgramByName("nvcc"));
  auto query = llvm::sys::findProgramByName("nvidia-smi");
  bool hasGpu = query && llvm::sys::ExecuteAndWait(*query, {*query, "-L"}, std::nullopt, {StringRef(), StringRef(), StringRef()}) == 0;
  return hasCompiler && hasGpu ? "cuda" : "host";
}

namespace {

class Compilation {
public:
  explicit Compilation(const DriverOptions &options) : options(options), context(registry()) {
    context.getDiagEngine().registerHandler([](Diagnostic &diagnostic) {
      printDiagnostic(diagnostic);
      return success();
    });
  }

  int run() {
    module = importOnnxModel(options.model, context, options.import);
    if (!module)
      return 1;
    Phase last = options.compileTo.value_or(Phase::Device);
    for (Phase phase : {Phase::Import, Phase::NN, Phase::Train, Phase::Clusters, Phase::Schedule, Phase::Device}) {
      if (phase > last)
        break;
      if (failed(runPhase(phase)))
        return module->getOperation()->hasAttr(train::kUnmetBudgetAttribute) ? 2 : 1;
      if (!options.dumpPhasesTo.empty())
        if (llvm::Error error = dump(phase))
          return report(std::move(error));
    }
    if (options.compileTo) {
      module->print(llvm::outs());
      return 0;
    }
    FailureOr<ProgramFiles> files = emitProgram(*module, options.emission);
    if (failed(files))
      return 1;
    if (llvm::Error error = write(*files))
      return report(std::move(error));
    return 0;
  }

private:
  static DialectRegistry registry() {
    DialectRegistry registry;
    registerAllDialects(registry);
    return registry;
  }

  LogicalResult runPhase(Phase phase) {
    PassManager passes(&context);
    addPhase(passes, phase, options.pipeline);
    return passes.run(*module);
  }

  llvm::Error dump(Phase phase) {
    if (std::error_code code = llvm::sys::fs::create_directories(options.dumpPhasesTo))
      return llvm::createStringError("cannot create '" + options.dumpPhasesTo + "': " + code.message());
    SmallString<256> path(options.dumpPhasesTo);
    llvm::sys::path::append(path, std::to_string((int)phase) + "-" + gpuopt::nameOf(phase).str() + ".mlir");
    std::error_code code;
    llvm::raw_fd_ostream stream(path, code);
    if (code)
      return llvm::createStringError("cannot write '" + path.str() + "': " + code.message());
    module->print(stream, OpPrintingFlags().enableDebugInfo());
    return llvm::Error::success();
  }

  llvm::Error write(const ProgramFiles &files) {
    auto directory = OutputDirectory::create(options.outputDir);
    if (!directory)
      return directory.takeError();
    for (auto &[name, text] : files)
      if (llvm::Error error = directory->write(name, text))
        return error;
    std::string runtime = runtimeFolder();
    if (llvm::Error error = directory->copyFolder(runtime + "/gpuopt", "gpuopt"))
      return error;
    if (llvm::Error error = directory->copyFolder(runtime + "/program", ""))
      return error;
    if (llvm::Error error = writeWeights(*module, directory->pathOf("")))
      return error;
    return directory->commit();
  }

  const DriverOptions &options;
  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

} // namespace

int gpuopt::compileModel(const DriverOptions &options) { return Compilation(options).run(); }
