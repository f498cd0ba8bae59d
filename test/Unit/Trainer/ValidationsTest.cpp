// What follows from validations: the end of a run, and a lower learning rate.

#include "TrainerFixture.h"

namespace gpuopt {
namespace {

// Training data and validation data contradict each other, so that the loss of
// the latter falls and then rises.
struct ValidationsTest : TrainerTest {
  ValidationsTest() {
    for (size_t i = 0; i < labels.size(); i += 2)
      labels[i] = uint8_t((labels[i] + 1) % 3);
    write_file(folder / "eval.npy", npy("|u1", "(64,)", bytes_of(labels)));
  }
  std::vector<std::string> flags(std::vector<std::string> more) {
    more.insert(more.end(),
                {"--max-steps=60", "--learning-rate=0.05", "--eval-steps=2",
                 "--eval-data", "x=" + folder / "x.npy", "--eval-labels",
                 folder / "eval.npy"});
    return more;
  }
  // Returns the number of the validation whose loss is the lowest, from 1 on.
  size_t best_of(const std::vector<double> &losses) {
    return size_t(std::min_element(losses.begin(), losses.end()) -
                  losses.begin()) +
           1;
  }
};

TEST_F(ValidationsTest, TooManyWithoutGainEndTheRun) {
  ASSERT_EQ(run("a", flags({"--early-stopping-patience=3"})), 0) << error;
  const auto losses = numbers("a", "eval_loss");
  ASSERT_LT(losses.size(), 29u) << "the test is of a loss that rises again";
  EXPECT_EQ(losses.size(), best_of(losses) + 3);
  EXPECT_EQ(numbers("a", "loss").size(), 2 * losses.size());
  EXPECT_NE(output.find("stops early after step " +
                        std::to_string(2 * losses.size()) +
                        " of 60: the last 3 validations were not better than "),
            std::string::npos)
      << output;
  // Gains below the threshold do not count.
  ASSERT_EQ(run("b", flags({"--early-stopping-patience=1",
                            "--early-stopping-threshold=100"})),
            0)
      << error;
  EXPECT_EQ(numbers("b", "eval_loss").size(), 2u);
}

TEST_F(ValidationsTest, NumbersThatAreAllNaNEndTheRunToo) {
  const std::vector<float> nan(64 * 4, NAN);
  write_file(folder / "nan.npy", npy("<f4", "(64, 4)", bytes_of(nan)));
  ASSERT_EQ(
      run("a", {"--max-steps=60", "--early-stopping-patience=2",
                "--eval-steps=2", "--eval-data", "x=" + folder / "nan.npy",
                "--eval-labels", folder / "eval.npy"}),
      0)
      << error;
  const std::string line = "stops early after step 6 of 60: none of the "
                           "validations had a finite loss\n";
  EXPECT_NE(output.find(line), std::string::npos) << output;
  EXPECT_NE(output.find("\nbest validation: none, because no validation had a "
                        "finite loss\n"),
            std::string::npos)
      << output;
  // It is told once, and where it is written.
  const std::string warning =
      "tiny: warning: step 2: the validation loss is nan, which is null in "
      "'metrics.jsonl' and never the best one. The validation data, or the "
      "model's outputs for them, are infinite or NaN\n";
  EXPECT_EQ(error, warning);
  for (double loss : numbers("a", "eval_loss"))
    EXPECT_TRUE(std::isnan(loss));
}

TEST_F(ValidationsTest, TheBestIsTheBestFiniteOne) {
  static int validations;
  validations = 0;
  program.evaluate = [](Context &ctx, char *memory) {
    tiny::evaluate(ctx, memory);
    auto *state = tiny::at<StepState>(memory, tiny::kOffState);
    const int number = validations++ / 8; // it has as many batches
    if (number == 0 || number == 2)
      state->evaluation_loss_sum = number == 0 ? double(NAN) : INFINITY;
  };
  ASSERT_EQ(
      run("a", {"--max-steps=6", "--eval-steps=2", "--eval-data",
                "x=" + folder / "x.npy", "--eval-labels", folder / "eval.npy"}),
      0)
      << error;
  EXPECT_TRUE(std::isnan(numbers("a", "eval_loss")[0]));
  EXPECT_NE(output.find("\nbest validation: loss " +
                        loss_text(numbers("a", "eval_loss")[1]) +
                        " after step 4, "),
            std::string::npos)
      << output;
}

TEST_F(ValidationsTest, AResumedRunCountsOn) {
  ASSERT_EQ(run("whole", flags({"--early-stopping-patience=3"})), 0) << error;
  const auto losses = numbers("whole", "eval_loss");
  // One less than the step of the last validation.
  static int64_t stop = 0;
  stop = int64_t(2 * losses.size()) - 1;
  program.update = [](Context &ctx, char *memory) {
    tiny::update(ctx, memory);
    if (tiny::at<StepState>(memory, tiny::kOffState)->step == stop)
      detail::interrupted = 1;
  };
  const auto again = flags(
      {"--early-stopping-patience=3", "--resume=auto", "--save-steps=100"});
  ASSERT_EQ(run("parts", again), 0) << error;
  detail::interrupted = 0;
  ASSERT_EQ(run("parts", again), 0) << error;
  EXPECT_EQ(numbers("parts", "eval_loss"), losses);
  EXPECT_NE(output.find("stops early"), std::string::npos) << output;
  // There is nothing to go on with.
  ASSERT_EQ(run("parts", again), 0) << error;
  EXPECT_EQ(numbers("parts", "eval_loss"), losses);
  EXPECT_NE(output.find(", and its validations have ended the run; a higher "
                        "--early-stopping-patience takes it further\n"),
            std::string::npos)
      << output;
}

// An interrupt in the step before a validation, or during one, is no reason to
// wait for its end. The run that goes on does it first, so that all that
// follows from it is as without the interrupt.
struct InterruptedValidationTest : ValidationsTest {
  static constexpr int kBatches = 8; // of a validation
  static inline int batches = 0, stop_at_batch = 0;
  static inline int64_t stop_at_step = 0;
  std::vector<std::string> steps(std::vector<std::string> more = {}) {
    more.insert(more.end(),
                {"--lr-scheduler-type=reduce_lr_on_plateau", "--lr-patience=0",
                 "--lr-threshold=0.5", "--resume=auto", "--save-best"});
    return flags(std::move(more));
  }
  void interrupt(int64_t at_step, int at_batch) {
    batches = 0, stop_at_batch = at_batch, stop_at_step = at_step;
    program.update = [](Context &ctx, char *memory) {
      tiny::update(ctx, memory);
      if (tiny::at<StepState>(memory, tiny::kOffState)->step == stop_at_step)
        raise(SIGTERM);
    };
    program.evaluate = [](Context &ctx, char *memory) {
      tiny::evaluate(ctx, memory);
      if (++batches == stop_at_batch)
        raise(SIGTERM);
    };
  }
  bool awaits_validation(const std::string &checkpoint) {
    const std::string text =
        read_file(folder / (checkpoint + "/trainer_state.json"));
    return text.find("\"awaits_validation\": 1,") != std::string::npos;
  }
  void expect_whole(const std::string &out) {
    EXPECT_EQ(numbers(out, "eval_loss"), numbers("whole", "eval_loss"));
    EXPECT_EQ(numbers(out, "learning_rate"), numbers("whole", "learning_rate"));
    EXPECT_EQ(losses(out), losses("whole"));
    EXPECT_EQ(read_file(folder / (out + "/model.safetensors")),
              read_file(folder / "whole/model.safetensors"));
  }
};

TEST_F(InterruptedValidationTest, IsDoneByTheRunThatGoesOn) {
  ASSERT_EQ(run("whole", steps()), 0) << error;
  const auto rates = numbers("whole", "learning_rate");
  ASSERT_NE(rates[3], rates[4]) << "it is to follow from the validation";
  for (const bool is_in_step : {true, false}) {
    const std::string out = is_in_step ? "step" : "validation";
    interrupt(is_in_step ? 4 : 0, is_in_step ? 0 : kBatches + 3);
    ASSERT_EQ(run(out, steps()), 0) << error;
    detail::interrupted = 0;
    EXPECT_EQ(batches, is_in_step ? kBatches : kBatches + 3);
    EXPECT_NE(output.find("interrupted: ends after step 4 of 60; "
                          "--resume=auto goes on from '"),
              std::string::npos)
        << output;
    EXPECT_EQ(numbers(out, "eval_loss").size(), 1u);
    EXPECT_TRUE(awaits_validation(out + "/checkpoint-4"));
    // Another interrupt in the same validation changes nothing.
    interrupt(0, 3);
    ASSERT_EQ(run(out, steps()), 0) << error;
    detail::interrupted = 0;
    EXPECT_EQ(batches, 3);
    EXPECT_TRUE(awaits_validation(out + "/checkpoint-4"));
    // The validation is part of the checkpoint that the next run saves first.
    interrupt(5, 0);
    ASSERT_EQ(run(out, steps()), 0) << error;
    detail::interrupted = 0;
    EXPECT_EQ(read_run_state(folder / out + "/checkpoint-5/trainer_state.json")
                  .validations.count,
              2);
    EXPECT_FALSE(awaits_validation(out + "/checkpoint-4"));
    interrupt(0, 0);
    ASSERT_EQ(run(out, steps()), 0) << error;
    expect_whole(out);
  }
}

// A kill between the line of the validation and the checkpoint that knows of it
// leaves no second line.
TEST_F(InterruptedValidationTest, HasOneLine) {
  ASSERT_EQ(run("whole", steps()), 0) << error;
  interrupt(4, 0);
  ASSERT_EQ(run("a", steps()), 0) << error;
  detail::interrupted = 0;
  std::filesystem::copy(folder / "a", folder / "b",
                        std::filesystem::copy_options::recursive);
  interrupt(0, 0);
  ASSERT_EQ(run("a", steps()), 0) << error;
  std::filesystem::copy_file(folder / "a/metrics.jsonl",
                             folder / "b/metrics.jsonl",
                             std::filesystem::copy_options::overwrite_existing);
  ASSERT_EQ(run("b", steps()), 0) << error;
  expect_whole("b");
}

TEST_F(InterruptedValidationTest, IsDoneAfterAnErrorToo) {
  ASSERT_EQ(run("whole", steps()), 0) << error;
  interrupt(0, 0);
  program.evaluate = [](Context &ctx, char *memory) {
    if (++batches == kBatches + 3)
      throw Error("the network is gone");
    tiny::evaluate(ctx, memory);
  };
  EXPECT_EQ(run("a", steps()), 1);
  EXPECT_TRUE(awaits_validation("a/checkpoint-4"));
  ASSERT_EQ(run("a", steps()), 0) << error;
  expect_whole("a");
}

// It is part of a run with validations alone.
TEST_F(InterruptedValidationTest, IsLeftOutWithoutData) {
  interrupt(4, 0);
  ASSERT_EQ(run("a", steps()), 0) << error;
  detail::interrupted = 0;
  interrupt(0, 0);
  ASSERT_EQ(
      run("a", {"--max-steps=6", "--learning-rate=0.05", "--resume=auto"}), 0)
      << error;
  EXPECT_EQ(numbers("a", "eval_loss").size(), 1u);
  EXPECT_TRUE(awaits_validation("a/checkpoint-4"));
}

TEST_F(ValidationsTest, APlateauLowersTheRate) {
  ASSERT_EQ(run("a", flags({"--lr-scheduler-type=reduce_lr_on_plateau",
                            "--lr-patience=1", "--lr-factor=0.5",
                            "--lr-threshold=0", "--min-lr=0.01"})),
            0)
      << error;
  const auto losses = numbers("a", "eval_loss"),
             rates = numbers("a", "learning_rate");
  const size_t best = best_of(losses);
  ASSERT_GT(best, 2u);
  for (size_t step = 0; step < 2 * (best + 2); step++)
    ASSERT_EQ(rates[step], 0.05) << step;
  EXPECT_EQ(rates[2 * (best + 2)], 0.025);
  EXPECT_EQ(rates.back(), 0.01);
}

// A run goes on from a checkpoint of another schedule.
TEST_F(ValidationsTest, APlateauEndsAndBeginsWithItsSchedule) {
  const std::vector<std::string> plateau = {
      "--lr-scheduler-type=reduce_lr_on_plateau", "--lr-patience=1",
      "--lr-factor=0.5", "--lr-threshold=0"};
  auto from = [&](const std::string &out, std::vector<std::string> more) {
    more.push_back("--resume=" + folder / (out + "/checkpoint-60"));
    more.push_back("--max-steps=90");
    std::vector<std::string> all = flags(std::move(more));
    // The first --max-steps is the wanted one.
    all.erase(std::find(all.begin(), all.end(), "--max-steps=60"));
    return all;
  };
  auto with = [&](std::vector<std::string> more) {
    more.insert(more.end(), plateau.begin(), plateau.end());
    return more;
  };
  // The rate of a plateau does not stay.
  ASSERT_EQ(run("plateau", flags(with({"--save-steps=60"}))), 0) << error;
  ASSERT_LT(numbers("plateau", "learning_rate").back(), 0.05);
  ASSERT_EQ(run("constant", from("plateau", {"--lr-scheduler-type=constant"})),
            0)
      << error;
  for (const double rate : numbers("constant", "learning_rate"))
    ASSERT_EQ(rate, 0.05);
  // The first validation after the checkpoint is the best one so far: the rate
  // falls after two in a row that are worse than the best since.
  ASSERT_EQ(
      run("before", flags({"--lr-scheduler-type=constant", "--save-steps=60"})),
      0)
      << error;
  ASSERT_EQ(run("begun", from("before", with({}))), 0) << error;
  const auto losses = numbers("begun", "eval_loss"),
             rates = numbers("begun", "learning_rate");
  size_t validation = 0;
  int bad = 0;
  for (double best = INFINITY; bad < 2; validation++) {
    ASSERT_LT(validation, losses.size()) << "the test is of a loss that rises";
    bad = losses[validation] < best ? 0 : bad + 1;
    best = std::min(best, losses[validation]);
  }
  ASSERT_GE(validation, 3u);
  for (size_t step = 0; step < 2 * (validation + 1); step++)
    ASSERT_EQ(rates[step] == 0.05, step < 2 * validation) << step;
  // Between two runs with plateaus, the lower rate stays.
  ASSERT_EQ(run("on", from("plateau", with({}))), 0) << error;
  EXPECT_LT(numbers("on", "learning_rate").front(), 0.05);
}

TEST_F(ValidationsTest, NeedValidations) {
  for (const char *flag : {"--early-stopping-patience=1",
                           "--lr-scheduler-type=reduce_lr_on_plateau"}) {
    const std::string text = flag, name = text.substr(0, text.find("=1"));
    EXPECT_EQ(run("a", {flag}), 1);
    EXPECT_EQ(error, "tiny: error: '" + name +
                         "' needs data to validate on: --eval-data and "
                         "--eval-labels, or --eval-tokens\n");
    EXPECT_EQ(run("a", {flag, "--eval-data", "x=" + folder / "x.npy",
                        "--eval-labels", folder / "labels.npy"}),
              1);
    EXPECT_EQ(error,
              "tiny: error: '" + name +
                  "' needs validations after every --eval-steps steps\n");
  }
}

TEST_F(ValidationsTest, FlagsWithoutEffectAreRefused) {
  EXPECT_EQ(run("a", {"--early-stopping-threshold=1"}), 1);
  EXPECT_EQ(error, "tiny: error: '--early-stopping-threshold' has no effect "
                   "without --early-stopping-patience\n");
  EXPECT_EQ(run("a", {"--max-bad-records=1"}), 1);
  EXPECT_EQ(error, "tiny: error: '--max-bad-records' has no effect without "
                   "--on-bad-record=skip\n");
}

// Predictions by the run take it, if it has pictures.
TEST_F(ValidationsTest, TransformsDoNotNeedThem) {
  EXPECT_EQ(run("a", {"--max-steps=1", "--eval-transform=resize"}), 1);
  EXPECT_EQ(error.rfind("tiny: error: '--eval-transform' is for pictures, but "
                        "--data names none",
                        0),
            0u)
      << error;
}

TEST_F(ValidationsTest, FlagsOfOtherSchedulesAreRefused) {
  EXPECT_EQ(run("a", {"--lr-power=2"}), 1);
  EXPECT_EQ(error, "tiny: error: '--lr-power' applies only to "
                   "--lr-scheduler-type=polynomial, but the schedule is "
                   "linear\n");
  EXPECT_EQ(run("a", {"--lr-scheduler-type=constant", "--warmup-steps=3"}), 1);
  EXPECT_EQ(error, "tiny: error: '--warmup-steps' has no effect on "
                   "--lr-scheduler-type=constant, which has no warm-up; "
                   "constant_with_warmup has one\n");
  EXPECT_EQ(run("a", {"--lr-scheduler-type=constant", "--warmup-ratio=0.1"}),
            1);
  EXPECT_EQ(error.rfind("tiny: error: '--warmup-ratio' has no effect on", 0),
            0u)
      << error;
  const auto usual = program.defaults;
  static const char *const warmup[] = {"--warmup-steps=3"};
  program.defaults = warmup; // of a program, they hold for other schedules
  EXPECT_EQ(run("b", {"--lr-scheduler-type=constant", "--warmup-ratio=0",
                      "--max-steps=1"}),
            0)
      << error;
  program.defaults = usual;
  EXPECT_EQ(run("a", {"--lr-scheduler-type=warmup_stable_decay"}), 1);
  EXPECT_EQ(error,
            "tiny: error: '--lr-scheduler-type=warmup_stable_decay' needs "
            "--lr-decay-steps\n");
  EXPECT_EQ(run("a", {"--lr-scheduler-type=cosine_with_min_lr"}), 1);
  EXPECT_EQ(error, "tiny: error: '--lr-scheduler-type=cosine_with_min_lr' "
                   "needs --min-lr or --min-lr-rate\n");
  EXPECT_EQ(run("c", {"--lr-scheduler-type=cosine_with_min_lr", "--min-lr=0",
                      "--max-steps=1"}),
            0)
      << error;
  static const char *const toNothing[] = {
      "--lr-scheduler-type=cosine_with_min_lr", "--min-lr=0"};
  program.defaults = toNothing; // which the compiler has checked
  EXPECT_EQ(run("d", {"--max-steps=1"}), 0) << error;
  program.defaults = usual;
  EXPECT_EQ(run("a", {"--lr-scheduler-type=polynomial", "--lr-end=0.2"}), 1);
  EXPECT_EQ(error,
            "tiny: error: '--lr-end' must be below --learning-rate, which "
            "is 0.1, but is 0.2\n");
  EXPECT_EQ(run("a", {"--lr-scheduler-type=cosine_with_min_lr", "--min-lr=0.01",
                      "--min-lr-rate=0.1"}),
            1);
  EXPECT_EQ(error,
            "tiny: error: '--min-lr' and --min-lr-rate both say what the "
            "rate never falls below; give one of them\n");
}

} // namespace
} // namespace gpuopt
