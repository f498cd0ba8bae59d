//===- Pipelines.cpp - The order of passes --------------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Pipelines/Pipelines.h"

#include "gpuopt/Dialect/Device/Transforms/Passes.h"
#include "gpuopt/Pipelines/Passes.h"
#include "gpuopt/Planning/Recompute/LadderStore.h"
#include "gpuopt/Transforms/Kernels/Passes.h"
#include "gpuopt/settings/compile_table.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace gpuopt;

static constexpr Phase kPhases[] = {
    Phase::Import,    Phase::NN,       Phase::Train,  Phase::Clusters,
    Phase::Precision, Phase::Schedule, Phase::Memory, Phase::Device};
static_assert(std::size(kPhases) == std::size(compile_time::kPhases));

ArrayRef<Phase> gpuopt::allPhases() { return kPhases; }

StringRef gpuopt::nameOf(Phase phase) {
  return compile_time::kPhases[size_t(phase)];
}

std::optional<Phase> gpuopt::parsePhase(StringRef name) {
  for (Phase phase : kPhases)
    if (nameOf(phase) == name)
      return phase;
  return std::nullopt;
}

static void addCleanup(OpPassManager &passes) {
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
}

/// Returns the options with the device and the budgets of the schedule, for
/// which precisions are chosen.
static train::AssignPrecisionOptions
withBudget(train::AssignPrecisionOptions options,
           const train::ScheduleOptions &schedule) {
  options.device = schedule.device;
  options.memoryBudget = schedule.memoryBudget;
  options.activationBudget = schedule.activationBudget;
  options.allowOffload = schedule.allowOffload;
  options.offloadBandwidth = schedule.offloadBandwidth;
  options.takesAny = schedule.takesAny;
  return options;
}

/// Returns the options with the device for which rows are padded, sums are
/// split, kernels are spread over multiprocessors and forms are chosen.
template <typename Options>
static Options withKernelDevice(Options options,
                                const PipelineOptions &pipeline) {
  options.device = pipeline.kernelDevice.empty() ? pipeline.schedule.device
                                                 : pipeline.kernelDevice;
  return options;
}

static kernels::FuseEpiloguesOptions
epilogueOptions(const PipelineOptions &options) {
  kernels::FuseEpiloguesOptions epilogues;
  epilogues.halfType = options.precision.halfType;
  epilogues.profileCosts = options.schedule.profileCosts;
  epilogues.allowsTf32 = options.schedule.allowsTf32;
  bool hasBudget = options.schedule.memoryBudget > 0 ||
                   options.schedule.activationBudget > 0;
  epilogues.hasBudget = hasBudget && !options.recomputed;
  if (hasBudget && options.recomputed)
    epilogues.recomputed = *options.recomputed;
  epilogues.hasOverrides = !options.precision.overrides.empty() ||
                           !options.precision.policyFile.empty();
  return withKernelDevice(epilogues, options);
}

static kernels::FuseRelusOptions reluOptions(const PipelineOptions &options) {
  kernels::FuseEpiloguesOptions epilogues = epilogueOptions(options);
  kernels::FuseRelusOptions relus;
  relus.device = epilogues.device;
  relus.halfType = epilogues.halfType;
  relus.hasOverrides = epilogues.hasOverrides;
  return relus;
}

//===----------------------------------------------------------------------===//
// The phases
//===----------------------------------------------------------------------===//

static void addNN(OpPassManager &passes, const PipelineOptions &options) {
  // Every later pass works on nn, arith and math ops with static shapes, so the
  // file's own ops are replaced first. All ops that are not supported are
  // reported at once.
  passes.addPass(createConvertOnnxToNN(options.legalise));
  // Precisions are chosen in the phase of that name. Until then nothing is
  // in half precision, so no pass before it has to handle that.
  passes.addPass(train::createWidenHalf());
  // This removes ops that only served shape arithmetic and merges equal
  // constants, so that the recognisers below see nothing but the model's
  // own work.
  addCleanup(passes);
  // One op stands for all the ways in which exporters write attention.
  // This has to come before the mask, the scale and the softmax are split
  // up among layouts and kernels.
  passes.addPass(nn::createRecognizeAttention());
  // What is trained of a mask becomes a bias, which has a gradient. The rest
  // may be a band.
  passes.addPass(nn::createRecognizeBiases());
  // Keys and values that are repeated for groups of heads are read once, if
  // there is no bias.
  passes.addPass(nn::createRecognizeSharedKeys());
  // The mask of causal attention becomes two numbers. It is found while it is
  // still one constant, before layouts and kernels take it apart.
  passes.addPass(nn::createRecognizeBands());
  // Only locations change: the parts of a GELU get the names by which
  // kernels and precisions know it. Gradients inherit locations, so this
  // comes before the backward is built.
  passes.addPass(nn::createRecognizeGelu());
  // The rest of the compiler relies on what these checks state. There is one at
  // the end of each phase, and it runs in every compilation.
  passes.addPass(createVerifyNN());
}

