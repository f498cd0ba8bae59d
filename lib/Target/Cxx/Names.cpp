//===- Names.cpp - Names of the emitted source ----------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Names.h"

#include "gpuopt/Dialect/Device/IR/DeviceDialect.h"
#include "gpuopt/Dialect/Device/IR/Gradients.h"
#include "gpuopt/Dialect/Train/IR/TrainDialect.h"
#include "gpuopt/settings/settings_table.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace gpuopt;

//===----------------------------------------------------------------------===//
// Words that are taken
//===----------------------------------------------------------------------===//

static const char kKeywords[] =
    "alignas alignof and and_eq asm auto bitand bitor bool break case catch "
    "char char8_t char16_t char32_t class compl concept const consteval "
    "constexpr constinit const_cast continue co_await co_return co_yield "
    "decltype default delete do double dynamic_cast else enum explicit export "
    "extern false float for friend goto if inline int long mutable namespace "
    "new noexcept not not_eq nullptr operator or or_eq private protected "
    "public register reinterpret_cast requires return short signed sizeof "
    "static static_assert static_cast struct switch template this "
    "thread_local throw true try typedef typeid typename union unsigned using "
    "virtual void volatile wchar_t while xor xor_eq std main";

/// Names that are taken: macros, and what the runtime's headers and the rest of
/// the emitted file declare. Other functions of C are hidden by the program's
/// namespace.
static const char kFromRuntime[] =
    "NAN INFINITY NULL EOF INT32_MIN INT32_MAX INT64_MIN INT64_MAX assert "
    "errno isnan isinf isfinite unix linux time_t size_t int8_t int16_t "
    "int32_t int64_t uint8_t uint16_t uint32_t uint64_t abs acos acosh asin "
    "asinh atan atan2 atanh ceil copysign cos cosh erf exp expm1 floor fma "
    "fmod log log1p pow sin sinh sqrt tan tanh trunc "
    "gpuopt KERNEL EXPORTED_KERNEL DEVICE HOST_DEVICE UNROLL Lanes Context "
    "Buffer Memory EitherBuffer Rows CopyRow GradientRow UpdateRow "
    "ShapedUpdateRow UpdateGroup ParamGroup "
    "DEVICE_TABLE kNowhere on_device for_rows for_span "
    "StepState Hyperparameters Program Type Table Error Event Sum Product "
    "Maximum Minimum Philox f16 bf16 tf32 f32 detail block first_lane "
    "lane_step "
    "first_thread block_sum block_prod block_max block_min block_reduce "
    "reduce reduce_sum reduce_prod reduce_max reduce_min load store load_mask "
    "load_strided store_strided load_mask_strided gather gather_mask "
    "load_scalar store_scalar widen narrow masked first iota select convert "
    "lane set_lane map min max min_of max_of sign is_nan is_inf round_even "
    "divide remainder in_range note_outside attention attention_backward "
    "AttentionScores "
    "rsqrt fast_divide bit_cast bits_of from_bits random_uniform "
    "random_uniform_vector random_uniform_from launch copy "
    "set_zero "
    "copy_to_device copy_to_host synchronize simplified transposed "
    "accumulate sum_parts sum_of_squares finish_grad_norm add_loss begin_step "
    "end_step snapshot restore refresh offload reload await Transfers prepare "
    "check_finite check_finite_rows program describe host "
    "micro_step update evaluate forward Calls CallInfo kMicroStepCalls "
    "kUpdateCalls context ceil_div name_of "
    "size_of layer chunk buffers state hyper memory ctx m left kLanes "
    "kVectorBytes kAlignment "
    "kSpan kSpanThreads kSumColumns kSumThreads SumPartsRow SumPartsRows "
    "sum_parts_blocks kLinear kCosine kConstant kConstantWithWarmup "
    "kCosineWithRestarts kCosineWithMinLr kPolynomial kInverseSqrt "
    "kWarmupStableDecay kReduceLrOnPlateau kLinearRamp kCosineRamp "
    "kOneMinusSqrtRamp kLrSchedulers kLrSchedulerNames kLrRampNames "
    "kInfinity kNaN kSignBit kMaxDims kTargetName kStagingIsDevice "
    "kScatterColumns kScatterSegment kScatterThreads kPersistentBytes "
    "kArenaBytes kHostBytes kStepState "
    "kHyperparameters "
    "kInputs kSavedAs kStates kOutputs kDefaults kOptimizerStates kGradients "
    "kChecked "
    "kCompiled kEvalMetrics kLosses kParamGroupBytes add_loss_part "
    "kIndexed kMicroStepWork kUpdateWork LAUNCH_BOUNDS RESTRICT ROW_MEMORY "
    "group groups group_reduce group_sum group_prod group_max group_min "
    "reduce_groups sum_of_groups prod_of_groups max_of_groups min_of_groups "
    "iterations whole_batches load_vector store_vector load_mask_vector "
    "load_tile round_to is_at minus_at fast_exp fast_tanh convert_parts "
    "to_mask narrow_bf16 narrow_f16 multiply_wide philox philox_call "
    "philox_rounds random_uniform_pair uniform_of";

