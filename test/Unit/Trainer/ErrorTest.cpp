// Errors that end a run: those that are seen before its first step, and what
// later ones leave.
#include "TrainerFixture.h"

namespace gpuopt {
namespace {

struct ErrorTest : TrainerTest {
  // Runs in the order of the samples on labels of which one is no class.
  int run_with_bad_label(size_t sample, const std::string &out,
                         std::vector<std::string> more) {
    std::vector<uint8_t> bad = labels;
    bad[sample] = 3;
    write_file(folder / "bad.npy", npy("|u1", "(64,)", bytes_of(bad)));
    more.insert(more.begin(), {"--labels", folder / "bad.npy", "--no-shuffle"});
    return run(out, std::move(more));
  }
  // Has a step compute an index that is out of range.
  void read_outside_in(int64_t step) {
    static int64_t bad_step;
    bad_step = step;
    program.update = [](Context &ctx, char *memory) {
      tiny::update(ctx, memory);
      auto *state = tiny::at<StepState>(memory, tiny::kOffState);
      state->outside.is_taken = state->step == bad_step;
    };
    static const IndexedInfo indexed[] = {{"gather", 4}};
    program.indexed = indexed;
  }
  bool has(const std::string &file) {
    return std::filesystem::exists(folder / file);
  }
  // Expects what a run of 6 steps leaves that an error ends after `step`.
  void expect_kept(const std::string &out, const std::string &step) {
    const std::string checkpoint = folder / out + "/checkpoint-" + step;
    check_whole(checkpoint);
    EXPECT_NE(output.find("an error ends the run after step " + step +
                          " of 6; --resume=auto goes on from '" + checkpoint +
                          "'\nweights: " + folder / out +
                          "/model.safetensors\n"),
              std::string::npos)
        << output;
    EXPECT_TRUE(has(out + "/model.safetensors"));
    EXPECT_NE(
        read_file(folder / out + "/metrics.jsonl")
            .find("\n{\"step\": " + step + ", \"ended_by\": \"error\"}\n"),
        std::string::npos);
  }
};

TEST_F(ErrorTest, ValidationDataAreCheckedBeforeTheFirstStep) {
  labels.back() = 3;
  write_file(folder / "bad.npy", npy("|u1", "(64,)", bytes_of(labels)));
  const std::vector<std::string> flags = {"--max-steps=2", "--eval-data",
                                          "x=" + folder / "x.npy",
                                          "--eval-labels", folder / "bad.npy"};
  EXPECT_EQ(run("a", flags), 1);
  EXPECT_NE(error.find("sample 63 holds 3"), std::string::npos) << error;
  EXPECT_FALSE(has("a")) << "there is no step yet";
  // Bad records that are skipped are no error.
  std::vector<std::string> skipping = flags;
  skipping.insert(skipping.end(),
                  {"--on-bad-record=skip", "--max-bad-records=1"});
  EXPECT_EQ(run("a", skipping), 0) << error;
  // Neither does a run go on from a checkpoint.
  ASSERT_EQ(run("b", {"--max-steps=1", "--save-steps=1"}), 0) << error;
  std::vector<std::string> resuming = flags;
  resuming.push_back("--resume=auto");
  EXPECT_EQ(run("b", resuming), 1);
  EXPECT_EQ(losses("b").size(), 1u);
}

TEST_F(ErrorTest, TheStepsBeforeABadRecordAreKept) {
  for (int64_t accumulated : {1, 2}) {
    program.accumulation_steps = accumulated;
    const std::string name = std::to_string(accumulated);
    const std::vector<std::string> flags = {"--max-steps=6", "--no-shuffle"};
    ASSERT_EQ(run("whole" + name, flags), 0) << error;
    // It is in the last batch of the third step.
    ASSERT_EQ(run_with_bad_label(size_t(accumulated * 3 * 8 - 1), name, flags),
              1);
    EXPECT_NE(error.find(" holds 3 for 'labels'"), std::string::npos) << error;
    expect_kept(name, "2");
    ASSERT_EQ(run(name, {"--max-steps=6", "--no-shuffle", "--resume=auto"}), 0)
        << error;
    EXPECT_EQ(losses(name), losses("whole" + name));
    EXPECT_EQ(read_file(folder / (name + "/model.safetensors")),
              read_file(folder / ("whole" + name + "/model.safetensors")));
  }
}

// Another program writes to a file of data, and begins with no bytes.
TEST_F(ErrorTest, TheStepsBeforeAFileIsCutAreKept) {
  static std::string file;
  file = folder / "cut.npy";
  program.update = [](Context &ctx, char *memory) {
    tiny::update(ctx, memory);
    if (tiny::at<StepState>(memory, tiny::kOffState)->step == 2)
      std::filesystem::resize_file(file, 0);
  };
  auto run_on_file = [&](const std::string &out, const char *steps,
                         const char *workers) {
    std::filesystem::copy_file(
        folder / "labels.npy", file,
        std::filesystem::copy_options::overwrite_existing);
    EXPECT_EQ(run(out, {"--max-steps", steps, "--num-workers", workers,
                        "--no-shuffle", "--labels", file}),
              1);
    EXPECT_EQ(error.find("tiny: error: '" + file + "': sample "), 0u) << error;
    EXPECT_NE(error.find(" cannot be read: a file of the data was cut or "
                         "written again while this process reads it; leave "
                         "the data as they are until it has ended\n"),
              std::string::npos)
        << error;
  };
  run_on_file("a", "6", "0");
  expect_kept("a", "2");
  // Workers have prepared some batches before.
  run_on_file("b", "60", "3");
  EXPECT_TRUE(has("b/model.safetensors"));
  EXPECT_FALSE(checkpoints_in(folder / "b").empty());
}

// Each micro batch changes running statistics, and the third step has had one
// of its two when its label is found to be no class.
TEST_F(ErrorTest, RunningStatisticsAreThoseOfTheStepsBefore) {
  constexpr size_t kOffMean = tiny::kOffX + 128, kOffVariance = kOffMean + 64;
  std::vector<StateInfo> states(program.states.begin(), program.states.end());
  states.push_back(
      {{"mean", Type::F32, 1, {4}, kOffMean, 16}, StateKind::Buffer});
  states.push_back(
      {{"variance", Type::F32, 1, {2}, kOffVariance, 8}, StateKind::Buffer});
  program.states.data = states.data();
  program.states.count = int(states.size());
  program.accumulation_steps = 2;
  program.micro_step = [](Context &ctx, char *memory) {
    tiny::micro_step(ctx, memory);
    tiny::at<float>(memory, kOffMean)[3] += 1;
    tiny::at<float>(memory, kOffVariance)[1] += 10;
  };
  const std::vector<float> zeros(12, 0);
  write_safetensors(folder / "start",
                    {{"weight", Type::F32, {4, 3}, zeros.data(), 48},
                     {"mean", Type::F32, {4}, zeros.data(), 16},
                     {"variance", Type::F32, {2}, zeros.data(), 8}});
  ASSERT_EQ(run_with_bad_label(47, "a", {"--max-steps=6"}), 1);
  expect_kept("a", "2");
  for (const char *file :
       {"a/model.safetensors", "a/checkpoint-2/model.safetensors"}) {
    const MappedFile mapped(folder / file);
    const auto tensors = read_safetensors(mapped);
    float mean[4], variance[2];
    memcpy(mean, tensors.at("mean").data, sizeof mean);
    memcpy(variance, tensors.at("variance").data, sizeof variance);
    EXPECT_EQ(mean[3], 4) << file;
    EXPECT_EQ(variance[1], 40) << file;
  }
}

TEST_F(ErrorTest, TheStepsBeforeABadValidationAreKept) {
  static int validations;
  validations = 0;
  program.evaluate = [](Context &ctx, char *memory) {
    if (validations++ == 8) // the first one has as many batches
      throw Error("the network is gone");
    tiny::evaluate(ctx, memory);
  };
  const std::vector<std::string> flags = {
      "--max-steps=6",         "--eval-steps=2", "--eval-data",
      "x=" + folder / "x.npy", "--eval-labels",  folder / "labels.npy"};
  EXPECT_EQ(run("a", flags), 1);
  EXPECT_EQ(error, "tiny: error: the network is gone\n");
  expect_kept("a", "4");
  // Those before the last validation are kept as well.
  validations = -8;
  EXPECT_EQ(run("b", flags), 1);
  expect_kept("b", "6");
  // The last one is repeated by a run that goes on.
  std::vector<std::string> resuming = flags;
  resuming.push_back("--resume=auto");
  program.evaluate = tiny::evaluate;
  ASSERT_EQ(run("b", resuming), 0) << error;
  EXPECT_NE(output.find("step 6  validation loss "), std::string::npos)
      << output;
  EXPECT_EQ(output.find("nothing is left to do"), std::string::npos) << output;
  ASSERT_EQ(run("whole", flags), 0) << error;
  EXPECT_EQ(numbers("b", "eval_loss"), numbers("whole", "eval_loss"));
  EXPECT_EQ(losses("b").size(), 6u);
  EXPECT_EQ(numbers("b", "peak_bytes").size(), 1u) << "it has come to its end";
  EXPECT_EQ(read_run_state(folder / "b/checkpoint-6/trainer_state.json")
                .validations.count,
            3);
  ASSERT_EQ(run("b", resuming), 0) << error;
  EXPECT_NE(output.find("nothing is left to do"), std::string::npos) << output;
}

TEST_F(ErrorTest, NothingIsValidatedWhereNoErrorWas) {
  const std::vector<std::string> data = {
      "--save-steps=2", "--eval-data", "x=" + folder / "x.npy", "--eval-labels",
      folder / "labels.npy"};
  std::vector<std::string> whole = data, part = data;
  whole.push_back("--max-steps=6");
  ASSERT_EQ(run("a", whole), 0) << error;
  part.push_back("--max-steps=4");
  part.push_back("--resume=" + folder / "a/checkpoint-4");
  ASSERT_EQ(run("a", part), 0) << error;
  EXPECT_NE(output.find("nothing is left to do"), std::string::npos) << output;
  EXPECT_TRUE(std::filesystem::exists(folder / "a/checkpoint-6"));
}

TEST_F(ErrorTest, MemoryOfTheHostThatIsShortIsTold) {
  program.prepare = [](Context &, char *) { throw std::bad_alloc(); };
  EXPECT_EQ(run("a", {"--max-steps=1"}), 1);
  EXPECT_EQ(error, "tiny: error: the host has no memory left\n");
}

TEST_F(ErrorTest, TheCopyOfACheckpointSaysWhatItNeeds) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer ends the process instead of throwing";
#endif
  const int64_t bytes = int64_t(1) << 60; // more than addresses reach
  const StateInfo much[] = {{{"much", Type::U8, 1, {bytes}, 0, size_t(bytes)},
                             StateKind::OptimizerState,
                             {}}};
  program.states = much;
  const Averages averages(program, 0);
  Originals originals(program);
  StateCopy copy(program, averages, originals, "do without");
  try {
    copy.allocate();
    ADD_FAILURE() << "it was allocated";
  } catch (const Error &error) {
    EXPECT_STREQ(error.what(),
                 "the host has too little memory for the copy of weights and "
                 "optimizer states from which a checkpoint is written, which "
                 "takes 1048576.0 TiB; do without");
  }
}

// An error behind the update, as of gradients that cannot be written.
TEST_F(ErrorTest, AStepIsKeptOnceItIsDone) {
  ASSERT_EQ(run("one", {"--max-steps=1", "--lr-scheduler-type=constant"}), 0)
      << error;
  // The file grows under another name, which a folder has taken here.
  std::filesystem::create_directory(folder / "gradients.part");
  EXPECT_EQ(run("a", {"--max-steps=6", "--lr-scheduler-type=constant",
                      "--dump-gradients", folder / "gradients"}),
            1);
  EXPECT_NE(error.find("gradients.part"), std::string::npos) << error;
  expect_kept("a", "1");
  EXPECT_EQ(read_file(folder / "a/model.safetensors"),
            read_file(folder / "one/model.safetensors"));
}

TEST_F(ErrorTest, ALostStepLeavesNothing) {
  read_outside_in(3);
  EXPECT_EQ(run("a", {"--max-steps=6"}), 1);
  EXPECT_NE(error.find("step 3: 'gather' reads index"), std::string::npos)
      << error;
  EXPECT_FALSE(has("a/model.safetensors") || has("a/checkpoint-2"))
      << "the weights are those of the third step";
}

TEST_F(ErrorTest, ALostFirstStepKeepsEarlierResults) {
  ASSERT_EQ(run("a", {"--max-steps=2", "--save-steps=1"}), 0) << error;
  const std::string weights = read_file(folder / "a/model.safetensors"),
                    metrics = read_file(folder / "a/metrics.jsonl");
  read_outside_in(1);
  EXPECT_EQ(run("a", {"--max-steps=6", "--overwrite-output-dir"}), 1);
  EXPECT_NE(error.find("step 1: 'gather' reads index"), std::string::npos)
      << error;
  EXPECT_EQ(read_file(folder / "a/model.safetensors"), weights);
  EXPECT_EQ(read_file(folder / "a/metrics.jsonl"), metrics);
  EXPECT_TRUE(has("a/checkpoint-1"));
}

TEST_F(ErrorTest, WhatCannotBeSavedIsToldBeforeTheError) {
  static std::string out;
  out = folder / "a";
  program.evaluate = [](Context &, char *) {
    std::filesystem::remove_all(out);
    throw Error("the network is gone");
  };
  EXPECT_EQ(run("a", {"--max-steps=6", "--eval-steps=2", "--eval-data",
                      "x=" + folder / "x.npy", "--eval-labels",
                      folder / "labels.npy"}),
            1);
  EXPECT_EQ(
      error.rfind("tiny: warning: what step 2 has come to is not saved: ", 0),
      0u)
      << error;
  EXPECT_NE(error.find("\ntiny: error: the network is gone\n"),
            std::string::npos)
      << error;
}

} // namespace
} // namespace gpuopt
