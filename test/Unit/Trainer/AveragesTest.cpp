// --ema-decay: averages of the weights, in results and in checkpoints.

#include "TrainerFixture.h"

#include <csignal>

namespace gpuopt {
namespace {

struct AveragesTest : TrainerTest {
  std::vector<float> weights_in(const std::string &name) {
    const MappedFile file(folder / name);
    std::vector<float> weights(12);
    memcpy(weights.data(), read_safetensors(file).at("weight").data, 48);
    return weights;
  }
  // Returns the averages of the weights of a run's checkpoints, but for those
  // of one step.
  std::vector<float> averages_of(const std::string &out, int steps, float decay,
                                 int skipped = 0) {
    std::vector<float> averages(12, 0);
    for (int step = 1; step <= steps; step++) {
      const auto weights = weights_in(
          out + "/checkpoint-" + std::to_string(step) + "/model.safetensors");
      for (size_t i = 0; i < 12 && step != skipped; i++)
        averages[i] += (weights[i] - averages[i]) * (1 - decay);
    }
    return averages;
  }
  void expect_near(const std::vector<float> &some,
                   const std::vector<float> &others) {
    for (size_t i = 0; i < 12; i++)
      EXPECT_NEAR(some[i], others[i], 1e-6 * std::abs(others[i])) << i;
  }
};

TEST_F(AveragesTest, AreThoseOfTheSteps) {
  ASSERT_EQ(run("a", {"--max-steps=9", "--save-steps=1", "--ema-decay=0.75"}),
            0)
      << error;
  const auto averages = weights_in("a/ema.safetensors");
  expect_near(averages, averages_of("a", 9, 0.75f));
  EXPECT_NE(averages, weights_in("a/model.safetensors"));
  EXPECT_EQ(averages, weights_in("a/checkpoint-9/ema.safetensors"));
  const MappedFile file(folder / "a/ema.safetensors");
  EXPECT_TRUE(read_safetensors(file).count("tied.weight"));
  check_whole(folder / "a/checkpoint-9");
  // They change no weight.
  ASSERT_EQ(run("b", {"--max-steps=9"}), 0) << error;
  EXPECT_EQ(weights_in("a/model.safetensors"),
            weights_in("b/model.safetensors"));
  EXPECT_FALSE(std::filesystem::exists(folder / "b/ema.safetensors"));
}

TEST_F(AveragesTest, AResumedRunGoesOnWithThem) {
  const std::vector<std::string> flags = {"--max-steps=20", "--ema-decay=0.9",
                                          "--resume=auto"};
  ASSERT_EQ(run("whole", flags), 0) << error;
  program.update = [](Context &ctx, char *memory) {
    tiny::update(ctx, memory);
    if (tiny::at<StepState>(memory, tiny::kOffState)->step == 7)
      raise(SIGINT);
  };
  ASSERT_EQ(run("parts", flags), 0) << error;
  detail::interrupted = 0;
  ASSERT_EQ(run("parts", flags), 0) << error;
  EXPECT_NE(output.find("after step 7 of 20"), std::string::npos) << output;
  EXPECT_EQ(read_file(folder / "parts/ema.safetensors"),
            read_file(folder / "whole/ema.safetensors"));
}

TEST_F(AveragesTest, ACheckpointWithoutThemBeginsThem) {
  ASSERT_EQ(run("a", {"--max-steps=3", "--save-steps=3"}), 0) << error;
  ASSERT_EQ(run("a", {"--max-steps=3", "--ema-decay=0.9", "--resume=auto"}), 0)
      << error;
  EXPECT_NE(error.find("warning: '" + folder / "a/checkpoint-3" +
                       "' has no averages; those of --ema-decay begin with its "
                       "weights\n"),
            std::string::npos)
      << error;
  EXPECT_EQ(weights_in("a/ema.safetensors"), weights_in("a/model.safetensors"));
}

// Those of the run before would be of fewer steps than the weights.
TEST_F(AveragesTest, ARunWithoutThemLeavesNone) {
  ASSERT_EQ(run("a", {"--max-steps=2", "--save-steps=2", "--ema-decay=0.9"}), 0)
      << error;
  ASSERT_EQ(run("a", {"--max-steps=4", "--resume=auto"}), 0) << error;
  EXPECT_FALSE(std::filesystem::exists(folder / "a/ema.safetensors"));
  EXPECT_TRUE(
      std::filesystem::exists(folder / "a/checkpoint-2/ema.safetensors"));
}

TEST_F(AveragesTest, ASkippedStepChangesNone) {
  program.update = [](Context &ctx, char *memory) {
    tiny::update(ctx, memory);
    auto *state = tiny::at<StepState>(memory, tiny::kOffState);
    state->scaler.scale = 2;
    state->scaler.found_inf = state->draw == 2;
  };
  ASSERT_EQ(run("a", {"--max-steps=3", "--save-steps=1", "--ema-decay=0.5"}), 0)
      << error;
  expect_near(weights_in("a/ema.safetensors"),
              averages_of("a", 3, 0.5f, /*skipped=*/2));
}

TEST_F(AveragesTest, OfOtherTypesAreRefused) {
  std::vector<StateInfo> states(program.states.begin(), program.states.end());
  program.states.data = states.data();
  states[2].tensor.type = Type::BF16;
  EXPECT_EQ(run("a", {"--ema-decay=0.5"}), 1);
  EXPECT_EQ(error, "tiny: error: '--ema-decay' needs parameters of f32 or f64, "
                   "but 'weight' is of bf16\n");
}

} // namespace
} // namespace gpuopt
