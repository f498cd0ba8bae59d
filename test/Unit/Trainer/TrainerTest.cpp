// trainer_main around a program written by hand: it learns, saves, validates,
// repeats itself bit by bit, and says what is wrong.

#include "TrainerFixture.h"

namespace gpuopt {
namespace {

TEST_F(TrainerTest, LearnsAndSaves) {
  ASSERT_EQ(run("a", {"--max-steps=40", "--eval-steps=10", "--eval-data",
                      "x=" + folder / "x.npy", "--eval-labels",
                      folder / "labels.npy"}),
            0)
      << error;
  const auto loss = losses("a");
  ASSERT_EQ(loss.size(), 40u);
  EXPECT_NEAR(loss[0], std::log(3.0), 1e-6);
  EXPECT_LT(loss[39], 0.6);
  EXPECT_NE(output.find("step 40  validation loss 0."), std::string::npos)
      << output;
  EXPECT_NE(output.find("tiny: 4352 B allocated, 40 steps of 1 x 8 samples"),
            std::string::npos)
      << output;
  const MappedFile file(folder / "a/model.safetensors");
  const auto saved = read_safetensors(file);
  ASSERT_EQ(saved.size(), 2u) << "tied weights have both names";
  EXPECT_EQ(memcmp(saved.at("weight").data, saved.at("tied.weight").data, 48),
            0);
}

TEST_F(TrainerTest, EpochsGiveTheSteps) {
  ASSERT_EQ(run("a", {"--num-train-epochs=2", "--max-steps=-1"}), 0) << error;
  EXPECT_EQ(losses("a").size(), 16u);
}

// What is left of an epoch's batches is part of the next epoch's first step.
TEST_F(TrainerTest, EpochsAreWholeUnderAccumulation) {
  overwrites = true;
  program.accumulation_steps = 3;
  auto steps = [&](const char *epochs) {
    EXPECT_EQ(run("a", {std::string("--num-train-epochs=") + epochs,
                        "--max-steps=-1"}),
              0)
        << error;
    return losses("a").size();
  };
  EXPECT_EQ(steps("3"), 8u); // 24 batches
  EXPECT_EQ(steps("1"), 3u); // 8 of 9
  EXPECT_EQ(steps("0.01"), 1u);
}

// The first rate is that of a warm-up as long as the last flag says.
TEST_F(TrainerTest, OneFlagSaysHowLongTheWarmupIs) {
  overwrites = true;
  static const char *const steps[] = {"--learning-rate=1", "--warmup-steps=2"};
  static const char *const ratio[] = {"--learning-rate=1",
                                      "--warmup-ratio=0.4"};
  program.defaults = steps;
  auto first_rate = [&](std::vector<std::string> flags) {
    flags.push_back("--max-steps=10");
    EXPECT_EQ(run("a", flags), 0) << error;
    return numbers("a", "learning_rate").at(1);
  };
  EXPECT_FLOAT_EQ(first_rate({}), 0.5);
  EXPECT_FLOAT_EQ(first_rate({"--warmup-ratio=0.4"}), 0.25);
  program.defaults = ratio;
  EXPECT_FLOAT_EQ(first_rate({}), 0.25);
  EXPECT_FLOAT_EQ(first_rate({"--warmup-steps=5"}), 0.2);
  EXPECT_FLOAT_EQ(first_rate({"--warmup-steps=0"}), 0.9);
}

// A flag that is given replaces the other one's compiled default.
TEST_F(TrainerTest, EpochsReplaceTheStepsOfTheProgram) {
  overwrites = true;
  static const char *const steps[] = {"--max-steps=5"};
  program.defaults = steps;
  auto count = [&](std::vector<std::string> flags) {
    EXPECT_EQ(run("a", flags), 0) << error;
    return losses("a").size();
  };
  EXPECT_EQ(count({}), 5u);
  EXPECT_EQ(count({"--num-train-epochs=0.01"}), 1u);
  EXPECT_EQ(count({"--num-train-epochs=0.01", "--max-steps=2"}), 2u);
}
TEST_F(TrainerTest, OneFlagSaysWhatTheRateNeverFallsBelow) {
  overwrites = true;
  auto last_rate = [&](std::vector<std::string> flags) {
    flags.push_back("--max-steps=10");
    EXPECT_EQ(run("a", flags), 0) << error;
    return numbers("a", "learning_rate").back();
  };
  static const char *const rate[] = {"--learning-rate=1",
                                     "--lr-scheduler-type=cosine_with_min_lr",
                                     "--min-lr=0.5"};
  program.defaults = rate;
  EXPECT_GT(last_rate({}), 0.5);
  EXPECT_LT(last_rate({"--min-lr-rate=0.1"}), 0.2);
  static const char *const share[] = {"--learning-rate=1",
                                      "--lr-scheduler-type=cosine_with_min_lr",
                                      "--min-lr-rate=0.5"};
  program.defaults = share;
  EXPECT_GT(last_rate({}), 0.5);
  EXPECT_LT(last_rate({"--min-lr=0.1"}), 0.2);
}

// Features of 1e-40 are denormal, and so are the gradients that they give. Bits
// are counted because this thread's comparisons may take them for zero.
TEST_F(TrainerTest, FlushesDenormals) {
  overwrites = true;
  const std::vector<float> tiny(64 * 4, 1e-40f);
  write_file(folder / "x.npy", npy("<f4", "(64, 4)", bytes_of(tiny)));
  auto gradients_not_zero = [&](const char *flag) {
    const std::string file = folder / "gradients.safetensors";
    EXPECT_EQ(run("a", {flag, "--dump-gradients=" + file}), 0) << error;
    const MappedFile mapped(file);
    uint32_t bits[12];
    memcpy(bits, read_safetensors(mapped).at("weight").data, sizeof bits);
    return std::count_if(std::begin(bits), std::end(bits),
                         [](uint32_t b) { return b << 1 != 0; });
  };
  EXPECT_EQ(gradients_not_zero("--flush-denormals"), 0);
  EXPECT_EQ(gradients_not_zero("--quiet"), 0) << "the default";
  EXPECT_EQ(gradients_not_zero("--no-flush-denormals"), 12);
}

TEST_F(TrainerTest, RepeatsItself) {
  ASSERT_EQ(run("a", {"--max-steps=20", "--num-workers=1"}), 0) << error;
  ASSERT_EQ(run("b", {"--max-steps=20", "--num-workers=4", "--num-threads=2"}),
            0)
      << error;
  EXPECT_EQ(losses("a"), losses("b"));
  ASSERT_EQ(run("d", {"--max-steps=20", "--num-workers=auto"}), 0) << error;
  EXPECT_EQ(losses("a"), losses("d"));
  EXPECT_EQ(read_file(folder / "a/model.safetensors"),
            read_file(folder / "b/model.safetensors"));
  ASSERT_EQ(run("c", {"--max-steps=20", "--seed=7"}), 0) << error;
  EXPECT_NE(losses("a"), losses("c"));
}

TEST_F(TrainerTest, LogsEverySoManySteps) {
  auto lines = [&] {
    size_t count = 0, at = 0;
    for (; (at = output.find("\nstep ", at)) != std::string::npos; ++at)
      ++count;
    return count;
  };
  ASSERT_EQ(run("a", {"--max-steps=6", "--logging-steps=2"}), 0) << error;
  EXPECT_EQ(lines(), 3u) << output;
  ASSERT_EQ(run("b", {"--max-steps=6", "--logging-steps=0"}), 0) << error;
  EXPECT_EQ(lines(), 0u) << output;
  EXPECT_EQ(losses("a"), losses("b")); // the file has all of them
  EXPECT_EQ(losses("b").size(), 6u);
}

TEST_F(TrainerTest, PrefetchingChangesNoNumber) {
  ASSERT_EQ(run("a", {"--max-steps=20", "--prefetch-factor=1"}), 0) << error;
  ASSERT_EQ(run("b", {"--max-steps=20", "--prefetch-factor=7"}), 0) << error;
  EXPECT_EQ(losses("a"), losses("b"));
  EXPECT_EQ(run("c", {"--prefetch-factor=0"}), 1);
}

TEST_F(TrainerTest, DumpsTheMeansGradient) {
  ASSERT_EQ(run("a", {"--max-steps=1", "--no-shuffle", "--dump-gradients",
                      folder / "g"}),
            0)
      << error;
  const MappedFile file(folder / "g");
  const auto gradient = read_safetensors(file).at("weight");
  float g[12];
  memcpy(g, gradient.data, sizeof g);
  // With zero weights all classes have probability 1/3: rows sum to zero.
  EXPECT_NEAR(g[0] + g[1] + g[2], 0, 1e-6);
  EXPECT_GT(std::fabs(g[0]), 1e-3);
}

TEST_F(TrainerTest, ValidatesEverySampleOnce) {
  overwrites = true;
  for (int samples : {64, 13, 5, 1}) {
    write_first(samples);
    ASSERT_EQ(run("a", {"--max-steps=3", "--eval-steps=1", "--eval-data",
                        "x=" + folder / "x-some.npy", "--eval-labels",
                        folder / "labels-some.npy"}),
              0)
        << error;
    const auto loss = numbers("a", "eval_loss");
    ASSERT_EQ(loss.size(), 3u);
    EXPECT_NEAR(loss[2], loss_of("a", samples), 1e-6) << samples << " samples";
  }
}

TEST_F(TrainerTest, SaysWhatAnEpochLeavesOut) {
  write_first(61);
  std::filesystem::rename(folder / "x-some.npy", folder / "x.npy");
  ASSERT_EQ(run("a", {"--max-steps=1", "--labels", folder / "labels-some.npy"}),
            0)
      << error;
  EXPECT_NE(output.find("x 8 samples (56 of 61 in an epoch)"),
            std::string::npos)
      << output;
}

TEST_F(TrainerTest, WarnsOfGradientsThatAreZero) {
  write_file(folder / "x.npy",
             npy("<f4", "(64, 4)", bytes_of(std::vector<float>(256, 0))));
  ASSERT_EQ(run("a", {"--max-steps=9"}), 0) << error;
  EXPECT_EQ(error, "");
  ASSERT_EQ(run("b", {"--max-steps=30"}), 0) << error;
  EXPECT_EQ(error,
            "tiny: warning: step 10: the gradient of all parameters has been "
            "exactly 0 for 10 steps, in which nothing has been learned: the "
            "loss no longer depends on them, as behind steps that were too "
            "long; --learning-rate, --warmup-steps and --max-grad-norm make "
            "them shorter\n");
}

TEST_F(TrainerTest, WarnsOnceWhereNoLabelCounts) {
  program.micro_step = [](Context &ctx, char *memory) {
    tiny::micro_step(ctx, memory);
    tiny::at<StepState>(memory, tiny::kOffState)->weight_sum = 0;
  };
  ASSERT_EQ(run("a", {"--max-steps=2"}), 0) << error;
  EXPECT_EQ(error, "tiny: warning: step 1: no label counts, all are the index "
                   "to ignore; the loss is reported as 0\n");
}

TEST_F(TrainerTest, SaysWhatIsWrong) {
  write_file(folder / "w.pt", "\x80\2...");
  std::filesystem::create_directory(folder / "bare");
  const std::string good = "x=" + folder / "x.npy";
  write_file(folder / "bad.npy",
             npy("<i8", "(64,)", bytes_of(std::vector<int64_t>(64, 3))));
  write_file(folder / "few.npy",
             npy("<i8", "(63,)", bytes_of(std::vector<int64_t>(63, 0))));
  write_file(folder / "real.npy",
             npy("<f4", "(64,)", bytes_of(std::vector<float>(64, 0))));
  write_file(folder / "scores.npy",
             npy("<f8", "(64, 3)", bytes_of(std::vector<double>(192, 0))));
  write_file(folder / "vectors.npy",
             npy("<i8", "(64, 3)", bytes_of(std::vector<int64_t>(192, 0))));
  write_file(folder / "garbage", "garbage");
  const std::vector<float> zeros(12, 0);
  write_safetensors(folder / "other",
                    {{"weight", Type::F32, {3, 4}, zeros.data(), 48}});
  const std::pair<std::vector<std::string>, std::string> cases[] = {
      {{"--labels", folder / "bad.npy"}, " holds 3 for 'labels'"},
      {{"--labels", folder / "few.npy"}, "has 63 samples, but"},
      {{"--labels", folder / "real.npy"},
       "real.npy' holds float32 [64], but the loss takes classes for 'labels', "
       "int64 [samples]; save the number of each class by "
       "array.astype('int64'), or choose another loss: --loss mse for numbers, "
       "soft_cross_entropy for probabilities of the classes"},
      {{"--labels", folder / "scores.npy"},
       "scores.npy' holds float64 [64, 3], but the loss takes classes for "
       "'labels', int64 [samples]; save the number of each class by "
       "array.argmax(1), or choose"},
      {{"--labels", folder / "vectors.npy"},
       "vectors.npy' holds int64 [64, 3], but the loss takes classes for "
       "'labels', int64 [samples]; save the number of each class by "
       "array.argmax(1), or choose"},
      {{"--labels", folder / "none.npy"},
       "'--labels': there is no file or folder '" + folder / "none.npy'"},
      {{"--eval-data", "x=" + folder / "bare"},
       "'" +
           folder / "bare' has neither pictures, which are files that end in"},
      {{"--eval-tokens", folder / ""},
       "'--eval-tokens': cannot read '" + folder / "': it is a folder"},
      {{"--weights", folder / "none"}, "'--weights': there is no file or"},
      {{"--weights="}, "'--weights' needs a value, but got ''"},
      {{"--output-dir="}, "'--output-dir' needs a value, but got ''"},
      {{"--data", "y=" + folder / "x.npy"},
       "names no input of the model; its inputs are 'x'\n"},
      {{"--data", good}, "'--data' gives 'x' twice"},
      {{"--data", "labels=" + folder / "labels.npy"},
       "the labels are given twice: --labels and --data labels="},
      {{"--tokens", folder / "labels.npy"},
       "'--tokens' finds no integer input of two dimensions"},
      {{"--output-dir", folder / "garbage/a"},
       "cannot create '--output-dir' '" +
           folder / "garbage/a': Not a directory"},
      {{"--batch-size=4"},
       "'--batch-size' is set at compile time: gpuopt compile --batch-size"},
      {{"--curve"}, "'--curve' is set at compile time: gpuopt plan --curve"},
      {{"--momentum=0.9"}, "compiled with --optimizer=sgd and a --momentum"},
      {{"--nesterov"}, "compiled with --optimizer=sgd"},
      {{"--init-scale=2"}, "applies only to programs that scale their loss"},
      {{"--max-steps=0"},
       "'--max-steps' must be at least 1, or -1 for as many as "
       "--num-train-epochs needs, but is 0"},
      {{"--max-steps=nan"}, "needs a whole number, but got 'nan'"},
      {{"--max-steps=1e300"}, "needs a whole number, but got '1e300'"},
      {{"--learning-rate=-1"},
       "'--learning-rate' must be at least 0 and at most 1e+38, but is -1"},
      {{"--learning-rate=inf"},
       "'--learning-rate' must be at least 0 and at most 1e+38, but is inf"},
      {{"--adam-beta1=1"},
       "'--adam-beta1' must be at least 0 and below 1, but is 1"},
      {{"--num-train-epochs=inf"},
       "'--num-train-epochs' must be more than 0 and at most 1e+09"},
      {{"--num-workers=4294967296"},
       "'--num-workers' must be auto, or at least 0 and at most 1024"},
      {{"--num-workers=-1"},
       "'--num-workers' must be auto, or at least 0 and at most 1024, but is "
       "-1"},
      {{"--warmup-ratio=7"},
       "'--warmup-ratio' must be at least 0 and at most 1, but is 7"},
      {{"--warmup-ratio=0.1", "--warmup-steps=7"},
       "'--warmup-steps' and '--warmup-ratio' both say how long the warm-up "
       "is; give one of them"},
      {{"--eval-steps=2"},
       "'--eval-steps' needs data to validate on: --eval-data and "
       "--eval-labels, or --eval-tokens"},
      {{"--data", "x.npy"}, "needs INPUT=FILE"},
      {{"--max-steps=two"}, "needs a whole number, but got 'two'"},
      {{"--lr-scheduler-type=step"},
       "'--lr-scheduler-type' must be linear, cosine, cosine_with_restarts, "
       "cosine_with_min_lr, polynomial, constant, constant_with_warmup, "
       "inverse_sqrt, warmup_stable_decay or reduce_lr_on_plateau, but is "
       "'step'"},
      {{"--frobnicate"}, "unknown flag '--frobnicate'; --help lists the flags"},
      {{"--learning-rat=1"},
       "unknown flag '--learning-rat'; did you mean --learning-rate?"},
      {{"--lr=1"}, "unknown flag '--lr'; did you mean --learning-rate?"},
      {{"--max_steps=two"},
       "'--max-steps' needs a whole number, but got 'two'"},
      {{"--no_shuffle=1"}, "'--no-shuffle' takes no value"},
      {{"--max_epochs=2"},
       "unknown flag '--max_epochs'; did you mean --num-train-epochs?"},
      {{"--optim=sgd"}, "unknown flag '--optim'; did you mean --optimizer?"},
      {{"--torch_compile"},
       "unknown flag '--torch_compile'; every step is compiled as a whole"},
      {{"--gradient-checkpointing"},
       "unknown flag '--gradient-checkpointing'; give --memory-budget"},
      {{"--no-cuda"}, "unknown flag '--no-cuda'; did you mean --target=host?"},
      {{"--token-type=uint8"},
       "'--token-type' describes files of tokens, but neither --tokens nor "
       "--eval-tokens is given"},
      {{"more"}, "unexpected argument 'more'; --help lists the flags"},
      {{"--shuffle=1"}, "'--shuffle' takes no value"},
      {{"--learning-rate=much"}, "'--learning-rate' needs a number, but got"},
      {{"--num-train-epochs=0", "--max-steps=-1"},
       "'--num-train-epochs' must be more than 0"},
      {{"--tokens", folder / "garbage", "--token-type=u4"},
       "'--token-type' must be uint8, uint16 or uint32, but is 'u4'"},
      {{"--wait-policy=spin"},
       "'--wait-policy' must be auto, active or passive, but is 'spin'"},
      {{"--attention-library=cuda"},
       "'--attention-library' must be auto, own or cudnn, but is 'cuda'"},
      {{"--weights", folder / "other"},
       "has 'weight' as F32 [3, 4], but the program needs F32 [4, 3]"},
      {{"--weights", folder / "garbage"}, "garbage' is not a safetensors file"},
      {{"--weights", folder / "w.pt"},
       "'--weights' '" + folder / "w.pt" +
           "' is a file of torch.save, but a safetensors file is needed"},
      {{"--wait-policy=activ"}, "but is 'activ'; did you mean 'active'?"},
      {{"--lr-scheduler-type=cosin"}, "but is 'cosin'; did you mean 'cosine'?"},
      {{"--seed"}, "'--seed' needs a value"},
      {{"--seed=-1"},
       "'--seed' needs a whole number of at least 0, but got '-1'"},
  };
  for (const auto &[flags, message] : cases) {
    EXPECT_EQ(run("a", flags), 1);
    EXPECT_EQ(error.rfind("tiny: error: ", 0), 0u) << error;
    EXPECT_NE(error.find(message), std::string::npos)
        << error << "expected " << message;
    EXPECT_FALSE(std::filesystem::exists(folder / "a"));
  }
}

TEST_F(TrainerTest, ARunThatIsRefusedChangesNoFile) {
  overwrites = true;
  ASSERT_EQ(run("a", {"--max-steps=2"}), 0) << error;
  const std::string metrics = read_file(folder / "a/metrics.jsonl");
  const std::string weights = read_file(folder / "a/model.safetensors");
  labels.assign(64, 3);
  write_file(folder / "labels.npy", npy("|u1", "(64,)", bytes_of(labels)));
  for (const char *out : {"a", "new/b"}) {
    EXPECT_EQ(run(out, {"--max-steps=2"}), 1);
    EXPECT_NE(error.find(" holds 3 for 'labels'"), std::string::npos) << error;
  }
  EXPECT_EQ(read_file(folder / "a/metrics.jsonl"), metrics);
  EXPECT_EQ(read_file(folder / "a/model.safetensors"), weights);
  EXPECT_FALSE(std::filesystem::exists(folder / "new"));
}

TEST_F(TrainerTest, SaysWhatAProgramLacks) {
  program.evaluate = nullptr;
  EXPECT_EQ(run("a", {"--eval-data", "x=" + folder / "x.npy", "--eval-labels",
                      folder / "labels.npy"}),
            1);
  EXPECT_NE(error.find("this program has no evaluation; compile it with one, "
                       "or leave out --eval-*"),
            std::string::npos)
      << error;
  program.inputs.count -= 1; // the labels
  EXPECT_EQ(run("a", {}), 1);
  EXPECT_NE(error.find("'--labels' is given, but the program takes none: it "
                       "was compiled with --loss=none"),
            std::string::npos)
      << error;
  program.inputs.count += 1;
  program.states.count -= 1; // the gradient
  EXPECT_EQ(run("a", {"--max-steps=1", "--dump-gradients", folder / "g"}), 1);
  EXPECT_NE(
      error.find("'--dump-gradients': this program does not keep its "
                 "gradients; compile it with --gradient-accumulation-steps"),
      std::string::npos)
      << error;
  program.batch_size = 100;
  EXPECT_EQ(run("a", {}), 1);
  EXPECT_NE(
      error.find("has 64 samples, fewer than one batch of 100: give "
                 "more samples, or --batch-size 64 at most when the model is "
                 "compiled"),
      std::string::npos)
      << error;
  program.micro_step = nullptr;
  EXPECT_EQ(run("a", {"--max-steps=1"}), 1);
  EXPECT_NE(error.find("applies only to programs that train, but this one was "
                       "compiled with --inference"),
            std::string::npos)
      << error;
}

// A damaged file: its shape is the program's, its bytes are not.
TEST_F(TrainerTest, WeightsHaveTheBytesOfTheirShape) {
  static StateInfo states[6];
  const Program whole = tiny::program();
  std::copy(whole.states.begin(), whole.states.end(), states);
  states[2].tensor.bytes = 52;
  program.states = states;
  EXPECT_EQ(run("a", {"--max-steps=1"}), 1);
  EXPECT_NE(error.find("has 48 bytes for 'weight', whose shape needs 52"),
            std::string::npos)
      << error;
}

TEST_F(TrainerTest, WeightsLieBesideTheTrainer) {
  std::string data = "x=" + folder / "x.npy", labels = folder / "labels.npy",
              out = folder / "a";
  char name[] = "tiny", data_flag[] = "--data", labels_flag[] = "--labels",
       out_flag[] = "--output-dir";
  char *argv[] = {name,          data_flag, data.data(), labels_flag,
                  labels.data(), out_flag,  out.data()};
  testing::internal::CaptureStderr();
  EXPECT_EQ(trainer_main(7, argv, program), 1);
  EXPECT_NE(testing::internal::GetCapturedStderr().find(
                "'model.safetensors' lies neither beside the program nor in "
                "the folder above it; name the weights by --weights"),
            std::string::npos);
}

// The flags of programs that scale their loss.
TEST_F(TrainerTest, SaysWhatLossScalesCanBe) {
  static StateInfo states[7];
  std::copy(program.states.begin(), program.states.end(), states);
  states[6] = {{"scale", Type::F32, 0, {}, tiny::kOffPartials, 4},
               StateKind::LossScale,
               {}};
  program.states = states;
  const std::pair<std::vector<std::string>, const char *> cases[] = {
      {{"--loss-scale=much"},
       "'--loss-scale' must be dynamic or a number, but is 'much'"},
      {{"--loss-scale=0"},
       "'--loss-scale' must be at least 1e-37 and at most 1e+38, but is 0"},
      {{"--init-scale=0"},
       "'--init-scale' must be at least 1e-37 and at most 1e+38, but is 0"},
      {{"--growth-factor=0.5"},
       "'--growth-factor' must be at least 1 and at most 1e+38, but is 0.5"},
      {{"--growth-factor=inf"},
       "'--growth-factor' must be at least 1 and at most 1e+38, but is inf"},
      {{"--backoff-factor=0"},
       "'--backoff-factor' must be more than 0 and at most 1, but is 0"},
      {{"--growth-interval=0"},
       "'--growth-interval' must be at least 1, but is 0"},
      {{"--min-loss-scale=inf"},
       "'--min-loss-scale' must be at least 1e-37 and at most 1e+38, but is "
       "inf"},
      {{"--loss-scale=8", "--init-scale=4"},
       "'--init-scale' applies only to --loss-scale=dynamic, but the loss "
       "scale is a fixed number"},
      {{"--loss-scale=8", "--backoff-factor=0.25"},
       "'--backoff-factor' applies only to --loss-scale=dynamic, but the loss "
       "scale is a fixed number"},
  };
  for (const auto &[flags, message] : cases) {
    EXPECT_EQ(run("a", flags), 1);
    EXPECT_NE(error.find(message), std::string::npos)
        << error << "expected " << message;
  }
}

// The flags of programs with another optimizer, and with a state that only some
// have.
TEST_F(TrainerTest, TakesTheFlagsOfItsOptimizer) {
  static const char *const states[] = {"momentum_buffer"};
  program.optimizer = "sgd";
  program.optimizer_states = {};
  EXPECT_EQ(run("a", {"--momentum=0.9"}), 1);
  EXPECT_NE(error.find("'--momentum' applies only to programs that were "
                       "compiled with --optimizer=sgd and a --momentum"),
            std::string::npos)
      << error;
  program.optimizer_states = states;
  EXPECT_EQ(run("a", {"--adam-beta1=0.5"}), 1);
  EXPECT_NE(error.find("'--adam-beta1' applies only to programs that were "
                       "compiled with --optimizer=adamw or adam or adamw_8bit "
                       "or muon"),
            std::string::npos)
      << error;
  EXPECT_EQ(run("a", {"--nesterov"}), 1);
  EXPECT_NE(error.find("'--nesterov' needs --momentum"), std::string::npos)
      << error;
  EXPECT_EQ(run("a", {"--nesterov", "--momentum=0.9", "--max-steps=2"}), 0)
      << error;
}

// As everywhere, the last of two flags counts.
TEST_F(TrainerTest, TheLastFlagCounts) {
  ASSERT_EQ(run("a", {"--max-steps=4", "--no-shuffle"}), 0) << error;
  ASSERT_EQ(run("b", {"--max-steps=4", "--shuffle", "--no-shuffle"}), 0);
  ASSERT_EQ(run("c", {"--max-steps=4", "--no-shuffle", "--shuffle"}), 0);
  EXPECT_EQ(losses("a"), losses("b"));
  EXPECT_NE(losses("a"), losses("c"));
  EXPECT_EQ(error, "");
  // One that is another value is told; flags that may repeat are not.
  ASSERT_EQ(run("d", {"--max-steps=9", "--max-steps", "4", "--no-shuffle",
                      "--eval-data", "x=" + folder / "x.npy", "--eval-labels",
                      folder / "labels.npy", "--seed=42", "--seed=42"}),
            0);
  EXPECT_EQ(losses("a"), losses("d"));
  EXPECT_EQ(error, "tiny: warning: '--max-steps' is given as '9' and as '4'; "
                   "the last one counts\n");
}

TEST_F(TrainerTest, TheHelpNamesEveryFlagWithItsDefault) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  std::string help = "--help";
  char name[] = "tiny", *argv[] = {name, help.data()};
  // The help ends the process.
  EXPECT_EXIT(
      {
        dup2(2, 1);
        trainer_main(2, argv, program);
      },
      testing::ExitedWithCode(0),
      "--max-steps VALUE .*default 1.*--num-train-epochs VALUE .*default 3.*"
      "--learning-rate VALUE .*default 0.1.*--weight-decay VALUE .*default 0.*"
      "--adam-beta2 VALUE .*default 0.999.*--adam-epsilon VALUE .*1e-08");
}

TEST_F(TrainerTest, AnInterruptFinishesTheStepAndSaves) {
  static int signal;
  program.update = [](Context &ctx, char *memory) {
    tiny::update(ctx, memory);
    if (tiny::at<StepState>(memory, tiny::kOffState)->step == 5)
      raise(signal);
  };
  for (int each : {SIGINT, SIGTERM}) {
    signal = each;
    const std::string name = std::to_string(each);
    ASSERT_EQ(run(name, {"--max-steps=1000"}), 0) << error;
    EXPECT_NE(output.find("interrupted: ends after step 5 of 1000; "
                          "--resume=auto goes on from '" +
                          folder / name + "/checkpoint-5'\n"),
              std::string::npos)
        << output;
    check_whole(folder / name + "/checkpoint-5");
    detail::interrupted = 0;
    EXPECT_EQ(losses(name).size(), 5u);
    EXPECT_TRUE(
        std::filesystem::exists(folder / (name + "/model.safetensors")));
  }
}

// Memory that the plan does not have.
TEST_F(TrainerTest, RefusesWhatThePlanDoesNotHave) {
  program.prepare = [](Context &ctx, char *) { ctx.allocate(64); };
  EXPECT_EQ(run("out", {"--max-steps", "2"}), 1);
  EXPECT_NE(error.find("allocated 4416 bytes, but the plan says 4352"),
            std::string::npos)
      << error;
  program.prepare = [](Context &ctx, char *) { ctx.allocate_host(64); };
  EXPECT_EQ(run("out", {"--max-steps", "2"}), 1);
  EXPECT_NE(error.find("allocated 64 bytes of the host's memory, but the plan "
                       "says 0"),
            std::string::npos)
      << error;
  EXPECT_FALSE(std::filesystem::exists(folder / "out"));
}

} // namespace
} // namespace gpuopt
