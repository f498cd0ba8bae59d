//===- Tables.cpp - What the trainer knows of a program -------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Program/Tables.h"

#include "Step/Calls.h"
#include "Text.h"
#include "Types.h"
#include "gpuopt/Dialect/Device/IR/BatchSize.h"
#include "gpuopt/Dialect/Device/IR/DeviceDialect.h"
#include "gpuopt/Dialect/Train/IR/TrainDialect.h"
#include "gpuopt/settings/limits.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace gpuopt;

namespace {

/// Rows of the tables, in the order of the module's buffers.
struct Rows {
  SmallVector<std::string> inputs, states, outputs;
  /// The names of weights in files, with a null behind those of each state.
  SmallVector<std::string> savedAs;
};

class TablePrinter {
public:
  TablePrinter(ModuleOp module, const EmissionOptions &options,
               const cxx::ProgramNames &names, raw_ostream &stream)
      : module(module), options(options), names(names), stream(stream) {}

  /// Prints the tables to `tables`, and to the stream the function that names
  /// them.
  LogicalResult print(ArrayRef<cxx::StepFunction> functions,
                      raw_ostream &tables) {
    Rows rows;
    for (StringRef scalars : {"StepState", "Hyperparameters"})
      rows.states.push_back(("{{\"" + scalars + "\", Type::U8, 1, {sizeof(" +
                             scalars + ")}, k" + scalars + ".offset, sizeof(" +
                             scalars + ")}, StateKind::" + scalars + "}")
                                .str());
    for (train::VariableOp variable : module.getOps<train::VariableOp>())
      if (variable.getKind() == train::VariableKind::Folded && variable.getOf())
        foldedInPlace.insert(*variable.getOf());
    for (device::BufferOp buffer : module.getOps<device::BufferOp>())
      if (buffer.getKind() == device::BufferKind::Output)
        outputNumber.try_emplace(buffer.getSymName(), outputNumber.size());
    for (device::BufferOp buffer : module.getOps<device::BufferOp>())
      if (failed(addRow(buffer, rows)))
        return failure();
    auto printTable = [&](StringRef type, StringRef name,
                          ArrayRef<std::string> rows) {
      this->printTable(type, name, rows, tables);
    };
    printTable("InputInfo", "kInputs", rows.inputs);
    printTable("char *const", "kSavedAs", rows.savedAs);
    printTable("StateInfo", "kStates", rows.states);
    printTable("OutputInfo", "kOutputs", rows.outputs);
    module.walk([&](device::GradNormOp op) { norm = op; });
    if (norm)
      printTable("GradientInfo", "kGradients", gradientRows());
    SmallVector<std::string> checked;
    module.walk([&](device::CheckFiniteOp op) {
      checked.push_back(cxx::quoted(op.getName()));
    });
    hasChecks = !checked.empty();
    printTable("char *const", "kChecked", checked);
    SmallVector<std::string> indexed;
    module.walk([&](device::InRangeOp op) {
      indexed.push_back("{" + cxx::quoted(op.getName()) + ", " +
                        std::to_string(op.getSize()) + "}");
    });
    hasIndexed = !indexed.empty();
    printTable("IndexedInfo", "kIndexed", indexed);
    printTable("char *const", "kOptimizerStates", optimizerStates());
    SmallVector<std::string> compiled;
    for (const std::string &flag : options.compiled)
      compiled.push_back(cxx::quoted(flag));
    printTable("char *const", "kCompiled", compiled);
    SmallVector<std::string> metrics;
    for (const std::string &name : options.evalMetrics)
      metrics.push_back(cxx::quoted(name));
    printTable("char *const", "kEvalMetrics", metrics);
    SmallVector<std::string> losses;
    for (const LossTerm &term : options.losses)
      losses.push_back("{" + cxx::quoted(term.output) + ", " +
                       cxx::doubleLiteral(term.weight) + "}");
    printTable("LossInfo", "kLosses", losses);
    stream << "static Program describe() {\n  Program p{};\n";
    printProgram(rows, functions);
    stream << "  return p;\n}\n\n} // namespace gpuopt::model\n\nconst "
              "gpuopt::Program &program() {\n"
           << "  static const gpuopt::Program instance = "
              "gpuopt::model::describe();\n  return instance;\n}\n";
    return success();
  }

private:
  //===--------------------------------------------------------------------===//
  // Rows
  //===--------------------------------------------------------------------===//

