// What the trainer does where losses, gradients, weights or data are infinite
// or no numbers.

#include "TrainerFixture.h"

namespace gpuopt {
namespace {

struct TrainerNotFiniteTest : TrainerTest {};

TEST_F(TrainerNotFiniteTest, StopsBeforeNaNReplacesWeights) {
  x[4 * 4] = NAN;
  write_file(folder / "x.npy", npy("<f4", "(64, 4)", bytes_of(x)));
  ASSERT_EQ(run("a", {"--max-steps=9", "--no-shuffle"}), kDiverged);
  EXPECT_NE(error.find("step 1: the loss is nan"), std::string::npos) << error;
  EXPECT_NE(error.find("The data of input 'x' ('" + folder / "x.npy" +
                       "': sample 4) is infinite or NaN"),
            std::string::npos)
      << error;
  EXPECT_NE(error.find("error: training diverged in step 1; '" + folder / "a" +
                       "/model.safetensors' is not written"),
            std::string::npos)
      << error;
  EXPECT_FALSE(std::filesystem::exists(folder / "a/model.safetensors"));

  x[4 * 4] = std::copysign(NAN, -1.0f);
  write_file(folder / "x.npy", npy("<f4", "(64, 4)", bytes_of(x)));
  ASSERT_EQ(run("a", {"--max-steps=9", "--no-shuffle"}), kDiverged);
  EXPECT_NE(error.find("step 1: the loss is nan, the gradients' norm nan"),
            std::string::npos)
      << error;
  EXPECT_NE(output.find("  loss nan  "), std::string::npos) << output;

  std::swap(x[4 * 4], x[4 * 40]); // the sixth batch
  write_file(folder / "x.npy", npy("<f4", "(64, 4)", bytes_of(x)));
  ASSERT_EQ(run("a", {"--max-steps=9", "--no-shuffle", "--save-steps=2"}),
            kDiverged);
  EXPECT_EQ(losses("a").size(), 6u);
  EXPECT_NE(error.find("': sample 40) is infinite or NaN"), std::string::npos)
      << error;
  EXPECT_NE(error.find("the last checkpoint is '" + folder / "a/checkpoint-4"),
            std::string::npos)
      << error;
  EXPECT_TRUE(std::isfinite(loss_of("a/checkpoint-4", 8)));
  // The samples of an epoch are drawn, and each comes once.
  ASSERT_EQ(run("b", {"--max-steps=9"}), kDiverged);
  EXPECT_NE(error.find("': sample 40) is infinite or NaN"), std::string::npos)
      << error;
}

// Sample 20 is in the third of the four batches of the first step; where an
// epoch is shuffled, it comes in any batch of either step. With `--num-workers
// 0`, the trainer's thread reads all of them.
TEST_F(TrainerNotFiniteTest, NamesTheDataOfEachMicroBatch) {
  program.accumulation_steps = 4;
  x[4 * 20] = INFINITY;
  write_file(folder / "x.npy", npy("<f4", "(64, 4)", bytes_of(x)));
  overwrites = true;
  for (const char *workers : {"0", "2"})
    for (const char *order : {"--no-shuffle", "--seed=1", "--seed=2"}) {
      run("a", {"--max-steps=2", order, "--num-workers", workers});
      EXPECT_NE(error.find("The data of input 'x' ('" + folder / "x.npy" +
                           "': sample 20) is infinite or NaN: mend it"),
                std::string::npos)
          << order << ": " << error;
    }
}

// A finite gradient can make a weight infinite: by its length alone, or where
// a moment is 0 and epsilon too.
TEST_F(TrainerNotFiniteTest, InfiniteWeightsReplaceNone) {
  program.update = [](Context &ctx, char *memory) {
    tiny::update(ctx, memory);
    if (tiny::at<StepState>(memory, tiny::kOffState)->step == 5)
      tiny::at<float>(memory, tiny::kOffWeight)[11] = -INFINITY;
  };
  ASSERT_EQ(run("a", {"--max-steps=5"}), kDiverged);
  EXPECT_NE(error.find("diverged in step 5; '" + folder / "a" +
                       "/model.safetensors' is not written; infinite or NaN: "
                       "'weight'"),
            std::string::npos)
      << error;
  EXPECT_FALSE(std::filesystem::exists(folder / "a/model.safetensors"));

  ASSERT_EQ(run("a", {"--max-steps=9", "--save-steps=1"}), kDiverged);
  EXPECT_NE(error.find("the last checkpoint is '" + folder / "a/checkpoint-4"),
            std::string::npos)
      << error;
  EXPECT_TRUE(std::isfinite(loss_of("a/checkpoint-4", 8)));
}

TEST_F(TrainerNotFiniteTest, WeightsThatWereInfiniteAtFirstAreSaved) {
  std::vector<float> weight(12, 0);
  weight[0] = -INFINITY;
  write_safetensors(folder / "start",
                    {{"weight", Type::F32, {4, 3}, weight.data(), 48}});
  program.micro_step = [](Context &, char *memory) {
    auto *state = tiny::at<StepState>(memory, tiny::kOffState);
    state->loss_sum = state->weight_sum = 1;
  };
  program.update = [](Context &, char *) {};
  ASSERT_EQ(run("a", {"--max-steps=1"}), 0) << error;
}

TEST_F(TrainerNotFiniteTest, MetricsTellThatTheRunHasDiverged) {
  program.update = [](Context &ctx, char *memory) {
    tiny::update(ctx, memory);
    auto *state = tiny::at<StepState>(memory, tiny::kOffState);
    if (state->step == 3)
      state->grad_norm = NAN;
  };
  ASSERT_EQ(run("a", {"--max-steps=6"}), kDiverged);
  const std::string metrics = read_file(folder / "a/metrics.jsonl"),
                    last = "\n{\"step\": 3, \"ended_by\": \"divergence\"}\n";
  EXPECT_EQ(metrics.substr(metrics.size() - last.size()), last);
}

// Programs that scale their loss skip steps that overflow. If the scale cannot
// fall any more, no later step is good, and the checkpoints before are kept.
struct StuckTest : TrainerNotFiniteTest {
  // Steps after the tenth, up to the last, are skipped, at this scale.
  void skip_at(float scale, int64_t last = 1000) {
    update = [scale, last](Context &ctx, char *memory) {
      auto *state = tiny::at<StepState>(memory, tiny::kOffState);
      tiny::update(ctx, memory);
      if (state->draw > 10)
        state->scaler.update({}, scale, state->draw <= last);
    };
    program.update = [](Context &ctx, char *memory) { update(ctx, memory); };
  }
  static inline std::function<void(Context &, char *)> update;
};
TEST_F(StuckTest, SkippingAtTheLeastScaleEndsARun) {
  skip_at(1);
  ASSERT_EQ(
      run("a", {"--max-steps=200", "--save-steps=5", "--save-total-limit=1"}),
      kDiverged);
  EXPECT_EQ(losses("a").size(), 60u);
  EXPECT_NE(error.find("training diverged in step 11; "), std::string::npos)
      << error;
  EXPECT_NE(error.find("; from it on 50 steps in a row were skipped at the "
                       "least loss scale"),
            std::string::npos)
      << error;
  EXPECT_TRUE(std::filesystem::exists(folder / "a/checkpoint-10"));
  EXPECT_FALSE(std::filesystem::exists(folder / "a/checkpoint-15"));
  EXPECT_FALSE(std::filesystem::exists(folder / "a/model.safetensors"));
}
// One step that overflows may be due to its batch: it costs no checkpoint.
TEST_F(StuckTest, FewSkippedStepsCostNoCheckpoint) {
  skip_at(1, /*last=*/12);
  ASSERT_EQ(run("a", {"--max-steps=14", "--save-steps=1"}), 0) << error;
  for (int step : {11, 12, 13, 14})
    EXPECT_TRUE(std::filesystem::exists(folder / "a/checkpoint-" +
                                        std::to_string(step)))
        << step;
  EXPECT_EQ(error.find("no checkpoint of step"), std::string::npos) << error;
}
TEST_F(StuckTest, ACheckpointThatIsLeftOutIsTold) {
  skip_at(1, /*last=*/13);
  ASSERT_EQ(run("a", {"--max-steps=14", "--save-steps=1"}), 0) << error;
  EXPECT_TRUE(std::filesystem::exists(folder / "a/checkpoint-12"));
  EXPECT_FALSE(std::filesystem::exists(folder / "a/checkpoint-13"));
  EXPECT_TRUE(std::filesystem::exists(folder / "a/checkpoint-14"));
  EXPECT_NE(error.find("warning: no checkpoint of step 13 is written, because "
                       "its gradients are infinite or NaN and the loss scale "
                       "cannot fall: an earlier one stays the last until a "
                       "step is good again"),
            std::string::npos)
      << error;
}
TEST_F(StuckTest, ARowOfCheckpointsThatAreLeftOutIsToldOnce) {
  skip_at(1, /*last=*/30);
  ASSERT_EQ(run("a", {"--max-steps=20", "--save-steps=1"}), 0) << error;
  EXPECT_TRUE(std::filesystem::exists(folder / "a/checkpoint-12"));
  EXPECT_FALSE(std::filesystem::exists(folder / "a/checkpoint-20"));
  EXPECT_TRUE(std::filesystem::exists(folder / "a/model.safetensors"));
  const size_t told = error.find("no checkpoint of step 13 is written");
  ASSERT_NE(told, std::string::npos) << error;
  EXPECT_EQ(error.find("no checkpoint of step", told + 1), std::string::npos)
      << error;
}
// A validation is done with the weights alone. If its loss is finite, they are
// good, and the best ones are kept.
TEST_F(StuckTest, TheBestValidationHasItsCheckpoint) {
  skip_at(1, /*last=*/13);
  ASSERT_EQ(run("a", {"--max-steps=14", "--save-best", "--eval-steps=13",
                      "--eval-data", "x=" + folder / "x.npy", "--eval-labels",
                      folder / "labels.npy"}),
            0)
      << error;
  EXPECT_TRUE(std::filesystem::exists(folder / "a/checkpoint-13")) << error;
}
TEST_F(StuckTest, SkippingAtALargerScaleEndsNone) {
  skip_at(4);
  ASSERT_EQ(run("a", {"--max-steps=70", "--save-steps=5"}), 0) << error;
  EXPECT_TRUE(std::filesystem::exists(folder / "a/checkpoint-15"));
}

TEST_F(TrainerNotFiniteTest, GivesAdviceWhereTheDataIsGood) {
  ASSERT_EQ(run("a", {"--max-steps=9", "--learning-rate=1e38"}), kDiverged);
  EXPECT_NE(error.find("Try a lower --learning-rate"), std::string::npos)
      << error;
  EXPECT_NE(error.find("--debug-overflow"), std::string::npos) << error;
}

TEST_F(TrainerNotFiniteTest, AnInfiniteLossOfFiniteGradientsIsToldAtTheEnd) {
  program.update = [](Context &ctx, char *memory) {
    tiny::update(ctx, memory);
    tiny::at<StepState>(memory, tiny::kOffState)->loss_sum = INFINITY;
  };
  ASSERT_EQ(run("a", {"--max-steps=4"}), kDiverged);
  EXPECT_EQ(losses("a").size(), 4u);
  EXPECT_EQ(error.find("warning: step 1: the loss is inf"), 6u) << error;
  EXPECT_NE(error.find(", the gradients' norm "), std::string::npos) << error;
  EXPECT_EQ(error.find("step 2"), std::string::npos) << error;
  EXPECT_NE(error.find("error: the last step's loss is not finite; its weights "
                       "are, and are saved"),
            std::string::npos)
      << error;
  EXPECT_TRUE(std::isfinite(loss_of("a", 8)));
}

TEST_F(TrainerNotFiniteTest, NamesTheInputBeforeTheResultThatIsNotFinite) {
  static const char *const names[] = {"loss"};
  program.checked = names;
  program.update = [](Context &ctx, char *memory) {
    tiny::update(ctx, memory);
    check_finite(ctx, tiny::at<StepState>(memory, tiny::kOffState),
                 tiny::at<float>(memory, tiny::kOffLosses), tiny::kBatch, 0);
  };
  x[4 * 4] = NAN;
  write_file(folder / "x.npy", npy("<f4", "(64, 4)", bytes_of(x)));
  ASSERT_EQ(run("a", {"--max-steps=1", "--no-shuffle"}), kDiverged);
  const size_t input = error.find("the data of input 'x'"),
               result = error.find("'loss' is the first");
  EXPECT_LT(input, result) << error;
  EXPECT_NE(result, std::string::npos) << error;
}

// The data of inputs that are in memory.
TEST(InputsNotFinite, AreNamedWithTheirPlaces) {
  static const char *const checked[] = {"loss"};
  const InputInfo inputs[] = {{{"x", Type::F32, 2, {2, 2}, 0, 16}},
                              {{"scale", Type::F32, 0, {}, 16, 4}},
                              {{"bias", Type::F32, 1, {3}, 20, 12}},
                              {{"y", Type::F32, 1, {2}, 32, 8}}};
  Program program{};
  program.name = "tiny";
  program.batch_size = 2;
  program.inputs = inputs;
  program.checked = checked;
  Context ctx(1);
  auto told = [&](std::vector<int> bad) {
    float values[10] = {};
    for (int at : bad)
      values[at] = NAN;
    FiniteWatch watch(
        ctx, program, reinterpret_cast<char *>(values),
        [](int input, int64_t place) {
          return std::to_string(input) + ":" + std::to_string(place);
        },
        [](int64_t) {});
    StepState state{};
    state.first_not_finite = 0;
    testing::internal::CaptureStderr();
    watch.batch();
    watch.step(1, 1.0, state);
    return testing::internal::GetCapturedStderr();
  };
  const std::string result =
      "tiny: step 1: 'loss' is the first that is infinite or NaN\n";
  EXPECT_EQ(told({}), result);
  auto of = [&](const std::string &names) {
    return "tiny: step 1: the data of input " + names +
           " is infinite or NaN\n" + result;
  };
  EXPECT_EQ(told({3}), of("'x' (0:1)"));
  // One value for all samples has no place in the data.
  EXPECT_EQ(told({4}), of("'scale'"));
  EXPECT_EQ(told({7}), of("'bias'"));
  EXPECT_EQ(told({0, 4, 9}), of("'x' (0:0), 'scale', 'y' (3:1)"));
}

} // namespace
} // namespace gpuopt
