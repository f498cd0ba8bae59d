// How much the end of a run says about its speed.

#include "TrainerFixture.h"

namespace gpuopt {
namespace {

struct RunSummaryTest : testing::Test {
  // Returns what a run prints whose three steps took so many seconds, half of
  // which it waited for data.
  std::string said_after(double seconds, const KeyAverages &profile = {}) {
    Settings settings;
    settings.output_dir = folder / "out";
    std::filesystem::create_directories(settings.output_dir);
    Context ctx(1);
    const Program program = tiny::program();
    RunSummary summary(ctx, program, settings);
    Metrics metrics(settings.output_dir, /*has_muon=*/false);
    for (int step = 1; step <= 3; step++)
      summary.step(1000 * seconds / 3, 500 * seconds / 3, /*num_workers=*/2);
    testing::internal::CaptureStdout();
    summary.end(metrics, /*step=*/3, profile, WaitPolicy::Auto,
                /*is_interrupted=*/false);
    return testing::internal::GetCapturedStdout();
  }
  const TemporaryFolder folder;
};

TEST_F(RunSummaryTest, ExplainsTheVerdictOfLongRunsAlone) {
  const std::string brief = "\nverdict: data-bound (measured by the waits for "
                            "data); gpuopt advise '" +
                            folder / "out" +
                            "' says why, and what would help\n",
                    full = "\nverdict: data-bound (measured by the waits for "
                           "data): data wait is 50 % of a step";
  const std::string shorter = said_after(29), longer = said_after(31);
  EXPECT_NE(shorter.find(brief), std::string::npos) << shorter;
  EXPECT_NE(longer.find(full), std::string::npos) << longer;
  EXPECT_EQ(longer.find("gpuopt advise"), std::string::npos) << longer;
}

TEST_F(RunSummaryTest, ExplainsTheVerdictOfAProfile) {
  KeyAverages profile;
  profile.steps = 1;
  profile.target = kTargetName;
  profile.step_ns = 5e9;
  KeyAverage row;
  row.calls = 1;
  row.nanoseconds = 5e9;
  profile.rows.push_back(row);
  const std::string said = said_after(15, profile);
  EXPECT_NE(said.find("\nverdict: data-bound (measured by the waits for data): "
                      "data wait is 50 % of a step"),
            std::string::npos)
      << said;
}

} // namespace
} // namespace gpuopt