  std::string tensorInfo(device::BufferOp buffer, StringRef name) {
    auto type = cast<RankedTensorType>(buffer.getType());
    std::string text;
    llvm::raw_string_ostream row(text);
    row << "{" << cxx::quoted(name) << ", "
        << cxx::typeEnum(type.getElementType()) << ", " << type.getRank()
        << ", {";
    llvm::interleaveComma(type.getShape(), row);
    // Files and callers have the elements, not what lies behind them.
    row << "}, " << names.offsetOf(buffer) << ", "
        << buffer.getOffsetOf(type.getNumElements()) - buffer.getOffsetOf(0)
        << "}";
    return text;
  }

  LogicalResult addRow(device::BufferOp buffer, Rows &rows) {
    device::BufferKind kind = buffer.getKind();
    bool isExternal = kind == device::BufferKind::Input ||
                      kind == device::BufferKind::Labels ||
                      kind == device::BufferKind::Output;
    if (isExternal && !buffer.getExternalName())
      return buffer.emitOpError("expects an 'externalName'");
    switch (kind) {
    case device::BufferKind::Input:
    case device::BufferKind::Labels:
      rows.inputs.push_back(inputInfo(buffer));
      break;
    case device::BufferKind::Output:
      rows.outputs.push_back(
          "{" + tensorInfo(buffer, *buffer.getExternalName()) + "}");
      break;
    case device::BufferKind::Constant:
      rows.states.push_back(
          "{" + tensorInfo(buffer, ("constant." + buffer.getSymName()).str()) +
          ", StateKind::Constant}");
      break;
    case device::BufferKind::State:
      return addState(buffer, rows);
    case device::BufferKind::Arena:
    case device::BufferKind::Host:
      break;
    }
    return success();
  }

  std::string inputInfo(device::BufferOp buffer) {
    bool isLabel = buffer.getKind() == device::BufferKind::Labels;
    std::string row =
        "{" + tensorInfo(buffer, *buffer.getExternalName()) + ", ";
    train::IndexRangeAttr range = buffer.getIndicesAttr();
    row += range ? std::to_string(range.getLimit()) : "-1";
    row += isLabel ? ", true" : ", false";
    std::optional<int64_t> ignored = range ? range.getIgnored() : std::nullopt;
    bool isSigned = range && range.getLowest() != 0;
    std::optional<StringRef> placedIn = buffer.getPlacedIn();
    if (ignored || isSigned || placedIn)
      row += ", " + (ignored ? std::to_string(*ignored) : "INT64_MIN");
    if (isSigned || placedIn)
      row += ", " + std::to_string(range ? range.getLowest() : 0);
    if (placedIn)
      row += ", " + std::to_string(outputNumber.lookup(*placedIn));
    return row + "}";
  }

  static StringRef stateKind(train::VariableKind kind) {
    switch (kind) {
    case train::VariableKind::Parameter:
      return "Parameter";
    case train::VariableKind::Frozen:
      return "Frozen";
    case train::VariableKind::Buffer:
      return "Buffer";
    case train::VariableKind::Gradient:
      return "Gradient";
    case train::VariableKind::OptimizerState:
      return "OptimizerState";
    case train::VariableKind::Snapshot:
      return "Snapshot";
    case train::VariableKind::HalfCopy:
      return "HalfCopy";
    case train::VariableKind::Folded:
      return "Folded";
    case train::VariableKind::LossScale:
      return "LossScale";
    case train::VariableKind::ParamGroups:
      return "ParamGroups";
    case train::VariableKind::Losses:
      return "Losses";
    case train::VariableKind::Workspace:
      return "Workspace";
    case train::VariableKind::Staging:
      return "Staging";
    }
    return "";
  }

  LogicalResult addState(device::BufferOp buffer, Rows &rows) {
    auto variable =
        buffer.getVariable()
            ? module.lookupSymbol<train::VariableOp>(*buffer.getVariable())
            : nullptr;
    if (!variable)
      return buffer.emitOpError("expects a 'variable' of the module");
    std::string row = "{" + tensorInfo(buffer, variable.getSymName()) +
                      ", StateKind::" + stateKind(variable.getKind()).str();
    bool isFolded = foldedInPlace.contains(variable.getSymName());
    if (!variable.getSavedAs().empty()) {
      row += ", kSavedAs + " + std::to_string(rows.savedAs.size());
      for (Attribute name : variable.getSavedAs())
        rows.savedAs.push_back(cxx::quoted(cast<StringAttr>(name).getValue()));
      rows.savedAs.push_back("nullptr");
    } else if (isFolded) {
      row += ", nullptr";
    }
    rows.states.push_back(row + (isFolded ? ", true}" : "}"));
    return success();
  }

