// --profile-costs-to: the file has the time of each op of the steps that are
// timed.

#include "TrainerFixture.h"

namespace gpuopt {
namespace {

struct ProfileCostsTest : TrainerTest {};

// Each op is there once for each execution.
TEST_F(ProfileCostsTest, AreThoseOfEachOp) {
  program.accumulation_steps = 2;
  program.allows_tf32 = true;
  const std::string file = folder / "costs.json";
  ASSERT_EQ(run("out", {"--max-steps", "6", "--profile-costs-to", file,
                        "--profile-warmup", "2", "--profile-active", "3"}),
            0)
      << error;
  EXPECT_NE(output.find("costs of each op: " + file), std::string::npos);
  const std::string costs = read_file(file);
  for (const char *text :
       {"\"model\": \"tiny\"", "\"target\": \"host\"", "\"allows_tf32\": true",
        "\"batch_size\": 8", "\"steps\": 3",
        "{\"key\": \"fc: forward\", \"origin\": \"fc\", "
        "\"calls_per_step\": 2, \"median_ns\": ",
        "{\"key\": \"d \\\"fc\\\": gemm\", \"origin\": \"d \\\"fc\\\"\", "
        "\"calls_per_step\": 2, ",
        "{\"key\": \"norm: grad_norm\", \"origin\": \"norm\", "
        "\"calls_per_step\": 1, ",
        "{\"key\": \"begin_step\", \"origin\": \"\", \"calls_per_step\": 2, "})
    EXPECT_NE(costs.find(text), std::string::npos) << text << "\n" << costs;
  EXPECT_EQ(costs.find("\"median_ns\": 0.0"), std::string::npos) << costs;
  // Timing changes no number.
  const std::vector<double> timed = losses("out");
  ASSERT_EQ(run("plain", {"--max-steps", "6"}), 0) << error;
  EXPECT_EQ(losses("plain"), timed);
}

TEST_F(ProfileCostsTest, OpsThatShareACallShareItsTime) {
  static const CallInfo calls[] = {
      {"norm", "grad_norm", 3},
      {"weight", "adamw", 1, 300},
      {"bias", "adamw", 0, 100},
      {"", "end_step", 1},
  };
  program.update_calls = calls;
  const std::string file = folder / "costs.json";
  ASSERT_EQ(run("out", {"--max-steps", "20", "--profile-costs-to", file}), 0)
      << error;
  const std::string costs = read_file(file);
  auto median = [&](const std::string &key) {
    const std::string name = "\"median_ns\": ";
    const size_t at = costs.find("{\"key\": \"" + key + "\"");
    return at == std::string::npos
               ? -1
               : std::stod(costs.substr(costs.find(name, at) + name.size()));
  };
  EXPECT_GT(median("bias: adamw"), 0) << costs;
  // Both are rounded to a tenth.
  EXPECT_NEAR(median("weight: adamw"), 3 * median("bias: adamw"), 0.3) << costs;
}

TEST_F(ProfileCostsTest, TheIterationsOfALoopAreTimed) {
  // Two iterations of two calls, and one call after them.
  static const CallInfo calls[] = {
      {"first", "gemm", 1, 0, 2, 2},
      {"second", "gelu", 1},
      {"", "end_step", 1},
  };
  program.update_calls = calls;
  const std::string file = folder / "costs.json";
  ASSERT_EQ(run("out", {"--max-steps", "20", "--profile-costs-to", file}), 0)
      << error;
  const std::string costs = read_file(file);
  for (const char *key : {"first: gemm", "second: gelu", "end_step"})
    EXPECT_NE(costs.find("{\"key\": \"" + std::string(key)), std::string::npos)
        << costs;
}

TEST_F(ProfileCostsTest, AFullDiskLeavesTheOldOnes) {
  if (!std::filesystem::exists("/dev/full"))
    GTEST_SKIP() << "no /dev/full";
  write_file(folder / "costs.json", "old");
  std::filesystem::create_symlink("/dev/full", folder / "costs.json.part");
  EXPECT_EQ(run("out", {"--max-steps", "20", "--profile-costs-to",
                        folder / "costs.json"}),
            0)
      << error;
  EXPECT_NE(error.find("costs.json': No space left"), std::string::npos)
      << error;
  EXPECT_EQ(output.find("costs of each op: "), std::string::npos) << output;
  EXPECT_EQ(read_file(folder / "costs.json"), "old");
}

TEST_F(ProfileCostsTest, SaysWhatIsWrong) {
  EXPECT_EQ(run("out", {"--max-steps", "5", "--profile-costs-to",
                        folder / "costs.json"}),
            1);
  EXPECT_NE(error.find("'--profile-costs-to' needs 13 steps, 3 of them to warm "
                       "up, but the run has 5; see --max-steps, "
                       "--profile-warmup and --profile-active"),
            std::string::npos)
      << error;
  EXPECT_EQ(run("out", {"--max-steps", "20", "--profile-costs-to",
                        folder / "none/costs.json"}),
            1);
  EXPECT_NE(error.find("'--profile-costs-to': cannot write '" +
                       (folder / "none/costs.json") +
                       "': there is no folder '" + (folder / "none") + "'"),
            std::string::npos)
      << error;
  EXPECT_EQ(
      run("out", {"--max-steps", "20", "--profile-costs-to", folder.path}), 1);
  EXPECT_NE(error.find("a folder is there, but a file is needed"),
            std::string::npos)
      << error;
  EXPECT_EQ(
      run("out", {"--max-steps", "20", "--profile-costs-to", "/dev/null"}), 1);
  EXPECT_NE(error.find("what is there is no regular file"), std::string::npos)
      << error;
  EXPECT_EQ(run("out", {"--profile-active", "2"}), 1);
  EXPECT_NE(
      error.find("'--profile-active' has no effect without --profile-costs-to"),
      std::string::npos)
      << error;
  // A table that is not that of the calls.
  static const CallInfo one[] = {{"fc", "forward", 1}};
  program.micro_step_calls = one;
  EXPECT_EQ(run("out", {"--max-steps", "20", "--profile-costs-to",
                        folder / "costs.json"}),
            1);
  EXPECT_NE(error.find("the calls of 'tiny' are not those of its calls.h"),
            std::string::npos)
      << error;
}

} // namespace
} // namespace gpuopt