static void addTrain(OpPassManager &passes, const PipelineOptions &options) {
  nn::ExpandAttentionOptions expansion =
      withKernelDevice(options.expandAttention, options);
  expansion.inference = options.step.inference;
  // Attention is a call in the forward and in the backward. Where the runtime
  // has no call for it, the backward is that of its formula, so such an op is
  // spelled out before the backward is built. The scheduler may then save the
  // probabilities or compute them again.
  passes.addPass(nn::createExpandAttention(expansion));
  // Each expansion has built its own mask; layers share one from here on. It
  // is merged before the steps are cloned from the function.
  passes.addPass(createCSEPass());
  // Convolutions of images get a form for tensor cores, which multiply in half
  // precision. The gradient is that of the new form, so it comes before the
  // steps are built.
  if (options.isForGpu && !options.precision.halfType.empty())
    passes.addPass(nn::createRewriteStems());
  // Batch norms behind convolutions of single pixels become factors of their
  // weights. The steps that evaluate have their own form of it, and the
  // gradient is that of the product, so it comes before the steps are built.
  if (options.isForGpu && !options.precision.halfType.empty())
    passes.addPass(nn::createFoldBatchNorms());
  // The function becomes a step for each use, with loss, gradients and
  // updates. All later phases work on steps.
  passes.addPass(train::createBuildStep(options.step));
  // Batch norms of a forward have their running statistics now. They are a part
  // of weights before the biases are joined with what follows. In half
  // precision, that would keep weights in both types.
  if (options.precision.halfType.empty())
    passes.addPass(train::createFoldRunningStatistics());
  // The backward begins at a train.seed. This pass says what the seed is: 1,
  // or the loss scale. It comes before the cleanup, which folds products
  // with 1.
  passes.addPass(train::createInsertLossScaling(options.lossScaling));
  // Products with 1 fold here, and work that several gradients have in common
  // is merged.
  addCleanup(passes);
  passes.addPass(createVerifyTrain());
}

