//===- CommandLine.cpp - The flags of the gpuopt command ------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Names and defaults are those of the Hugging Face Trainer where it has them.
//
//===----------------------------------------------------------------------===//

#include "DataFiles.h"
#include "Flag.h"
#include "gpuopt/Analysis/DeviceModel.h"
#include "gpuopt/Analysis/PrecisionPolicy.h"
#include "gpuopt/Driver/Driver.h"
#include "gpuopt/Planning/Bytes.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace gpuopt;

namespace {

cl::SubCommand compileCommand("compile",
                              "write the trainer's sources to a folder");
cl::SubCommand trainCommand("train", "compile, build and run the trainer");
cl::SubCommand planCommand(
    "plan",
    "say what a program would allocate, and what a memory budget costs");
cl::SubCommand operatorsCommand("operators",
                                "print the table of supported ONNX operators");

/// Flags of all commands that compile.
#define COMPILING                                                              \
  cl::sub(compileCommand), cl::sub(trainCommand), cl::sub(planCommand)

cl::OptionCategory modelCategory("The model"), lossCategory("The loss"),
    optimizerCategory("The optimizer"), precisionCategory("Precision"),
    runCategory("The run and the data (train)"),
    placeCategory("Target, memory and output"), tableCategory("The table");

cl::opt<std::string> model(cl::Positional, cl::desc("<model.onnx>"),
                           cl::Required, COMPILING);
cl::opt<std::string> outputDir(
    "o", cl::desc("folder for the program (compile) or the results (train)"),
    cl::value_desc("DIR"), cl::cat(placeCategory), COMPILING);
cl::alias outputDirAlias("output-dir", cl::aliasopt(outputDir),
                         cl::desc("same as -o"), cl::cat(placeCategory));
Flag<std::string> target("target", "auto", "auto, host or cuda",
                         cl::cat(placeCategory), COMPILING);
cl::opt<std::string>
    compileTo("compile-to",
              cl::desc("print the module after a phase and stop: import, nn, "
                       "train, clusters, precision, schedule, memory, device"),
              cl::cat(placeCategory), COMPILING);
cl::opt<std::string> dumpPhasesTo("dump-phases-to",
                                  cl::desc("write the module after each phase"),
                                  cl::value_desc("DIR"), cl::cat(placeCategory),
                                  COMPILING);
cl::opt<std::string>
    memoryBudget("memory-budget",
                 cl::desc("most that the program may allocate on the device, "
                          "like 8GiB (default: no limit)"),
                 cl::value_desc("BYTES"), cl::cat(placeCategory), COMPILING);
cl::opt<std::string> activationBudget(
    "activation-budget",
    cl::desc("the same of the arena alone (default: no limit)"),
    cl::value_desc("BYTES"), cl::cat(placeCategory), COMPILING);
cl::opt<std::string>
    device("device",
           cl::desc("whose times to estimate: host, h200, a100, 4090 or a JSON "
                    "file (default: host, or h200 for --target=cuda)"),
           cl::cat(placeCategory), COMPILING);
cl::opt<bool> planJson("json", cl::desc("for machines"), cl::cat(placeCategory),
                       cl::sub(planCommand));
cl::opt<bool> planCurve("curve",
                        cl::desc("budgets against the time that they cost"),
                        cl::cat(placeCategory), cl::sub(planCommand));
cl::opt<bool> findBatchSize(
    "find-batch-size",
    cl::desc("the largest batch within the budget, from --batch-size or 1 on"),
    cl::cat(placeCategory), cl::sub(planCommand));
cl::opt<bool> precisionTable("precision-classes",
                             cl::desc("print their precision classes instead"),
                             cl::cat(tableCategory), cl::sub(operatorsCommand));
Flag<uint64_t> seed("seed", 42, "of order and dropout", cl::cat(placeCategory),
                    COMPILING);

cl::opt<int64_t> batchSize("batch-size",
                           cl::desc("size of the symbolic first dimension of "
                                    "the inputs; needed where there is one"),
                           cl::cat(modelCategory), COMPILING);
cl::list<std::string> dims("dim",
                           cl::desc("size of another symbolic dimension"),
                           cl::value_desc("NAME=N"), cl::cat(modelCategory),
                           COMPILING);
Flag<std::string> batchNorm("batch-norm", "train",
                            "batch normalisation: train or frozen",
                            cl::cat(modelCategory), COMPILING);
cl::opt<std::string>
    frozenParams("frozen-params",
                 cl::desc("parameters to keep as they are (default: none)"),
                 cl::value_desc("REGEX"), cl::cat(modelCategory), COMPILING);
cl::opt<bool> inference("inference",
                        cl::desc("the forward alone (default off)"),
                        cl::cat(modelCategory), cl::sub(compileCommand));

Flag<std::string> loss("loss", "cross_entropy",
                       "cross_entropy, mse, bce_with_logits, l1 or none",
                       cl::cat(lossCategory), COMPILING);
cl::opt<std::string>
    logits("logits",
           cl::desc("output that the loss reads (default: the first)"),
           cl::value_desc("NAME"), cl::cat(lossCategory), COMPILING);
Flag<int64_t> ignoreIndex("ignore-index", -100, "label that counts for nothing",
                          cl::cat(lossCategory), COMPILING);
Flag<double> labelSmoothing("label-smoothing", 0,
                            "share of a label that goes to all classes",
                            cl::cat(lossCategory), COMPILING);

Flag<int64_t>
    lossChunks("loss-chunks", 0,
               "chunks of the batch in which the last product and the "
               "cross entropy run (0: by the size of the logits)",
               cl::cat(lossCategory), COMPILING);

Flag<std::string> optimizer("optimizer", "adamw", "adamw or sgd",
                            cl::cat(optimizerCategory), COMPILING);
Flag<double> learningRate("learning-rate", 5e-5,
                          "of the first step after warm-up",
                          cl::cat(optimizerCategory), COMPILING);
Flag<double> weightDecay("weight-decay", 0, "decoupled for adamw",
                         cl::cat(optimizerCategory), COMPILING);
cl::opt<std::string>
    noDecay("no-decay",
            cl::desc("parameters without weight decay (default: none)"),
            cl::value_desc("REGEX"), cl::cat(optimizerCategory), COMPILING);
Flag<double> momentum("momentum", 0, "of sgd", cl::cat(optimizerCategory),
                      COMPILING);
cl::opt<bool> nesterov("nesterov",
                       cl::desc("Nesterov's momentum, of sgd (default off)"),
                       cl::cat(optimizerCategory), COMPILING);
Flag<double> beta1("adam-beta1", 0.9, "decay of the first moment",
                   cl::cat(optimizerCategory), COMPILING);
Flag<double> beta2("adam-beta2", 0.999, "decay of the second moment",
                   cl::cat(optimizerCategory), COMPILING);
Flag<double> epsilon("adam-epsilon", 1e-8,
                     "added to the root of the second moment",
                     cl::cat(optimizerCategory), COMPILING);
Flag<double> maxGradNorm("max-grad-norm", 1, "norm to clip to; 0: none",
                         cl::cat(optimizerCategory), COMPILING);
Flag<std::string> schedule("lr-scheduler-type", "linear",
                           "linear, cosine, constant or constant_with_warmup",
                           cl::cat(optimizerCategory), COMPILING);
Flag<int64_t> warmupSteps("warmup-steps", 0, "steps of linear warm-up",
                          cl::cat(optimizerCategory), COMPILING);
Flag<double> warmupRatio("warmup-ratio", 0, "the same as a share of all steps",
                         cl::cat(optimizerCategory), COMPILING);
Flag<int64_t> accumulation("gradient-accumulation-steps", 1,
                           "batches per update", cl::cat(optimizerCategory),
                           COMPILING);
Flag<int64_t>
    maxSteps("max-steps", -1,
             "steps to attempt; -1: as many as --num-train-epochs needs",
             cl::cat(optimizerCategory), COMPILING);
Flag<double> epochs("num-train-epochs", 3,
                    "passes over the data where --max-steps is -1",
                    cl::cat(optimizerCategory), COMPILING);

Flag<std::string>
    precision("precision", "fp32",
              "fp32, tf32 (on CUDA, products of fp32), fp16 or bf16",
              cl::cat(precisionCategory), COMPILING);
cl::list<std::string>
    precisionOverrides("precision-override",
                       cl::desc("ONNX nodes, by name or operator"),
                       cl::value_desc("REGEX=fp32|fp16|bf16"),
                       cl::cat(precisionCategory), COMPILING);
cl::opt<std::string> precisionPolicy(
    "precision-policy",
    cl::desc("JSON file with lists of operators: half, fp32, follow"),
    cl::value_desc("FILE"), cl::cat(precisionCategory), COMPILING);
cl::opt<bool> debugOverflow("debug-overflow",
                            cl::desc("the trainer names the first result that "
                                     "is infinite or NaN; slow (default off)"),
                            cl::cat(precisionCategory), COMPILING);
cl::opt<std::string> lossScale(
    "loss-scale",
    cl::desc(
        "dynamic, a number or none (default: dynamic for fp16, else none)"),
    cl::cat(precisionCategory), COMPILING);
Flag<double> initScale("init-scale", 65536, "the first loss scale",
                       cl::cat(precisionCategory), COMPILING);
Flag<double> growthFactor("growth-factor", 2,
                          "of the loss scale after growth-interval good steps",
                          cl::cat(precisionCategory), COMPILING);
Flag<double> backoffFactor("backoff-factor", 0.5,
                           "of the loss scale after a step that overflows",
                           cl::cat(precisionCategory), COMPILING);
Flag<int64_t> growthInterval("growth-interval", 2000,
                             "good steps in a row before the loss scale grows",
                             cl::cat(precisionCategory), COMPILING);
Flag<double> minLossScale("min-loss-scale", 1,
                          "what the loss scale never falls below",
                          cl::cat(precisionCategory), COMPILING);

#define RUN cl::cat(runCategory), cl::sub(trainCommand)
cl::list<std::string>
    data("data",
         cl::desc("file for an input; docs/training.md has the formats"),
         cl::value_desc("INPUT=FILE.npy"), RUN);
cl::list<std::string> evalData("eval-data", cl::desc("the same for validation"),
                               cl::value_desc("INPUT=FILE.npy"), RUN);
cl::opt<std::string> labels("labels", cl::desc("labels"),
                            cl::value_desc("FILE.npy"), RUN);
cl::opt<std::string> evalLabels("eval-labels",
                                cl::desc("labels for validation"),
                                cl::value_desc("FILE.npy"), RUN);
cl::opt<std::string>
    tokens("tokens",
           cl::desc("file of tokens, for the input that --data "
                    "does not name; the label is the next token"),
           cl::value_desc("FILE"), RUN);
cl::opt<std::string> evalTokens("eval-tokens",
                                cl::desc("token file for validation"),
                                cl::value_desc("FILE"), RUN);
Flag<std::string>
    tokenType("token-type", "uint16",
              "uint8, uint16 or uint32, for token files without a header", RUN);
cl::opt<bool> shuffle("shuffle",
                      cl::desc("samples in random order (the default)"), RUN);
cl::opt<bool> noShuffle("no-shuffle", cl::desc("samples in the file's order"),
                        RUN);
Flag<int64_t> loggingSteps("logging-steps", 1,
                           "steps between lines on the terminal; 0: none", RUN);
Flag<int64_t> evalSteps("eval-steps", 0,
                        "steps between validations; 0: at the end alone", RUN);
Flag<int64_t> saveSteps("save-steps", 0,
                        "steps between saves; 0: at the end alone", RUN);
Flag<int64_t> numThreads("num-threads", 0, "threads of the host target; 0: all",
                         RUN);
Flag<int64_t> numWorkers("num-workers", 2, "threads that prepare batches", RUN);
Flag<int64_t> prefetchFactor("prefetch-factor", 2,
                             "batches ahead, for each of them", RUN);

/// What the trainer takes when it runs: given flags under their own names.
std::vector<std::string> runArguments() {
  std::vector<std::string> arguments;
  auto pass = [&](const cl::Option &option, const std::string &value) {
    if (option.getNumOccurrences())
      arguments.push_back(("--" + option.ArgStr + "=" + value).str());
  };
  for (const std::string &value : data)
    pass(data, value);
  for (const std::string &value : evalData)
    pass(evalData, value);
  for (cl::opt<std::string> *option :
       {&labels, &evalLabels, &tokens, &evalTokens})
    pass(*option, *option);
  pass(tokenType, tokenType);
  for (Flag<int64_t> *option : {&loggingSteps, &evalSteps, &saveSteps,
                                &numThreads, &numWorkers, &prefetchFactor})
    pass(*option, std::to_string(*option));
  if (noShuffle)
    arguments.push_back("--no-shuffle");
  return arguments;
}

Error checkFiles(const cl::list<std::string> &option) {
  StringSet<> inputs;
  for (StringRef value : option) {
    auto [input, file] = value.split('=');
    if (input.empty() || file.empty())
      return createStringError("--" + option.ArgStr +
                               " needs INPUT=FILE.npy, but is '" + value + "'");
    if (!inputs.insert(input).second)
      return createStringError("--" + option.ArgStr + " gives '" + input +
                               "' twice");
    if (Error error = checkReadable(option.ArgStr, file))
      return error;
  }
  return Error::success();
}

DataGiven dataGiven(ArrayRef<std::string> inputs, StringRef labels,
                    StringRef tokens) {
  return {inputs, labels.str(), tokens.str(), tokenType};
}

/// Files that the trainer will read: what is wrong with one is said before
/// anything is compiled.
Error checkData() {
  if (Error error = joinErrors(checkFiles(data), checkFiles(evalData)))
    return error;
  for (cl::opt<std::string> *option :
       {&labels, &evalLabels, &tokens, &evalTokens})
    if (option->getNumOccurrences())
      if (Error error = checkReadable(option->ArgStr, *option))
        return error;
  if (data.empty() && labels.empty() && tokens.empty())
    return createStringError("there is no data: --data INPUT=FILE.npy and "
                             "--labels FILE.npy, or --tokens FILE");
  if (evalSteps > 0 && evalData.empty() && evalLabels.empty() &&
      evalTokens.empty())
    return createStringError("--eval-steps needs data to validate on: "
                             "--eval-data and --eval-labels, or --eval-tokens");
  return Error::success();
}

/// Values that no training can mean.
Error checkRanges() {
  for (Flag<double> *flag : {&learningRate, &weightDecay, &momentum, &beta1,
                             &beta2, &epsilon, &maxGradNorm, &warmupRatio})
    if (!(*flag >= 0))
      return createStringError("--" + flag->ArgStr + " must be at least 0");
  if (warmupRatio > 1)
    return createStringError("--warmup-ratio must be at most 1");
  for (Flag<double> *flag : {&beta1, &beta2})
    if (*flag >= 1)
      return createStringError("--" + flag->ArgStr + " must be below 1");
  for (Flag<int64_t> *flag : {&warmupSteps, &lossChunks, &loggingSteps,
                              &evalSteps, &saveSteps, &numThreads})
    if (*flag < 0)
      return createStringError("--" + flag->ArgStr + " must be at least 0");
  for (Flag<int64_t> *flag : {&accumulation, &numWorkers, &prefetchFactor})
    if (*flag < 1)
      return createStringError("--" + flag->ArgStr + " must be at least 1");
  if (batchSize.getNumOccurrences() && batchSize < 1)
    return createStringError("--batch-size must be at least 1");
  if (!(labelSmoothing >= 0) || labelSmoothing >= 1)
    return createStringError("--label-smoothing must lie in [0, 1)");
  if (maxSteps < 1 && maxSteps != -1)
    return createStringError("--max-steps must be at least 1, or -1 for as "
                             "many as --num-train-epochs needs");
  if (!(epochs > 0))
    return createStringError("--num-train-epochs must be more than 0");
  return Error::success();
}

/// Flags that mean nothing beside others.
Error checkTogether() {
  if (optimizer == "adamw")
    for (const cl::Option *flag :
         std::initializer_list<const cl::Option *>{&momentum, &nesterov})
      if (flag->getNumOccurrences())
        return createStringError("--" + flag->ArgStr +
                                 " is of --optimizer=sgd, but it is adamw");
  if (optimizer == "sgd")
    for (Flag<double> *flag : {&beta1, &beta2, &epsilon})
      if (flag->isGiven())
        return createStringError("--" + flag->ArgStr +
                                 " is of --optimizer=adamw, but it is sgd");
  if (nesterov && momentum == 0)
    return createStringError("--nesterov needs a --momentum");
  if (loss != "cross_entropy")
    for (const cl::Option *flag : std::initializer_list<const cl::Option *>{
             &labelSmoothing, &ignoreIndex, &lossChunks})
      if (flag->getNumOccurrences())
        return createStringError("--" + flag->ArgStr +
                                 " is of --loss=cross_entropy, but it is " +
                                 loss);
  if (findBatchSize && memoryBudget.empty() && activationBudget.empty())
    return createStringError("--find-batch-size needs a budget: "
                             "--memory-budget or --activation-budget");
  return Error::success();
}

/// Bytes from a flag like "8GiB"; 0 where it is not given.
Expected<int64_t> bytesOf(const cl::opt<std::string> &option) {
  if (!option.getNumOccurrences())
    return 0;
  planning::Result<int64_t> bytes = planning::parseBytes(option);
  if (!bytes)
    return createStringError("--" + option.ArgStr + ": " +
                             bytes.error().message);
  if (*bytes == 0)
    return createStringError("--" + option.ArgStr + " must be more than 0");
  return *bytes;
}

/// What the schedule is made for.
Error collect(train::ScheduleOptions &options) {
  for (auto [flag, bytes] : {std::pair(&memoryBudget, &options.memoryBudget),
                             {&activationBudget, &options.activationBudget}}) {
    Expected<int64_t> given = bytesOf(*flag);
    if (!given)
      return given.takeError();
    *bytes = *given;
  }
  if (device.empty())
    options.device = target == "cuda" ? "h200" : "host";
  else
    options.device = device;
  return loadDeviceModel(options.device).takeError();
}

/// What may be in half precision.
Error collect(train::AssignPrecisionOptions &options) {
  if (precision != "fp32" && precision != "tf32" && precision != "fp16" &&
      precision != "bf16")
    return createStringError(
        "--precision must be fp32, tf32, fp16 or bf16, but is '" + precision +
        "'");
  if (precision == "tf32" && target == "host")
    return createStringError("--precision=tf32 is of CUDA, but --target is "
                             "host, which computes in fp32");
  if ((precision == "fp32" || precision == "tf32") &&
      (!precisionOverrides.empty() || !precisionPolicy.empty()))
    return createStringError("--precision-override and --precision-policy need "
                             "--precision=fp16 or bf16");
  options.halfType = precision == "fp16"   ? "f16"
                     : precision == "bf16" ? "bf16"
                                           : "";
  options.policyFile = precisionPolicy;
  options.accumulationSteps = accumulation;
  options.overrides.assign(precisionOverrides.begin(),
                           precisionOverrides.end());
  return Error::success();
}

/// Whether the loss is scaled, and how.
Error collect(train::InsertLossScalingOptions &options,
              EmissionOptions &emission) {
  StringRef text = lossScale;
  if (initScale.isGiven() && !text.empty() && text != "dynamic")
    return createStringError("--init-scale is of --loss-scale=dynamic, but it "
                             "is '" +
                             text + "'");
  options.enabled = text.empty() ? precision == "fp16" : text != "none";
  emission.hasDynamicLossScale = text.empty() || text == "dynamic";
  emission.initScale = initScale;
  if (options.enabled && !emission.hasDynamicLossScale &&
      (text.getAsDouble(emission.initScale) || !(emission.initScale >= 1e-37) ||
       emission.initScale > 1e38))
    return createStringError(
        "--loss-scale must be dynamic, none or a number above 0, but is '" +
        text + "'");
  options.accumulationSteps = accumulation;
  emission.growthFactor = growthFactor;
  emission.backoffFactor = backoffFactor;
  emission.growthInterval = growthInterval;
  emission.minLossScale = minLossScale;
  if (!(initScale >= 1e-37) || initScale > 1e38 ||
      !(minLossScale >= 1e-37)) // they are floats
    return createStringError("--init-scale must lie in [1e-37, 1e38], "
                             "--min-loss-scale be at least 1e-37");
  if (!(growthFactor >= 1) || !(backoffFactor > 0) || backoffFactor > 1 ||
      growthInterval < 1)
    return createStringError(
        "--growth-factor must be at least 1, --backoff-factor in (0, 1] and "
        "--growth-interval at least 1");
  return Error::success();
}

/// The command that was given; empty without one.
StringRef commandName() {
  for (cl::SubCommand *command :
       {&compileCommand, &trainCommand, &planCommand, &operatorsCommand})
    if (*command)
      return command->getName();
  return "";
}

int usage(const Twine &what) {
  StringRef command = commandName();
  errs() << "gpuopt: error: " << what << "; see gpuopt " << command
         << (command.empty() ? "--help\n" : " --help\n");
  return 1;
}

/// Checks what a pass would not; fills in the options. Nonzero after an error.
int collect(DriverOptions &options) {
  options.model = model;
  options.outputDir = outputDir;
  options.target = target;
  options.dumpPhasesTo = dumpPhasesTo;
  // Scripts know what comes next.
  options.tellsNextSteps = compileCommand && errs().is_displayed();
  if (!compileTo.empty() && !(options.compileTo = parsePhase(compileTo)))
    return usage("--compile-to must be import, nn, train, clusters, precision, "
                 "schedule, memory or device, but is '" +
                 compileTo + "'");
  options.plan = {planJson, planCurve, findBatchSize};
  if (outputDir.empty() && compileTo.empty() && !planCommand)
    return usage("an output folder is needed: -o DIR");
  if (schedule != "linear" && schedule != "cosine" && schedule != "constant" &&
      schedule != "constant_with_warmup")
    return usage("--lr-scheduler-type must be linear, cosine, constant or "
                 "constant_with_warmup, but is '" +
                 schedule + "'");
  for (auto *check : {checkRanges, checkTogether})
    if (Error error = check())
      return usage(toString(std::move(error)));
  if (trainCommand && compileTo.empty())
    if (Error error = checkData())
      return usage(toString(std::move(error)));
  for (const std::string &dim : dims)
    if (Error error = options.import.addDimension(dim))
      return usage("--dim: " + toString(std::move(error)));
  if (batchSize.getNumOccurrences())
    options.import.batchSize = batchSize;
  options.pipeline.legalise.batchNorm = batchNorm;
  options.pipeline.legalise.frozenParams = frozenParams;
  train::BuildStepOptions &step = options.pipeline.step;
  step.loss = loss;
  step.logits = logits;
  step.ignoreIndex = ignoreIndex;
  step.labelSmoothing = labelSmoothing;
  step.lossChunkCount = lossChunks;
  step.optimizer = optimizer;
  step.useMomentum = momentum != 0;
  step.nesterov = nesterov;
  step.noDecay = noDecay;
  step.accumulationSteps = accumulation;
  step.inference = inference;
  if (Error error = collect(options.pipeline.schedule))
    return usage(toString(std::move(error)));
  options.pipeline.schedule.allowsTf32 = options.emission.allowsTf32 =
      precision == "tf32";
  options.pipeline.device.debugOverflow = debugOverflow;
  if (Error error = collect(options.pipeline.precision))
    return usage(toString(std::move(error)));
  EmissionOptions &emission = options.emission;
  if (Error error = collect(options.pipeline.lossScaling, emission))
    return usage(toString(std::move(error)));
  emission.modelName = sys::path::stem(model).str();
  emission.schedule = schedule;
  emission.learningRate = learningRate;
  emission.weightDecay = weightDecay;
  emission.momentum = momentum;
  emission.beta1 = beta1;
  emission.beta2 = beta2;
  emission.epsilon = epsilon;
  emission.maxGradNorm = maxGradNorm;
  emission.warmupRatio = warmupRatio;
  emission.trainEpochs = epochs;
  emission.warmupSteps = warmupSteps;
  emission.maxSteps = maxSteps;
  emission.accumulationSteps = accumulation;
  emission.nesterov = nesterov;
  emission.seed = seed;
  options.runArguments = runArguments();
  options.data = dataGiven(data, labels, tokens);
  options.evalData = dataGiven(evalData, evalLabels, evalTokens);
  return 0;
}

} // namespace