  /// Also counts the partial sums.
  SmallVector<std::string> gradientRows() {
    SmallVector<std::string> rows;
    partials = 0;
    for (auto [name, count] :
         llvm::zip(norm.getParameters(), norm.getCounts())) {
      rows.push_back("{" + cxx::quoted(cast<StringAttr>(name).getValue()) +
                     ", " + std::to_string(partials) + "}");
      partials += sum_of_squares_partials(count);
    }
    return rows;
  }

  static void printTable(StringRef type, StringRef name,
                         ArrayRef<std::string> rows, raw_ostream &stream) {
    if (rows.empty())
      return;
    stream << "\nstatic const " << type << " " << name << "[] = {\n";
    for (const std::string &row : rows)
      cxx::printLine(stream, "    " + row + ",");
    stream << "};\n";
  }

  //===--------------------------------------------------------------------===//
  // The program
  //===--------------------------------------------------------------------===//

  void set(StringRef field, const Twine &value) {
    stream << "  p." << field << " = " << value << ";\n";
  }
  void set(StringRef field, double value) {
    set(field, Twine(cxx::doubleLiteral(value)));
  }

  void printProgram(const Rows &rows, ArrayRef<cxx::StepFunction> functions) {
    set("name", cxx::quoted(options.modelName));
    if (!options.modelHash.empty())
      set("model", cxx::quoted(options.modelHash));
    if (!options.graphHash.empty())
      set("graph", cxx::quoted(options.graphHash));
    if (!options.compiled.empty())
      set("compiled", "kCompiled");
    if (!options.evalMetrics.empty())
      set("eval_metrics", "kEvalMetrics");
    if (!options.losses.empty())
      set("losses", "kLosses");
    if (!rows.inputs.empty())
      set("inputs", "kInputs");
    set("states", "kStates");
    if (!rows.outputs.empty())
      set("outputs", "kOutputs");
    if (norm) {
      auto scratch = norm.getScratch().getDefiningOp<device::AddressOp>();
      set("gradients", "kGradients");
      set("partials_offset", names.ofBuffer(scratch.getBuffer()) + ".offset");
      set("partials", Twine(partials));
    }
    if (hasChecks)
      set("checked", "kChecked");
    if (hasIndexed)
      set("indexed", "kIndexed");
    if (options.allowsTf32)
      set("allows_tf32", "true");
    set("persistent_bytes", "kPersistentBytes");
    set("arena_bytes", "kArenaBytes");
    set("total_bytes", "kPersistentBytes + kArenaBytes");
    if ((*module.getOps<device::MemoryOp>().begin()).getHostBytes() > 0)
      set("host_bytes", "kHostBytes");
    const AliveBytes &alive = options.alive;
    if (alive.forward > 0 || alive.evaluation > 0)
      set("alive", "{" + Twine(alive.forward) + ", " + Twine(alive.backward) +
                       ", " + Twine(alive.update) + ", " +
                       Twine(alive.evaluation) + "}");
    if (!options.limitsDevice.empty())
      set("limits_device", cxx::quoted(options.limitsDevice));
    for (const cxx::StepFunction &step : functions) {
      set(step.field, Twine(step.function));
      if (step.isTimed) {
        set(step.field + "_calls", cxx::callTableName(step.field));
        set(step.field + "_work", cxx::workTableName(step.field));
      }
    }
    printBatch();
    printOptimizer();
    if (cxx::kindOf(module).trains)
      set("defaults", "kDefaults");
  }

  /// Prints how many samples and tokens a batch has. A token is an element of
  /// an input that indexes a table.
  void printBatch() {
    int64_t tokens = 0;
    for (device::BufferOp buffer : module.getOps<device::BufferOp>()) {
      auto type = cast<RankedTensorType>(buffer.getType());
      if (buffer.getKind() != device::BufferKind::Input)
        continue;
      if (type.getElementType().isInteger(64) && type.getRank() == 2 &&
          buffer.getIndicesAttr())
        tokens = type.getNumElements();
    }
    set("batch_size", Twine(device::batchSizeOf(module)));
    set("tokens_per_batch", Twine(tokens));
    set("accumulation_steps", Twine(options.accumulationSteps));
  }

  SmallVector<std::string> optimizerStates() {
    ProgramKind kind = cxx::kindOf(module);
    SmallVector<std::string> names;
    if (const OptimizerInfo *optimizer = find_optimizer(kind.optimizer))
      for (const OptimizerState &state : optimizer->states)
        if (kind.states & optimizer->state_bit(state.name))
          names.push_back(cxx::quoted(state.name));
    return names;
  }

  void printOptimizer() {
    ProgramKind kind = cxx::kindOf(module);
    if (kind.optimizer.empty())
      return;
    set("optimizer", cxx::quoted(kind.optimizer));
    if (kind.states)
      set("optimizer_states", "kOptimizerStates");
  }