static void addClusters(OpPassManager &passes, const PipelineOptions &options) {
  // Kernels are formed of elementwise ops and reductions. Composite ops
  // are spelled out first, so that layouts can move through them as well.
  nn::DecomposeOptions formulas;
  formulas.oneRead = options.isForGpu;
  // convSums stays off: cuDNN's engines for it add by atomics, so that each run
  // has other bits.
  passes.addPass(nn::createDecompose(formulas));
  // Transposes and reshapes between two ops would separate work that could
  // share a kernel. This comes before biases and accumulators are formed, which
  // its patterns for products do not handle.
  passes.addPass(nn::createAbsorbLayouts());
  // Layouts of constants fold here, and layouts that became equal merge.
  addCleanup(passes);
  // The folding of constants can make way for further reshapes to move.
  passes.addPass(nn::createAbsorbLayouts());
  // This is the last folding: it leaves the steps as kernels see them.
  addCleanup(passes);
  // Folding has made masks large. They are made small after the last
  // folding, which would undo it, and before kernels are formed that read
  // them.
  passes.addPass(nn::createCompactConstants());
  // Sums that are equal but for a factor become one. Equal factors have been
  // merged, and the sums have not been split yet.
  if (options.isForGpu) {
    passes.addPass(nn::createMergeSums());
    // It needs batch norms spelled out and free of layouts, and decides what
    // kernels will read.
    passes.addPass(nn::createRecomputeMasks());
  }
  // A reduction becomes two where one would leave most of the device idle.
  // Each of the two is a kernel by itself, so this comes before kernels
  // are formed.
  passes.addPass(nn::createSplitReductions(
      withKernelDevice(nn::SplitReductionsOptions(), options)));
  // Sums of products become products that add to each other. This needs their
  // final layout, and it comes before kernels are formed, because a sum that is
  // left would become a kernel that reads all products at once.
  passes.addPass(kernels::createAccumulateProducts());
  // The library adds the biases that would be kernels of their own. Which
  // these are depends on what reads the sums, so all other work has its final
  // form by now.
  passes.addPass(kernels::createAbsorbBiases());
  // All other work becomes kernels: what is stored and what is computed
  // again inside its reader is decided here, once for all later passes.
  passes.addPass(kernels::createFormClusters());
  // The costs of kernels, which the passes below compare, are those of the
  // quotients that kernels will have.
  passes.addPass(kernels::createMarkFastMath());
  // The library applies the ReLUs that would be kernels behind its products.
  // Kernels do nothing else yet: column sums join those that are left.
  if (options.isForGpu && options.fuseEpilogues)
    passes.addPass(kernels::createFuseRelus(reluOptions(options)));
  // Which kernels read and write which tensors is known, and nothing but views
  // stands between them yet. Sums over columns go where the tensors are read
  // anyway.
  kernels::MergeAttentionSumsOptions ofAttention;
  passes.addPass(kernels::createMergeAttentionSums(
      withKernelDevice(ofAttention, options)));
  kernels::MergeColumnSumsOptions sums;
  passes.addPass(
      kernels::createMergeColumnSums(withKernelDevice(sums, options)));
  // Only views are left between kernels and calls. Those that a reader cannot
  // read by strides become copies. Copies are kernels, too, so they have to
  // exist before costs and memory are considered.
  passes.addPass(kernels::createMaterializeViews());
  // Kernels and copies are complete, so it is known which of them could
  // run earlier and free a large tensor. The schedule keeps the order that
  // this leaves.
  passes.addPass(kernels::createHoistReaders());
  // The library applies the GELUs that would be kernels behind its products.
  // What they read has its place, and their biases have no types yet, so they
  // are given copies in half precision as weights are.
  if (options.isForGpu && options.fuseEpilogues)
    passes.addPass(kernels::createFuseEpilogues(epilogueOptions(options)));
  passes.addPass(createVerifyClusters());
}

static void addPrecision(OpPassManager &passes, const PipelineOptions &options,
                         std::shared_ptr<planning::LadderStore> ladders) {
  // The workspace of libraries counts against the memory budget, which the
  // next pass and the schedule read.
  if (options.isForGpu)
    passes.addPass(train::createReserveWorkspace(options.workspace));
  // Kernels are formed, so the bytes that a precision saves are exact. It
  // comes before the schedule, which has to know the sizes of tensors.
  passes.addPass(train::createAssignPrecision(
      withBudget(options.precision, options.schedule), ladders));
  // The labels of the pass above become types and casts. The casts are
  // kernels or parts of kernels, so the schedule has to see them.
  passes.addPass(train::createInsertCasts());
  // What comes from half precision is known now. This is decided before the
  // schedule, whose repeats of parts of a kernel must have the same bits.
  passes.addPass(kernels::createMarkFastMath());
  // Which matrices are in half precision is known, and so which rows libraries
  // would read slowly. Pads count in all sizes from here on.
  kernels::PadRowsOptions padRows = withKernelDevice(options.padRows, options);
  padRows.allowsTf32 = options.schedule.allowsTf32;
  passes.addPass(kernels::createPadRows(padRows));
  // Rows lie elsewhere now: what calls can read and write is checked again.
  passes.addPass(createVerifyClusters());
  // The library adds up the columns of what it has made where it multiplies
  // them. Kernels have taken all other sums, and types say which products keep
  // f32.
  if (options.isForGpu && options.fuseEpilogues)
    passes.addPass(kernels::createSumOperands(
        withKernelDevice(kernels::SumOperandsOptions(), options)));
  // Nothing looks for the last stages of sums any more, so these can become a
  // part of small kernels that read them.
  if (options.isForGpu)
    passes.addPass(kernels::createFinishSums(
        withKernelDevice(kernels::FinishSumsOptions(), options)));
  // Kernels have their types and their places. The parts of sums will live
  // until one launch adds them up, which the schedule has to know.
  kernels::CollectSumsOptions sums;
  passes.addPass(kernels::createCollectSums(withKernelDevice(sums, options)));
  passes.addPass(createVerifyPrecision());
}