static llvm::StringSet<> wordsOf(ArrayRef<StringRef> lists) {
  llvm::StringSet<> words;
  for (StringRef list : lists)
    for (StringRef word : llvm::split(list, ' '))
      words.insert(word);
  return words;
}

bool cxx::NameLegaliser::isTaken(StringRef name) const {
  static const llvm::StringSet<> words = wordsOf({kKeywords, kFromRuntime});
  return words.contains(name) || given.contains(name) ||
         find_optimizer(StringRef(name).substr(
             name.starts_with("begin_") ? strlen("begin_") : 0));
}

//===----------------------------------------------------------------------===//
// Legal names
//===----------------------------------------------------------------------===//

std::string cxx::constantName(StringRef symbol) {
  std::string name = "k";
  bool startsWord = true;
  for (char c : symbol) {
    if (!llvm::isAlnum(c)) {
      startsWord = true;
      continue;
    }
    if (startsWord && llvm::isDigit(c) && llvm::isDigit(name.back()))
      name += '_';
    name += startsWord ? llvm::toUpper(c) : c;
    startsWord = false;
  }
  return name;
}

/// Returns a name of letters, digits and single underscores that begins with a
/// letter.
static std::string identifier(StringRef wanted) {
  std::string name;
  for (char c : wanted) {
    bool isGood = llvm::isAlnum(c);
    if (name.empty() && !llvm::isAlpha(c)) {
      name = isGood ? "n" : "";
      name += isGood ? std::string(1, c) : "";
      continue;
    }
    if (isGood || name.back() != '_')
      name += isGood ? c : '_';
  }
  while (!name.empty() && name.back() == '_')
    name.pop_back();
  return name.empty() ? "unnamed" : name;
}

std::string cxx::NameLegaliser::unique(StringRef wanted) {
  std::string stem = identifier(wanted), name = stem;
  if (!given.contains(name) && isTaken(name))
    name += '_';
  for (unsigned count = 2; isTaken(name); ++count)
    name = stem + "_" + std::to_string(count);
  given.insert(name);
  return name;
}

std::string cxx::NameLegaliser::numbered(StringRef stem) {
  for (unsigned count = 0;; ++count) {
    std::string name = stem.str() + std::to_string(count);
    if (isTaken(name))
      continue;
    given.insert(name);
    return name;
  }
}

//===----------------------------------------------------------------------===//
// The names of a module
//===----------------------------------------------------------------------===//