/// The libraries' own flags are those of their developers.
static void hideFlagsOfLibraries() {
  const cl::OptionCategory *own[] = {
      &modelCategory, &lossCategory,  &optimizerCategory, &precisionCategory,
      &runCategory,   &placeCategory, &tableCategory};
  for (cl::SubCommand *command :
       {&cl::SubCommand::getTopLevel(), &compileCommand, &trainCommand,
        &planCommand, &operatorsCommand})
    cl::HideUnrelatedOptions(own, *command);
}

int gpuopt::driverMain(int argc, char **argv) {
  hideFlagsOfLibraries();
  cl::ParseCommandLineOptions(
      argc, argv, "gpuopt: compiles an ONNX model into a training program\n");
  if (operatorsCommand) {
    precisionTable ? printPrecisionTable(outs()) : printOperatorTable(outs());
    return 0;
  }
  if (!compileCommand && !trainCommand && !planCommand)
    return usage("a command is needed: plan, compile, train or operators");
  if (target != "auto" && target != "host" && target != "cuda")
    return usage("--target must be auto, host or cuda, but is '" + target +
                 "'");
  if (target == "auto") {
    auto [chosen, reason] = chooseTarget();
    target = chosen.str();
    errs() << "gpuopt: target: " << chosen << " (" << reason << ")\n";
  }
  DriverOptions options;
  if (int status = collect(options))
    return status;
  if (planCommand)
    return planModel(options);
  return trainCommand ? trainModel(options) : compileModel(options);
}
