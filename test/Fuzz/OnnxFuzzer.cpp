//===- OnnxFuzzer.cpp - Any bytes as an ONNX model ------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Takes a file from the import to the sources of a program. Whatever is in it,
// there is a program, or there is an error. The flags are in the bits of the
// model's ir_version above those that ONNX uses, and so change as the rest
// does; a finding is a plain ONNX file, and this prints its flags.
//
//===----------------------------------------------------------------------===//

#include "OnnxMutations.h"
#include "gpuopt/Import/Onnx/ImportOnnx.h"
#include "gpuopt/Pipelines/Pipelines.h"
#include "gpuopt/Pipelines/RegisterAll.h"
#include "gpuopt/Target/Cxx/EmitProgram.h"
#include "onnx.pb.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>

using namespace mlir;
using namespace gpuopt;

/// Objects of libLLVM, which is compiled without the sanitizers, change hands:
/// what only one side marks is no error. It is also compiled without the
/// counters of statistics, and leaves those of our passes as they are in
/// memory, which has to be 0 for that reason.
extern "C" const char *__asan_default_options() {
  return "allow_user_poisoning=0:detect_container_overflow=0:detect_leaks=0:"
         "malloc_fill_byte=0";
}

namespace {

/// Takes values from a number bit by bit.
class Choices {
public:
  explicit Choices(uint64_t bits) : bits(bits) {}

  unsigned below(unsigned count) {
    unsigned chosen = bits % count;
    bits /= count;
    return chosen;
  }

private:
  uint64_t bits;
};

} // namespace

static const char *lossOf(unsigned index) {
  static const char *const losses[] = {"none",
                                       "cross_entropy",
                                       "mse",
                                       "l1",
                                       "nll",
                                       "huber",
                                       "focal",
                                       "dice",
                                       "kl_div",
                                       "none",
                                       "smooth_l1",
                                       "none",
                                       "none",
                                       "bce_with_logits",
                                       "soft_cross_entropy"};
  return losses[index % std::size(losses)];
}

/// Returns the options of a compilation; those of 0 are the most usual.
static PipelineOptions optionsOf(uint64_t bits) {
  Choices choices(bits);
  PipelineOptions options;
  options.step.loss = lossOf(choices.below(14));
  options.isForGpu = choices.below(2);
  if (!options.isForGpu)
    options.kernelDevice = "host";
  options.schedule.device = options.isForGpu ? "h100" : "host";
  static const char *const types[] = {"", "bf16", "f16"};
  options.precision.halfType = types[choices.below(3)];
  options.step.halfLogits = !options.precision.halfType.empty();
  options.lossScaling.enabled = options.precision.halfType == "f16";
  options.step.inference = choices.below(4) == 3;
  options.legalise.batchNorm = choices.below(2) ? "frozen" : "train";
  options.expandAttention.all = choices.below(2);
  static const char *const optimizers[] = {"adamw", "sgd", "muon", "adafactor"};
  options.step.optimizer = optimizers[choices.below(4)];
  static const int64_t budgets[] = {0, 0, 1 << 10, 1 << 14, 1 << 20};
  options.schedule.activationBudget = budgets[choices.below(5)];
  options.schedule.allowOffload =
      choices.below(2) && options.schedule.activationBudget;
  if (options.step.loss == "cross_entropy")
    options.step.lossChunkCount = choices.below(4);
  return options;
}

/// Takes the model through the phases; every early return is an error that was
/// reported.
static void compile(llvm::StringRef path, uint64_t bits) {
  DialectRegistry registry;
  registerAllDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  unsigned errors = 0;
  context.getDiagEngine().registerHandler([&](Diagnostic &diagnostic) {
    errors += diagnostic.getSeverity() == DiagnosticSeverity::Error;
    (void)diagnostic.str();
    return success();
  });
  OnnxImportOptions import;
  import.usualBatchSize = 4;
  OwningOpRef<ModuleOp> module = importOnnxModel(path, context, import);
  PipelineOptions options = optionsOf(bits);
  bool succeeds = bool(module);
  for (Phase phase : allPhases()) {
    if (!succeeds)
      break;
    PassManager passes(&context);
    addPhase(passes, phase, options);
    succeeds = mlir::succeeded(passes.run(*module));
  }
  succeeds = succeeds && mlir::succeeded(emitProgram(*module, {}));
  if (!succeeds && !errors) {
    llvm::errs() << "the compilation fails without an error\n";
    std::abort();
  }
}

extern "C" int LLVMFuzzerInitialize(int *, char ***) {
  google::protobuf::SetLogHandler(nullptr); // of strings that are no UTF-8
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const std::string folder = [] {
    llvm::SmallString<128> path;
    if (llvm::sys::fs::createUniqueDirectory("gpuopt-fuzz-onnx", path))
      std::abort();
    return std::string(path);
  }();
  std::string path = folder + "/model.onnx";
  std::error_code code;
  llvm::raw_fd_ostream(path, code)
      << llvm::StringRef(reinterpret_cast<const char *>(data), size);
  onnx::proto::ModelProto model;
  uint64_t bits = 0;
  if (model.ParseFromArray(data, size))
    bits = uint64_t(model.ir_version()) >> fuzz::kVersionBits;
  compile(path, bits);
  return 0;
}
