// What the end of a run says of its limit, and when it asks for advice.

#include "TrainerFixture.h"

namespace gpuopt {
namespace {

// A run of minutes asks for advice, for a part of its time.
TEST(Advice, TakesAFiftiethOfTheTime) {
  EXPECT_EQ(advice_seconds(99e3), 0);
  EXPECT_EQ(advice_seconds(100e3), 2);
  EXPECT_EQ(advice_seconds(500e3), 10);
  EXPECT_EQ(advice_seconds(1e7), 20);
}

TEST(Advice, ComesFromTheProgramThatStartedTheTrainer) {
  TemporaryFolder folder;
  const std::string advisor = folder / "advisor", said = folder / "said";
  write_file(advisor, "#!/bin/sh\necho \"$@\" > " + said + "\nexit 7\n");
  std::filesystem::permissions(advisor, std::filesystem::perms::owner_all);
  // The trainer ends as it would, although the advice fails.
  print_advice(advisor.c_str(), "a run", 9);
  EXPECT_EQ(read_file(said), "advise --plans-only --time-limit=9 a run\n");
  std::filesystem::remove(said);
  print_advice((folder / "none").c_str(), "a run", 9);
  print_advice(nullptr, "a run", 9);
  print_advice(advisor.c_str(), "a run", 0);
  EXPECT_FALSE(std::filesystem::exists(said));
}

struct VerdictTest : testing::Test {
  VerdictTest() {
    run.target = "cuda";
    run.num_workers = 2;
    run.batch_size = 8;
    run.launches = 1000;
    run.limit_ms = 80;
    run.memory_ms = 50;
    run.optimizer_ms = 10;
    measured = {10, 100, 0, 0, 0, 0, 0, 0};
  }
  std::string text() const { return describe(judge(run, measured)); }
  RunTraits run;
  RunFigures measured;
};

TEST_F(VerdictTest, TellsDataFirst) {
  measured.data_wait_ms = 18;
  EXPECT_EQ(text(),
            "verdict: data-bound (measured by the waits for data): data wait "
            "is 18 % of a step, 18.0 ms "
            "of 100.0 ms; --num-workers 4: more threads prepare batches "
            "ahead (now 2); by estimate up to 18 % less time for as "
            "many samples");
  // No plan tells that.
  EXPECT_EQ(describe(judge(run, measured), /*plans_follow=*/true), text());
  run.num_workers = 0;
  EXPECT_NE(text().find("--num-workers 2:"), std::string::npos) << text();
  run.finds_workers = true;
  run.num_workers = 3;
  EXPECT_EQ(text().find("more threads"), std::string::npos) << text();
  EXPECT_NE(text().find("auto has found that more than 3 gain nothing"),
            std::string::npos)
      << text();
  measured.data_wait_ms = 9;
  EXPECT_EQ(text().find("data-bound"), std::string::npos) << text();
}

TEST_F(VerdictTest, JudgesByEstimates) {
  EXPECT_EQ(text(), "verdict: memory-bound (estimated from the rates of the "
                    "device): calls that the memory's bandwidth "
                    "limits are 62 % of a step of 100.0 ms; "
                    "--precision bf16: up to half the bytes; by estimate up "
                    "to 31 % less time for as many samples");
  // A plan with half precision would tell more exactly what it saves.
  const std::string before_plans =
      describe(judge(run, measured), /*plans_follow=*/true);
  EXPECT_EQ(before_plans.find("less time"), std::string::npos) << before_plans;
  run.is_half = true;
  EXPECT_NE(text().find("none: a step moves its bytes"), std::string::npos);
  run.memory_ms = 20;
  EXPECT_NE(text().find("compute-bound (estimated from the rates of the "
                        "device): calls that arithmetic limits are 75 %"),
            std::string::npos)
      << text();
  run.optimizer_ms = 24;
  EXPECT_NE(text().find("optimizer-bound (estimated from the rates of the "
                        "device): updates are 30 %"),
            std::string::npos)
      << text();
  EXPECT_NE(text().find("by estimate up to 22 % less time"), std::string::npos)
      << text();
  run.optimizer_ms = 0;
  run.launches = 20000;
  EXPECT_EQ(text(), "verdict: launch-bound (estimated from the rates of the "
                    "device): 20000 launches in a step of 100.0 "
                    "ms; --batch-size 32: more work in each launch");
  // Launches of 25 us are longer than they need be, if the device could take 5;
  // what shares its estimates have does not matter then.
  run.launches = 4000;
  run.limit_ms = 20;
  run.optimizer_ms = 10;
  EXPECT_NE(text().find("launch-bound (estimated from the rates of the "
                        "device): 4000 launches"),
            std::string::npos)
      << text();
  run.limit_ms = 30;
  EXPECT_NE(text().find("optimizer-bound"), std::string::npos) << text();
  run.limit_ms = 0; // of a program without estimates
  EXPECT_EQ(text(), "");
  measured.steps = 0;
  EXPECT_EQ(text(), "");
}

// An estimate that explains a twentieth of a step names no limit, and promises
// nothing.
TEST_F(VerdictTest, NamesNoLimitThatIsFarFromTheStep) {
  run.target = "host";
  run.limit_ms = 0.17;
  run.memory_ms = 0.14;
  run.optimizer_ms = 0.06;
  run.launches = 20;
  measured.step_ms = 3.7;
  const std::string begin =
      "verdict: no limit of the device is reached (estimated from the rates of "
      "the device): by the rates of the device "
      "a step takes at least 0.17 ms, which is 5 % of the 3.7 ms that it "
      "took; the rest likely goes to ";
  EXPECT_EQ(
      text(),
      begin +
          "beginning 20 calls, whose mean time is 0.18 ms; --batch-size: "
          "more work in each launch; gpuopt profile tells which calls are "
          "long, and gpuopt calibrate whether this device reaches its rates");
  run.cores = 2;
  run.other_cores = 1.24;
  run.preemptions = 37.4;
  measured.data_wait_ms = 0.1;
  EXPECT_EQ(
      text(),
      begin + "other processes, which computed on 1.2 of 2 cores (37 "
              "involuntary context switches a step), waiting for data (3 "
              "% of a step), and beginning 20 calls, whose mean time is 0.18 ms"
              "; end the other processes, or --num-threads: "
              "fewer; gpuopt profile tells which calls are long, and "
              "gpuopt calibrate whether this device reaches its rates");
  run.other_cores = 0.2;
  run.launches = 0;
  EXPECT_NE(text().find("likely goes to waiting for data (3 % of a step); "
                        "--batch-size"),
            std::string::npos)
      << text();
  EXPECT_FALSE(judge(run, measured).can_be_planned());
  // A profile does not make the limits explain more, but is told.
  run.launches = 20;
  measured.calls_ms = 3.5;
  measured.memory_ms = 3;
  EXPECT_EQ(text().rfind("verdict: no limit of the device is reached (measured "
                         "by the profile): calls take 3.5 ms of a step of 3.7 "
                         "ms, but by the rates of the device a step takes at "
                         "least 0.17 ms; the rest likely goes to waiting for",
                         0),
            0u)
      << text();
  EXPECT_NE(text().find("launch; gpuopt calibrate tells whether"),
            std::string::npos)
      << text();
  measured.optimizer_ms = 2; // which is measured
  EXPECT_EQ(judge(run, measured).bound, "optimizer-bound");
}

// Other processes take cores from what computes on the host, and from what
// prepares batches for a GPU.
TEST_F(VerdictTest, NamesOtherProcessesBesideEachBound) {
  run.target = "host";
  run.memory_ms = 20;
  run.cores = 2;
  run.other_cores = 0.2;
  EXPECT_EQ(text().find("other processes"), std::string::npos) << text();
  run.other_cores = 1.24;
  run.preemptions = 37.4;
  const std::string others =
      ", while other processes computed on 1.2 of 2 cores (37 involuntary "
      "context switches a step); ";
  EXPECT_EQ(text(), "verdict: compute-bound (estimated from the rates of the "
                    "device): calls that arithmetic limits are "
                    "75 % of a step of 100.0 ms" +
                        others +
                        "end the other processes, or --target cuda on a "
                        "machine with a GPU");
  run.memory_ms = 60;
  EXPECT_NE(text().find(others + "--precision bf16"), std::string::npos)
      << text();
  run.is_half = true;
  EXPECT_NE(text().find(others + "end the other processes: they move"),
            std::string::npos)
      << text();
  run.target = "cuda";
  EXPECT_EQ(text().find("other processes"), std::string::npos) << text();
  measured.data_wait_ms = 50;
  EXPECT_NE(text().find("50.0 ms of 100.0 ms" + others), std::string::npos)
      << text();
}

TEST_F(VerdictTest, TakesTheShareThatIsStated) {
  run.limit_ms = 20;
  run.memory_ms = 15;
  run.optimizer_ms = 1;
  run.launches = 100;
  measured.step_ms = 100;
  EXPECT_EQ(judge(run, measured).bound, "memory-bound");
  measured.step_ms = 101;
  EXPECT_EQ(judge(run, measured).bound, "no limit of the device is reached");
  measured.data_wait_ms = 2; // is not computed
  EXPECT_EQ(judge(run, measured).bound, "memory-bound");
}

// Rates of another device may be far too low.
TEST_F(VerdictTest, TakesNoSharesOfEstimatesThatAreTooLong) {
  measured.step_ms = 16;
  EXPECT_EQ(judge(run, measured).bound, "memory-bound");
  measured.step_ms = 15.9;
  EXPECT_EQ(text(), "verdict: none (estimated from the rates of the device): "
                    "by the rates of the device a step takes at "
                    "least 80.0 ms, but it took 15.9 ms: they are not the "
                    "rates of this device; gpuopt calibrate measures them");
  measured.calls_ms = 15; // those of a profile hold
  measured.memory_ms = 10;
  EXPECT_EQ(judge(run, measured).bound, "memory-bound");
}

TEST_F(VerdictTest, JudgesByAProfile) {
  KeyAverages profile;
  profile.target = "cuda";
  profile.steps = 2;
  // Its bandwidth is 2 bytes in a nanosecond.
  profile.rows = {{"copy", "", "forward", 2, 60e6, 8e6, 0, 4e6, 1, 1},
                  {"gemm", "", "forward", 2, 40e6, 1e6, 1e9, 30e6, 1, 1},
                  {"adamw", "", "optimizer", 2, 20e6, 4e6, 1e6, 2e6, 1, 1}};
  add_profile(profile, run, measured);
  EXPECT_DOUBLE_EQ(measured.calls_ms, 60);
  EXPECT_DOUBLE_EQ(measured.memory_ms, 40);
  EXPECT_DOUBLE_EQ(measured.optimizer_ms, 10);
  EXPECT_DOUBLE_EQ(measured.short_ms, 0);
  EXPECT_NE(text().find(
                "memory-bound (measured by the profile): calls that "
                "the memory's bandwidth limits are 67 % of a step of 100.0 ms"),
            std::string::npos)
      << text();
  measured.short_ms = 30;
  EXPECT_NE(text().find("launch-bound (measured by the profile): calls that "
                        "are hardly more than their "
                        "launch are 50 %"),
            std::string::npos)
      << text();
  EXPECT_NE(text().find("by estimate up to 38 % less time"), std::string::npos)
      << text();
}

TEST_F(VerdictTest, ShortCallsAreHardlyMoreThanTheirLaunch) {
  run.target = "cuda";
  EXPECT_FALSE(is_short_call(39e3, 10e3, run));
  EXPECT_TRUE(is_short_call(39e3, 9e3, run));
  EXPECT_FALSE(is_short_call(39e3, 0, run));
  EXPECT_FALSE(is_short_call(49e3, 4e3, run));
  run.target = "host";
  EXPECT_FALSE(is_short_call(39e3, 9e3, run));
  EXPECT_TRUE(is_short_call(49e3, 4e3, run)); // a thread had to wake up
  EXPECT_FALSE(is_short_call(49e3, 5e3, run));
  EXPECT_FALSE(is_short_call(51e3, 4e3, run));
  EXPECT_FALSE(is_short_call(39e3, 0, run));
  run.wait_policy = "passive";
  EXPECT_TRUE(is_short_call(49e3, 4e3, run));
  run.wait_policy = "active"; // threads did not sleep
  EXPECT_FALSE(is_short_call(49e3, 4e3, run));
  EXPECT_TRUE(is_short_call(19e3, 4e3, run));
}

// Steps of the run may be faster than the profiled ones, in which threads had
// not yet learnt how to wait for the next kernel.
TEST_F(VerdictTest, JudgesByTheTimeOfTheRun) {
  KeyAverages profile;
  profile.target = run.target = "host";
  profile.steps = 2;
  profile.step_ns = 2 * 0.51e6;
  profile.rows = {{"gemm", "", "forward", 20, 0.9e6, 8e3, 0, 9.2e4, 1, 1}};
  measured.step_ms = 0.51;
  add_profile(profile, run, measured); // calls of 45 us are not short
  EXPECT_NEAR(measured.calls_ms, 0.45, 1e-9);
  EXPECT_EQ(measured.short_ms, 0);
  EXPECT_EQ(describe_difference(measured), "");
  EXPECT_EQ(judge(run, measured).bound, "memory-bound");
  measured = {10, 0.22, 0, 0, 0, 0, 0, 0};
  add_profile(profile, run, measured); // calls of 19.4 us are
  EXPECT_NEAR(measured.calls_ms, 0.45 * 22 / 51, 1e-9);
  EXPECT_NEAR(measured.short_ms, measured.calls_ms, 1e-9);
  EXPECT_EQ(judge(run, measured).bound, "launch-bound");
  EXPECT_EQ(describe_difference(measured),
            "the profiled steps took 0.51 ms each and the run's steps 0.22 ms "
            "on average, without waits for data: the verdict takes the shares "
            "of the profile and the time of the run");
  measured = {10, 0.52, 0.02, 0, 0, 0, 0, 0}; // a wait is no difference
  add_profile(profile, run, measured);
  EXPECT_EQ(describe_difference(measured), "");
  // Kernels of a GPU take their time in a graph as well, where they fit into
  // the step.
  profile.target = run.target = "cuda";
  measured = {10, 0.46, 0, 0, 0, 0, 0, 0};
  add_profile(profile, run, measured);
  EXPECT_NEAR(measured.calls_ms, 0.45, 1e-9);
  profile.step_ns = 2 * 0.9e6; // of single launches
  measured = {10, 0.46, 0, 0, 0, 0, 0, 0};
  add_profile(profile, run, measured);
  EXPECT_NEAR(measured.calls_ms, 0.45, 1e-9);
  EXPECT_EQ(describe_difference(measured),
            "the profiled steps took 0.90 ms each and the run's steps 0.46 ms "
            "on average, without waits for data: the verdict takes the times "
            "of calls as they were profiled");
  measured = {10, 0.22, 0, 0, 0, 0, 0, 0};
  add_profile(profile, run, measured);
  EXPECT_NEAR(measured.calls_ms, 0.22, 1e-9);
  EXPECT_NE(describe_difference(measured).find("the shares of the profile and"),
            std::string::npos);
}

} // namespace
} // namespace gpuopt