/// Returns "model_" if the names of all weights begin with "model.", because
/// such a wrapper says nothing; empty if they share no prefix.
static std::string sharedPrefix(ModuleOp module) {
  std::optional<StringRef> shared;
  for (train::VariableOp variable : module.getOps<train::VariableOp>()) {
    if (!variable.isWeight())
      continue;
    auto [first, rest] = variable.getSymName().split('.');
    if (rest.empty() || (shared && *shared != first))
      return "";
    shared = first;
  }
  return shared ? identifier(*shared) + "_" : "";
}

static bool isInMultiTensor(device::AddressOp op) {
  return isa<device::MultiTensorOp>(op->getParentOp());
}

bool cxx::isInTable(device::RepeatOp repeat, StringRef column) {
  std::optional<int64_t> stride = repeat.strideOf(column);
  return !stride || (*stride == 0 && repeat.getFunction());
}

/// Calls `note` for each buffer of a loop's columns, and says whether the loop
/// names the buffer, because the column moves on within it.
static void
forEachBuffer(device::RepeatOp repeat,
              llvm::function_ref<void(StringRef buffer, bool isNamed)> note) {
  for (auto column : repeat.getColumns().getAsRange<StringAttr>()) {
    bool isNamed = !cxx::isInTable(repeat, column);
    for (unsigned iteration = 0; iteration < repeat.getNumIterations();
         ++iteration)
      note(repeat.sliceOf(column, iteration).getBuffer().getValue(), isNamed);
  }
}

/// Returns the buffers of the arena and of state that only the tables of loops
/// and multi-tensor calls contain.
static llvm::StringSet<> buffersOfTablesAlone(ModuleOp module) {
  llvm::StringSet<> found;
  module.walk([&](device::RepeatOp op) {
    forEachBuffer(op, [&](StringRef buffer, bool) { found.insert(buffer); });
  });
  module.walk([&](device::AddressOp op) {
    if (isInMultiTensor(op))
      found.insert(op.getBuffer());
  });
  module.walk([&](device::AddressOp op) {
    if (!isInMultiTensor(op))
      found.erase(op.getBuffer());
  });
  module.walk([&](device::RepeatOp op) {
    forEachBuffer(op, [&](StringRef buffer, bool isNamed) {
      if (isNamed)
        found.erase(buffer);
    });
  });
  for (device::BufferOp buffer : module.getOps<device::BufferOp>())
    if (buffer.getKind() != device::BufferKind::Arena &&
        buffer.getKind() != device::BufferKind::State)
      found.erase(buffer.getSymName());
  return found;
}

cxx::ProgramNames::ProgramNames(ModuleOp module)
    : undeclared(buffersOfTablesAlone(module)) {
  module.walk([&](device::CallOp call) { names.reserve(call.getFunction()); });
  std::string prefix = sharedPrefix(module);
  for (device::BufferOp buffer : module.getOps<device::BufferOp>()) {
    StringRef symbol = buffer.getSymName();
    bool isGradient = device::isGradient(buffer) && symbol.consume_front("d_");
    if (!buffer.getExternalName())
      symbol.consume_front(prefix);
    std::string name =
        constantName(symbol.empty() ? buffer.getSymName() : symbol);
    if (isGradient && !symbol.empty())
      name.insert(1, "D_"); // no other name has the underscore there
    buffers[buffer.getSymName()] = names.unique(name);
  }
  for (device::KernelOp kernel : module.getOps<device::KernelOp>())
    kernels[kernel.getSymName()] = names.unique(kernel.getSymName());
}

const std::string &cxx::ProgramNames::ofBuffer(StringRef symbol) const {
  return buffers.find(symbol)->second;
}
std::string cxx::ProgramNames::offsetOf(device::BufferOp buffer) const {
  if (isDeclared(buffer.getSymName()))
    return ofBuffer(buffer.getSymName()) + ".offset";
  return std::to_string(buffer.getOffset());
}
const std::string &cxx::ProgramNames::ofKernel(StringRef symbol) const {
  return kernels.find(symbol)->second;
}