static void addSchedule(OpPassManager &passes, const PipelineOptions &options,
                        std::shared_ptr<planning::LadderStore> ladders) {
  // All kernels, copies and casts exist. A result that is written over an
  // operand needs no memory of its own, which the schedule has to know.
  passes.addPass(kernels::createMarkInPlace());
  // Pads that hold zeros keep them where a kernel writes over its operand. What
  // has spare rows is larger, which all that follows has to know.
  kernels::ReserveRowsOptions rows;
  passes.addPass(kernels::createReserveRows(withKernelDevice(rows, options)));
  // Copies in half precision and the workspace exist, so all state does. The
  // budget of the schedule is what the state leaves.
  passes.addPass(train::createPlanState());
  // What is computed again or offloaded is chosen on the kernels and calls
  // that the program will have. No later pass may merge, move or add work.
  passes.addPass(train::createSchedule(options.schedule, ladders));
  passes.addPass(createVerifySchedule());
}

static void addMemory(OpPassManager &passes) {
  // The order is final, and with it the lifetimes: each tensor gets its
  // offset. The schedule has packed the same lifetimes, and verify-memory
  // checks that its promise is kept.
  passes.addPass(train::createPlanMemory());
  // The schedule is checked again, since a pass has run after the first check.
  passes.addPass(createVerifySchedule());
  passes.addPass(createVerifyMemory());
}

static void addDevice(OpPassManager &passes, const PipelineOptions &options) {
  // Everything is decided. This pass writes it down as launches and calls
  // on addresses, which the printer turns into C++ line by line.
  passes.addPass(
      createConvertToDevice(withKernelDevice(options.conversion, options)));
  // The updates of all parameters become one call, as do other long rows of
  // calls, rather than loops over layers.
  device::FormMultiTensorCallsOptions longRows;
  longRows.leastCalls = 8;
  passes.addPass(device::createFormMultiTensorCalls(longRows));
  // What is computed again stands before its reader, as in other layers.
  passes.addPass(device::createSinkRecomputedCalls());
  // The calls of layers become loops, as a person would write them. Two or
  // three sums of gradients in a row are part of their layer here; only calls
  // that no loop has taken become one afterwards.
  passes.addPass(device::createRollLoops());
  passes.addPass(device::createFormMultiTensorCalls());
  // Kernels that differ in numbers alone become one. This comes after the
  // loops, which are found by layers that launch the same kernel, and changes
  // only how many kernels are compiled.
  passes.addPass(device::createShareKernels());
  passes.addPass(createVerifyDevice());
}

void gpuopt::addPhase(OpPassManager &passes, Phase phase,
                      const PipelineOptions &options) {
  auto ladders = options.ladders ? options.ladders
                                 : std::make_shared<planning::LadderStore>();
  switch (phase) {
  case Phase::Import:
    return;
  case Phase::NN:
    return addNN(passes, options);
  case Phase::Train:
    return addTrain(passes, options);
  case Phase::Clusters:
    return addClusters(passes, options);
  case Phase::Precision:
    return addPrecision(passes, options, ladders);
  case Phase::Schedule:
    return addSchedule(passes, options, ladders);
  case Phase::Memory:
    return addMemory(passes);
  case Phase::Device:
    return addDevice(passes, options);
  }
}

void gpuopt::registerPipelines() {
  for (Phase last : kPhases) {
    if (last == Phase::Import)
      continue;
    std::string name = ("gpuopt-to-" + nameOf(last)).str();
    std::string description =
        ("From an imported model to the phase '" + nameOf(last) + "'").str();
    auto build = [last,
                  name](OpPassManager &passes, StringRef options,
                        llvm::function_ref<LogicalResult(const Twine &)> fail)
        -> LogicalResult {
      if (!options.empty())
        return fail("'" + name + "' takes no options, but got '" + options +
                    "'");
      for (Phase phase : kPhases)
        if (phase <= last)
          addPhase(passes, phase, PipelineOptions());
      return success();
    };
    registerPassPipeline(name, description, build, [](auto) {});
  }
}
