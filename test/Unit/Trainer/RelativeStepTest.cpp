// --adafactor-relative-step, by which adafactor chooses the learning rate
// itself, beside flags that would set it.

#include "TrainerFixture.h"

namespace gpuopt {
namespace {

struct RelativeStepTest : TrainerTest {
  RelativeStepTest() {
    program.optimizer = "adafactor";
    program.optimizer_states = {};
  }
};

// transformers.Adafactor raises an error for a rate beside a relative step.
TEST_F(RelativeStepTest, ARelativeStepLeavesNoRateToFlags) {
  const std::string why =
      " has no effect with --adafactor-relative-step, by which adafactor "
      "chooses the learning rate itself; leave it out, or give "
      "--no-adafactor-relative-step\n";
  for (const std::string flag :
       {"--learning-rate=0.1", "--lr-scheduler-type=cosine",
        "--lr-scheduler-type=reduce_lr_on_plateau", "--warmup-steps=3",
        "--warmup-ratio=0.1", "--lr-num-cycles=2"}) {
    EXPECT_EQ(run("a", {"--adafactor-relative-step", flag}), 1);
    EXPECT_EQ(error,
              "tiny: error: '" + flag.substr(0, flag.find('=')) + "'" + why);
  }
  // Flags that ask for nothing are no contradiction.
  EXPECT_EQ(run("a", {"--adafactor-relative-step", "--warmup-steps=0",
                      "--lr-scheduler-type=constant", "--max-steps=2"}),
            0)
      << error;
  EXPECT_EQ(numbers("a", "learning_rate"), (std::vector<double>{0.01, 0.01}));
}

// A run's flag takes the place of what its program was compiled with, but not
// of a group's own rate.
TEST_F(RelativeStepTest, ARelativeStepOfARunReplacesCompiledRates) {
  static const char *const plateau[] = {
      "--learning-rate=0.1", "--lr-scheduler-type=reduce_lr_on_plateau",
      "--warmup-steps=3"};
  program.defaults = plateau;
  EXPECT_EQ(run("a", {"--adafactor-relative-step", "--max-steps=1"}), 0)
      << error;
  EXPECT_EQ(numbers("a", "learning_rate"), std::vector<double>{0.01});
  static const char *const relative[] = {"--adafactor-relative-step",
                                         "--learning-rate=0.1"};
  program.defaults = relative;
  EXPECT_EQ(run("b", {"--learning-rate=0.5", "--max-steps=1"}), 1);
  EXPECT_EQ(error.rfind("tiny: error: '--learning-rate' has no effect with "
                        "--adafactor-relative-step",
                        0),
            0u)
      << error;
  EXPECT_EQ(run("b", {"--learning-rate=0.5", "--no-adafactor-relative-step",
                      "--lr-scheduler-type=constant", "--max-steps=1"}),
            0)
      << error;
  EXPECT_EQ(numbers("b", "learning_rate"), std::vector<double>{0.5});
  static const char *const group[] = {"--param-group=weight:lr=0.25"};
  program.defaults = group;
  EXPECT_EQ(run("c", {"--adafactor-relative-step", "--max-steps=1"}), 1);
  EXPECT_EQ(error.rfind("tiny: error: '--param-group' 'weight:lr=0.25' sets "
                        "'lr', which has no effect with "
                        "--adafactor-relative-step",
                        0),
            0u)
      << error;
}

} // namespace
} // namespace gpuopt