  ModuleOp module;
  const EmissionOptions &options;
  const cxx::ProgramNames &names;
  raw_ostream &stream;
  device::GradNormOp norm;
  llvm::StringMap<unsigned> outputNumber; ///< By the buffer's symbol.
  llvm::StringSet<> foldedInPlace;        ///< Weights that `prepare` changes.
  int64_t partials = 0;
  bool hasChecks = false, hasIndexed = false;
};

} // namespace

ProgramKind cxx::kindOf(ModuleOp module) {
  ProgramKind kind;
  kind.trains =
      llvm::any_of(module.getOps<device::StepOp>(), [](device::StepOp step) {
        return step.getKind() == train::StepKind::Micro;
      });
  auto addStates = [&](auto op) {
    if (op.getStateNames() && op.getOptimizer() == StringRef(kind.optimizer))
      for (auto state : op.getStateNames()->template getAsRange<StringAttr>())
        kind.states |=
            find_optimizer(kind.optimizer)->state_bit(state.strref());
  };
  module.walk([&](device::UpdateOp op) {
    const OptimizerInfo *optimizer = find_optimizer(op.getOptimizer());
    // An optimizer that leaves some parameters to another one is the one that
    // the user asked for.
    if (kind.optimizer.empty() || !optimizer->others.empty())
      kind.optimizer = optimizer->name;
  });
  module.walk([&](device::UpdateOp op) { addStates(op); });
  module.walk([&](device::DirectionOp op) { addStates(op); });
  kind.scales_loss = llvm::any_of(
      module.getOps<train::VariableOp>(), [](train::VariableOp variable) {
        return variable.getKind() == train::VariableKind::LossScale;
      });
  return kind;
}

/// Returns "--learning-rate=0.001" or "--nesterov". Returns nothing for a
/// default that another flag includes, and for a setting of the dynamic loss
/// scale if the scale is fixed.
static std::string flagText(const SettingInfo &setting,
                            const TrainingSettings &settings) {
  std::string name(setting.name);
  if (setting.field.toggle)
    return (settings.*setting.field.toggle ? "--" : "--no-") + name;
  if (name == "loss-scale")
    return "--loss-scale=" +
           (settings.is_dynamic
                ? "dynamic"
                : value_text(*find_setting("init-scale"), settings));
  if (setting.section == Section::LossScale && !settings.is_dynamic)
    return "";
  return "--" + name + "=" + value_text(setting, settings);
}

/// Whether schedules alone read a setting, and the chosen one does not.
static bool isOfAnotherSchedule(const SettingInfo &setting,
                                const TrainingSettings &settings) {
  auto reads = [&](const LrSchedulerInfo &scheduler) {
    return scheduler.reads(setting.name);
  };
  return llvm::any_of(kLrSchedulers, reads) &&
         !reads(kLrSchedulers[settings.lr_scheduler_type]);
}

std::vector<std::string> gpuopt::defaultFlags(const TrainingSettings &settings,
                                              const ProgramKind &kind) {
  std::vector<std::string> flags;
  for (const SettingInfo &setting : kSettings)
    if (setting.field.texts) {
      for (const std::string &text : settings.*setting.field.texts)
        flags.push_back("--" + std::string(setting.name) + "=" + text);
    } else if ((setting.takers & kEverywhere) == kEverywhere &&
               why_not_taken(setting, kind).empty() &&
               !isOfAnotherSchedule(setting, settings))
      if (std::string flag = flagText(setting, settings); !flag.empty())
        flags.push_back(flag);
  return flags;
}

std::string cxx::defaultsFile(ModuleOp module,
                              const TrainingSettings &settings) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  ProgramKind kind = kindOf(module);
  if (!kind.trains) {
    printComment(stream,
                 "The predictor's flags have no defaults of a program.");
    stream << "#pragma once\n";
    return text;
  }
  printComment(stream, "The trainer's flags have these values by default.");
  stream << "#pragma once\n\nnamespace gpuopt::model {\n\n"
         << "static const char *const kDefaults[] = {\n";
  for (const std::string &flag : defaultFlags(settings, kind))
    stream << "    " << quoted(flag) << ",\n";
  stream << "};\n\n} // namespace gpuopt::model\n";
  return text;
}

LogicalResult cxx::printTables(ModuleOp module, const EmissionOptions &options,
                               const ProgramNames &names,
                               ArrayRef<StepFunction> functions,
                               raw_ostream &tables, raw_ostream &stream) {
  return TablePrinter(module, options, names, stream).print(functions, tables);
}
