// --profile: which steps are profiled, and what the table and the trace have.

#include "TrainerFixture.h"

namespace gpuopt {
namespace {

// Work of 3, 1 and 0 known kinds beside the rows of TinyProgram.h.
const CallWork kMicroStepWork[] = {
    {"begin_step", "forward", 10, 0, 0, 0},
    {"forward_kernel", "forward", 12, 2000, 4000, 1},
    {"gemm kGemm", "backward", 14, 1000, 8000, 2},
};
const CallWork kUpdateWork[] = {
    {"grad_norm", "optimizer", 20, 100, 100, 1},
    {"adamw", "optimizer", 22, 400, 100, 1},
    {"end_step", "optimizer", 25, 0, 0, 0},
};

size_t count_of(const std::string &text, const std::string &part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos;
       at = text.find(part, at + 1))
    count++;
  return count;
}

struct ProfileTest : TrainerTest {
  ProfileTest() {
    program.micro_step_work = kMicroStepWork;
    program.update_work = kUpdateWork;
    program.limits_device = "a <device>";
  }
  std::string profile_file(const std::string &out, const char *name) {
    return read_file(folder / (out + "/profile/" + name));
  }
};

TEST(ProfileSchedule, CyclesAsInTorch) {
  ProfileSchedule schedule;
  EXPECT_EQ(
      parse_profile_schedule("wait=1,warmup=1,active=2,repeat=2", schedule),
      "");
  std::string steps; // w: warms up, A: active, e: that ends a cycle
  for (int step = 1; step <= 10; step++)
    steps += schedule.ends_cycle(step)  ? 'e'
             : schedule.is_active(step) ? 'A'
             : schedule.covers(step)    ? 'w'
                                        : '.';
  EXPECT_EQ(steps, ".wAe.wAe..");
  schedule = {};
  EXPECT_EQ(parse_profile_schedule("active=1,repeat=0,warmup=0", schedule), "");
  for (int step = 1; step <= 100; step++)
    EXPECT_TRUE(schedule.ends_cycle(step));
}

TEST(ProfileSchedule, SaysWhatIsWrong) {
  ProfileSchedule schedule;
  for (const auto &[text, why] : std::map<std::string, std::string>{
           {"active=0", "'active' to be a whole number of at least 1 and"},
           {"wait=-1", "'wait' to be a whole number of at least 0"},
           {"wait=", "but got 'wait='"},
           {"wait", "but got 'wait'"},
           {"active=3,", "but got ''"},
           {"", "but got ''"},
           {"active=2x", "but got 'active=2x'"},
           {"waits=1", "expects wait, warmup, active or repeat with a number"}})
    EXPECT_NE(parse_profile_schedule(text, schedule).find(why),
              std::string::npos)
        << text << ": " << parse_profile_schedule(text, schedule);
}

TEST_F(ProfileTest, WritesATableAndATrace) {
  ASSERT_EQ(run("out", {"--max-steps=8", "--save-steps=4", "--profile",
                        "wait=1,warmup=1,active=2,repeat=2"}),
            0)
      << error;
  // Steps 3, 4, 7 and 8, each with two forwards and a backward.
  const std::string trace = profile_file("out", "trace.json");
  for (const char *step : {"3", "4", "7", "8"})
    EXPECT_EQ(count_of(trace, "\"ProfilerStep#" + std::string(step) + "\""),
              1u);
  EXPECT_EQ(count_of(trace, "\"ProfilerStep#"), 4u);
  EXPECT_EQ(count_of(trace, "\"cat\": \"cpu_op\", \"name\": \"gemm kGemm\""),
            4u);
  EXPECT_EQ(count_of(trace, "\"name\": \"grad_norm\""), 12u);
  for (const char *part :
       {"\"nodes\": \"d \\\"fc\\\"\", \"work\": \"gemm\", \"section\": "
        "\"backward\", \"step.cu\": 14, \"bytes\": 1000, \"flops\": 8000, "
        "\"percent of limit\": ",
        "\"prepare batch\"", "\"wait for batch\"", "\"begin checkpoint\"",
        "\"write checkpoint\"", "{\"name\": \"loader\"}",
        "{\"name\": \"checkpoint writer\"}", "\"data wait (ms)\"",
        "\"memory (MiB)\""})
    EXPECT_NE(trace.find(part), std::string::npos) << part << "\n" << trace;
  // Nothing of the steps between.
  EXPECT_LT(count_of(trace, "\"wait for batch\""), 6u);

  const std::string json = profile_file("out", "profile.json");
  for (const char *part :
       {"\"format\": \"gpuopt profile\",\n \"version\": 1,", "\"steps\": 4,",
        "\"limits_device\": \"a <device>\"",
        "{\"name\": \"gemm kGemm\", \"section\": \"backward\", \"calls\": 4, ",
        "\"bytes\": 4000, \"flops\": 32000, \"limit_ns\": 8, \"line\": 14, "
        "\"lines\": 1, \"nodes\": \"d \\\"fc\\\"\"}",
        "{\"name\": \"grad_norm\", \"section\": \"optimizer\", \"calls\": 12"})
    EXPECT_NE(json.find(part), std::string::npos) << part << "\n" << json;
  // The table is printed, too.
  const std::string table = profile_file("out", "table.txt");
  EXPECT_NE(output.find(table), std::string::npos) << output << table;
  EXPECT_NE(table.find(" in 4 steps, "), std::string::npos) << table;
  EXPECT_NE(output.find("profile: " + folder / "out/profile/trace.json"),
            std::string::npos)
      << output;
}

// Timing changes no number; a run without a profile leaves none.
TEST_F(ProfileTest, ChangesNothing) {
  overwrites = true;
  ASSERT_EQ(run("out", {"--max-steps=8", "--profile", "active=3"}), 0) << error;
  const std::vector<double> timed = losses("out");
  EXPECT_TRUE(std::filesystem::exists(folder / "out/profile"));
  ASSERT_EQ(run("out", {"--max-steps=8"}), 0) << error;
  EXPECT_EQ(losses("out"), timed);
  EXPECT_FALSE(std::filesystem::exists(folder / "out/profile"));
}

// The end of a run tells of its memory and of its speed.
TEST_F(ProfileTest, TellsMemoryAndVerdict) {
  ASSERT_EQ(run("out", {"--max-steps=8"}), 0) << error;
  EXPECT_EQ(numbers("out", "planned_bytes"),
            std::vector<double>{double(tiny::kTotal)});
  EXPECT_EQ(numbers("out", "persistent_bytes").at(0) +
                numbers("out", "arena_bytes").at(0),
            double(tiny::kTotal));
  const double peak = numbers("out", "peak_bytes").at(0);
  EXPECT_GT(peak, 1 << 20); // the process is larger than the tiny program
  EXPECT_EQ(numbers("out", "beside_plan_bytes").at(0),
            peak - double(tiny::kTotal));
  EXPECT_NE(output.find("memory: 4352 B planned, "), std::string::npos)
      << output;
  // The steps took no 30 seconds, and nobody asked for a profile.
  EXPECT_NE(output.find("\nverdict: "), std::string::npos) << output;
  EXPECT_NE(output.find("; gpuopt advise '" + folder / "out" +
                        "' says why, and what would help\n"),
            std::string::npos)
      << output;
  EXPECT_NE(read_file(folder / "out/run.json").find("\"num_workers\": 2"),
            std::string::npos);
}

// Each phase that the run had is told with its peak and with what the plan has
// alive in it.
TEST_F(ProfileTest, TellsMemoryByPhase) {
  program.alive = {100, 300, 200, 0};
  // A profile of the first step watches the same calls.
  for (const char *profile : {"", "wait=0,warmup=0,active=1"}) {
    std::vector<std::string> flags{"--max-steps=4", "--save-steps=2"};
    if (*profile)
      flags.push_back(std::string("--profile=") + profile);
    const std::string out = *profile ? "profiled" : "out";
    ASSERT_EQ(run(out, flags), 0) << error;
    auto number = [&](const std::string &name) {
      const std::vector<double> found = numbers(out, name);
      return found.empty() ? 0 : found.at(0);
    };
    const double kept = number("persistent_bytes"), peak = number("peak_bytes");
    for (const auto &[phase, alive] :
         std::map<std::string, double>{{"load", 0},
                                       {"forward", 100},
                                       {"backward", 300},
                                       {"update", 200},
                                       {"checkpoint", 0}}) {
      EXPECT_EQ(number(phase + "_planned_bytes"), kept + alive) << phase;
      EXPECT_GT(number(phase + "_peak_bytes"), 1 << 20) << phase;
      EXPECT_LE(number(phase + "_peak_bytes"), peak) << phase;
    }
    EXPECT_EQ(number("validation_peak_bytes"), 0); // there was none
    // One line of the run tells the most, and the metrics the rest.
    const size_t line = output.find("\nmemory: ") + 1;
    const std::string told =
        output.substr(line, output.find('\n', line) - line);
    EXPECT_EQ(told, "memory: " + human_bytes(number("planned_bytes")) +
                        " planned, " + human_bytes(peak) +
                        " in use at the peak (" +
                        human_bytes(number("beside_plan_bytes")) +
                        " beside the plan)");
    EXPECT_LE(told.size(), 100u);
    EXPECT_EQ(output.find("memory by phase"), std::string::npos) << output;
  }
}

// Only a program for CUDA has them.
TEST_F(ProfileTest, RefusesNamedRangesOnTheHost) {
  EXPECT_EQ(run("out", {"--nvtx"}), 1);
  EXPECT_NE(error.find("'--nvtx' needs a program for CUDA that was built where "
                       "the CUDA toolkit has the header nvtx3/nvToolsExt.h"),
            std::string::npos)
      << error;
  EXPECT_EQ(run("out", {"--max-steps=1", "--nvtx", "--no-nvtx"}), 0) << error;
}

// The peak of a phase is not that of the one before.
TEST(MemoryWatch, ForgetsThePeakOfOtherPhases) {
  Context ctx;
  MemoryWatch watch(ctx);
  constexpr size_t kMuch = size_t(256) << 20;
  watch.begin(MemoryPhase::Validation);
  { // touched, and given back at once
    const std::vector<char> large(kMuch, 1);
    EXPECT_EQ(large.back(), 1);
  }
  watch.begin(MemoryPhase::Checkpoint);
  watch.end();
  const MemoryFigures figures = watch.figures(Program());
  auto peak = [&](MemoryPhase phase) {
    return figures.phases[size_t(phase)].peak;
  };
  EXPECT_GE(figures.peak, kMuch);
  EXPECT_GE(peak(MemoryPhase::Validation), kMuch);
  if (std::ofstream("/proc/self/clear_refs")) { // else the peak stays
    EXPECT_LT(peak(MemoryPhase::Checkpoint),
              peak(MemoryPhase::Validation) - kMuch / 2);
  }
  EXPECT_EQ(peak(MemoryPhase::Forward), 0u);
}

TEST_F(ProfileTest, KeepsWhatElseTheCoresDid) {
  ASSERT_EQ(run("out", {"--max-steps=2"}), 0);
  const std::string text = read_file(folder / "out/run.json");
  for (const char *name : {"cores", "other_cores", "preemptions"})
    EXPECT_NE(text.find("\"" + std::string(name) + "\": "), std::string::npos)
        << text;
}

TEST_F(ProfileTest, KeepsHowThreadsWaited) {
  ASSERT_EQ(run("out", {"--max-steps=2", "--wait-policy=active"}), 0);
  EXPECT_NE(
      read_file(folder / "out/run.json").find("\"wait_policy\": \"active\""),
      std::string::npos);
}

TEST_F(ProfileTest, MeasuresCostsBeside) {
  ASSERT_EQ(run("out", {"--max-steps=8", "--profile", "active=1",
                        "--profile-costs-to", folder / "costs.json",
                        "--profile-warmup=2", "--profile-active=3"}),
            0)
      << error;
  EXPECT_NE(read_file(folder / "costs.json").find("\"steps\": 3"),
            std::string::npos);
  EXPECT_NE(profile_file("out", "profile.json").find("\"steps\": 1,"),
            std::string::npos);
}

// As a full disk does, a file in place of the folder fails each write.
TEST_F(ProfileTest, WhatCannotBeWrittenEndsNothing) {
  const std::vector<std::string> flags = {
      "--max-steps=8",      "--overwrite-output-dir",
      "--profile",          "warmup=0,active=1,repeat=0",
      "--profile-costs-to", folder / "costs.json",
      "--profile-warmup=2", "--profile-active=3"};
  ASSERT_EQ(run("whole", flags), 0) << error;
  static std::string out;
  out = folder / "out";
  program.update = [](Context &ctx, char *memory) {
    tiny::update(ctx, memory);
    if (tiny::at<StepState>(memory, tiny::kOffState)->step == 1)
      write_file(out + "/profile", "");
  };
  std::filesystem::remove(folder / "costs.json");
  std::filesystem::create_directory(folder / "costs.json.part");
  ASSERT_EQ(run("out", flags), 0) << error;
  const std::string profile = folder / "out/profile/trace.json.part",
                    costs = folder / "costs.json.part";
  EXPECT_EQ(count_of(error, "warning"), 2u) << error;
  EXPECT_NE(error.find("tiny: warning: the profile is not written, and "
                       "the run goes on without it: cannot write '" +
                       profile + "': Not a directory\n"),
            std::string::npos)
      << error;
  EXPECT_NE(error.find("tiny: warning: the costs of each op are not written, "
                       "and training goes on: cannot write '" +
                       costs + "': Is a directory\n"),
            std::string::npos)
      << error;
  EXPECT_EQ(losses("out"), losses("whole"));
  EXPECT_TRUE(std::filesystem::exists(folder / "out/model.safetensors"));
  // The table needs no file.
  EXPECT_NE(output.find(" time total: "), std::string::npos) << output;
  EXPECT_EQ(output.find("profile: "), std::string::npos) << output;
  EXPECT_EQ(output.find("costs of each op: "), std::string::npos) << output;
}

// What there is when the run ends is written, though no cycle has ended.
TEST_F(ProfileTest, ADivergedRunHasAProfile) {
  ASSERT_EQ(run("out", {"--max-steps=30", "--learning-rate=1e38", "--profile",
                        "warmup=0,active=30"}),
            kDiverged);
  EXPECT_NE(profile_file("out", "trace.json").find("\"ProfilerStep#1\""),
            std::string::npos);
}

TEST_F(ProfileTest, SaysWhatIsWrong) {
  EXPECT_EQ(run("out", {"--profile", "active=x"}), 1);
  EXPECT_NE(error.find("'--profile' expects 'active' to be a whole number"),
            std::string::npos)
      << error;
  EXPECT_EQ(
      run("out", {"--max-steps=4", "--profile", "wait=1,warmup=1,active=3"}),
      1);
  EXPECT_NE(error.find("'--profile' needs 5 steps, 2 of them to warm up, but "
                       "the run has 4; see --max-steps"),
            std::string::npos)
      << error;
}

TEST(ProfileTable, NamesManyNodesInShort) {
  EXPECT_EQ(detail::summary_of({}), "");
  EXPECT_EQ(detail::summary_of({"h.0.fc"}), "h.0.fc");
  EXPECT_EQ(detail::summary_of({"h.0.fc", "h.11.fc"}), "h.*.fc");
  EXPECT_EQ(detail::summary_of({"h.0.fc", "h.11.fc", "head_2"}),
            "h.*.fc and 1 more");
}

TEST(ProfileTable, ExplainsRowsAboveTheLimit) {
  KeyAverages profile;
  profile.target = "host";
  profile.limits_device = "old";
  profile.steps = 1;
  profile.rows = {{"gemm", "", "forward", 1, 40e6, 1e6, 1e9, 40e6, 1, 1},
                  {"copy", "", "forward", 1, 20e6, 8e6, 0, 25e6, 1, 1}};
  const std::string above = "above 100%, data comes from caches, or these rates"
                            " are lower than this machine's, which 'gpuopt "
                            "calibrate' measures\n",
                    limits = "% of limit: by the rates of 'old'";
  EXPECT_NE(table_of(profile).find("125.00%"), std::string::npos);
  EXPECT_NE(table_of(profile).find(limits + "; " + above), std::string::npos)
      << table_of(profile);
  // The row is not shown, or is not above it.
  EXPECT_NE(table_of(profile, /*most=*/1).find(limits + "\n"),
            std::string::npos);
  profile.rows[1].limit_ns = 20e6;
  EXPECT_NE(table_of(profile).find(limits + "\n"), std::string::npos);
}

} // namespace
} // namespace gpuopt
