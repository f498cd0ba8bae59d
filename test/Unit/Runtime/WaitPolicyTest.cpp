// How threads wait between kernels: what is measured, and what follows from it.

#include "Files.h"

#include "gpuopt/device/cpu_quota.h"
#include "gpuopt/device/wait_policy.h"

#include <cmath>
#include <gtest/gtest.h>

namespace gpuopt {
namespace {

// A machine on which a step takes so long either way.
struct Machine {
  double sleeping_ms, spinning_ms;
  bool is_contended = false;
};

// Lets the tuner choose during `steps` steps; returns how many of them span.
int run(WaitTuner &tuner, const Machine &machine, int steps) {
  int spun = 0;
  for (int step = 0; step < steps; step++) {
    spun += tuner.spins();
    tuner.step(tuner.spins() ? machine.spinning_ms : machine.sleeping_ms,
               [&] { return machine.is_contended; });
  }
  return spun;
}

TEST(WaitTuner, SpinsWhereThatIsFaster) {
  WaitTuner tuner;
  run(tuner, {37, 15}, 20);
  EXPECT_TRUE(tuner.spins());
  EXPECT_TRUE(tuner.settled_anew());
  EXPECT_FALSE(tuner.settled_anew());
  EXPECT_EQ(tuner.sleeping_ms(), 37);
  EXPECT_EQ(tuner.spinning_ms(), 15);
  // Looking again now and then costs little.
  EXPECT_GT(run(tuner, {37, 15}, 10000), 9900);
  EXPECT_FALSE(tuner.settled_anew());
}

TEST(WaitTuner, SleepsWhereThatIsFaster) {
  WaitTuner tuner;
  run(tuner, {10, 13}, 20);
  EXPECT_FALSE(tuner.spins());
  EXPECT_LT(run(tuner, {10, 13}, 10000), 100);
}

TEST(WaitTuner, StaysWithItsChoiceWhereBothAreEqual) {
  WaitTuner tuner;
  run(tuner, {10, 9.8}, 20);
  EXPECT_TRUE(tuner.spins());
  EXPECT_TRUE(tuner.settled_anew());
  run(tuner, {9.8, 10}, 10000);
  EXPECT_TRUE(tuner.spins());
  EXPECT_FALSE(tuner.settled_anew());
  run(tuner, {9, 10}, 50000); // more than a tie
  EXPECT_FALSE(tuner.spins());
  EXPECT_TRUE(tuner.settled_anew());
}

TEST(WaitTuner, TellsWhatItHasFound) {
  WaitTuner faster, busy;
  run(faster, {37, 15}, 20);
  EXPECT_EQ(faster.describe(),
            "threads spin between kernels: a step takes 15.0 ms when they "
            "spin, 37.0 ms when they sleep");
  run(busy, {10, 5, /*is_contended=*/true}, 20);
  EXPECT_EQ(busy.describe(),
            "threads sleep between kernels: others use the cores");
}

TEST(WaitTuner, ComparesWindowsOfShortSteps) {
  WaitTuner tuner;
  // 10 ms are 200 steps: three windows each way.
  EXPECT_LT(run(tuner, {0.05, 0.04}, 1190), 601);
  run(tuner, {0.05, 0.04}, 20);
  EXPECT_TRUE(tuner.spins());
}

TEST(WaitTuner, DoesNotTryToSpinOnCoresThatOthersUse) {
  WaitTuner tuner;
  const Machine busy{40, 3000, true};
  EXPECT_EQ(run(tuner, busy, 1000), 0);
  EXPECT_TRUE(tuner.settled_anew());
  EXPECT_EQ(tuner.spinning_ms(), 0); // was not tried
}

TEST(WaitTuner, TriesToSpinAfterOneBusyWindow) {
  WaitTuner tuner;
  // Every second window looks as if others used the cores.
  int windows = 0;
  for (int step = 0; step < 20; step++)
    tuner.step(tuner.spins() ? 15 : 37, [&] { return windows++ % 2 == 0; });
  EXPECT_TRUE(tuner.spins());
  EXPECT_EQ(tuner.spinning_ms(), 15);
  EXPECT_TRUE(tuner.settled_anew());
}

TEST(WaitTuner, SleepsAfterTwoBusyWindowsRunning) {
  WaitTuner tuner;
  int spun = 0, windows = 0;
  for (int step = 0; step < 20; step++) {
    spun += tuner.spins();
    tuner.step(37, [&] { return windows++ < 2; });
  }
  EXPECT_EQ(spun, 0);
  EXPECT_TRUE(tuner.settled_anew());
}

TEST(WaitTuner, GivesUpSpinningAfterOneBadStep) {
  WaitTuner tuner;
  // Nothing but the time tells that the cores are busy.
  EXPECT_LE(run(tuner, {40, 3000}, 100), 1);
  EXPECT_FALSE(tuner.spins());
}

TEST(WaitTuner, PassesOverTheStepInWhichTheProcessWasStopped) {
  WaitTuner tuner;
  run(tuner, {37, 15}, 1000);
  ASSERT_TRUE(tuner.spins());
  run(tuner, {37, 2000}, 1);
  for (int step = 0; step < 50; step++) {
    ASSERT_TRUE(tuner.spins()) << "step " << step;
    run(tuner, {37, 15}, 1);
  }
}

TEST(WaitTuner, FollowsAMachineThatGetsBusyAndQuietAgain) {
  WaitTuner tuner;
  const Machine quiet{37, 15}, busy{60, 900, true};
  run(tuner, quiet, 1000);
  ASSERT_TRUE(tuner.spins());
  EXPECT_LE(run(tuner, busy, 1000), 3);
  EXPECT_FALSE(tuner.spins());
  // Steps take less than they did, so it looks again: within 200 of them.
  run(tuner, quiet, 200);
  EXPECT_TRUE(tuner.spins());
}

// Though steps take as long as before, and though it has looked in vain so
// often that it looks rarely.
TEST(WaitTuner, TriesToSpinSoonAfterOthersHaveLeft) {
  WaitTuner tuner;
  EXPECT_EQ(run(tuner, {37, 3000, true}, 20000), 0);
  EXPECT_GT(run(tuner, {37, 15}, 100), 50);
  EXPECT_TRUE(tuner.spins());
}

TEST(WaitTuner, ComparesAgainWhenSpinningGetsALittleSlower) {
  WaitTuner tuner;
  run(tuner, {20, 15}, 300);
  ASSERT_TRUE(tuner.spins());
  run(tuner, {20, 25}, 300);
  EXPECT_FALSE(tuner.spins());
}

CpuCounters at(double seconds, double preemptions, double stolen, double ticks,
               double runnable) {
  return {seconds, preemptions, stolen, ticks, runnable};
}

TEST(CpuPressure, KnowsFreeCores) {
  CpuPressure pressure(2, 2, 2);
  pressure.sample(at(1, 10, 0, 100, 0));
  pressure.sample(at(2, 20, 1, 300, 0));
  EXPECT_FALSE(pressure.contended(false));
  // The other thread spins, and is no stranger.
  pressure.sample(at(2, 20, 1, 300, 1));
  pressure.sample(at(3, 30, 2, 500, 1));
  EXPECT_FALSE(pressure.contended(true));
}

TEST(CpuPressure, CountsThreadsOfOthers) {
  CpuPressure on_two(2, 2, 2), on_four(2, 4, 4), on_part(2, 2, 4);
  for (CpuPressure *pressure : {&on_two, &on_four, &on_part})
    pressure->sample(at(1, 0, 0, 100, 1));
  EXPECT_TRUE(on_two.contended(false));
  EXPECT_FALSE(on_four.contended(false)); // there is a core for them
  EXPECT_FALSE(on_part.contended(false)); // they may run elsewhere
}

TEST(CpuPressure, NoticesThatCoresAreTaken) {
  CpuPressure pressure(2, 2, 2);
  pressure.sample(at(1, 0, 0, 100, 0));
  pressure.sample(at(1.1, 300, 0, 120, 0));
  EXPECT_TRUE(pressure.contended(false)) << "300 preemptions in 0.1 s";
  pressure.sample(at(1.2, 301, 0, 140, 0));
  EXPECT_FALSE(pressure.contended(false)) << "each stretch counts for itself";
  pressure.sample(at(2.2, 301, 100, 340, 0));
  EXPECT_TRUE(pressure.contended(false)) << "half of the time stolen";
}

TEST(CpuPressure, AddsUpStretchesOfOneSample) {
  // Steps of 10 ms are asked for one by one: two ticks on two cores.
  CpuPressure pressure(2, 2, 2);
  pressure.sample(at(0, 0, 0, 0, 0));
  int contended = 0;
  for (int step = 1; step <= 20; step++) {
    pressure.sample(at(0.01 * step, 0, 1.0 * step, 2.0 * step, 0));
    contended += pressure.contended(false);
  }
  EXPECT_EQ(contended, 2) << "once for each 20 ticks";
  pressure.sample(at(0.21, 5, 20, 42, 0));
  EXPECT_TRUE(pressure.contended(false)) << "5 preemptions in 10 ms";
}

TEST(CpuPressure, ReadsTheSystemsCounters) {
  const CpuCounters first = CpuCounters::now(), second = CpuCounters::now();
  EXPECT_GT(first.all_ticks, 0);
  EXPECT_LE(first.all_ticks, second.all_ticks);
  EXPECT_LE(first.seconds, second.seconds);
  EXPECT_LE(first.preemptions, second.preemptions);
  EXPECT_LE(first.stolen_ticks, first.all_ticks);
}

struct CpuQuotaTest : testing::Test {
  void limit(const std::string &group, const std::string &file,
             const std::string &text) {
    std::filesystem::create_directories(folder / group);
    write_file(folder / (group + "/" + file), text);
  }
  double quota(const std::string &groups) {
    write_file(folder / "groups", groups);
    return cpu_quota(folder / "groups", folder / "root");
  }
  TemporaryFolder folder;
};

TEST_F(CpuQuotaTest, IsTheLeastOnTheWayToTheRoot) {
  limit("root/pod", "cpu.max", "150000 100000\n");
  limit("root/pod/job", "cpu.max", "max 100000\n");
  EXPECT_EQ(quota("0::/pod/job\n"), 1.5);
  EXPECT_EQ(quota("0::/pod\n"), 1.5);
  EXPECT_TRUE(std::isinf(quota("0::/\n")));
  EXPECT_TRUE(std::isinf(quota("")));
}

TEST_F(CpuQuotaTest, ReadsVersion1) {
  limit("root/cpu/job", "cpu.cfs_quota_us", "50000\n");
  limit("root/cpu/job", "cpu.cfs_period_us", "100000\n");
  limit("root/cpu/free", "cpu.cfs_quota_us", "-1\n");
  limit("root/cpu/free", "cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(quota("4:memory:/job\n3:cpu,cpuacct:/job\n"), 0.5);
  EXPECT_TRUE(std::isinf(quota("3:cpu:/free\n")));
  EXPECT_TRUE(std::isinf(quota("4:memory:/job\n")));
}

TEST_F(CpuQuotaTest, LimitsThreads) {
  EXPECT_EQ(threads_within_quota(8, 2.5), 3);
  EXPECT_EQ(threads_within_quota(8, 0.5), 1);
  EXPECT_EQ(threads_within_quota(8, detail::kNoQuota), 8);
  EXPECT_EQ(threads_within_quota(2, 16), 2);
}

TEST(WaitPolicy, IsOneOfThree) {
  EXPECT_EQ(parse_wait_policy("passive"), WaitPolicy::Passive);
  EXPECT_THROW(parse_wait_policy("activ"), Error);
}

} // namespace
} // namespace gpuopt
