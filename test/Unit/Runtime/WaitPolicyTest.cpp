// How threads wait between kernels: what is measured, and what follows from it.

#include "Files.h"

#include "gpuopt/device/cpu_quota.h"
#include "gpuopt/device/wait_policy.h"

#include <cmath>
#include <ctime>
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
               [&](double) { return machine.is_contended; });
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
  run(tuner, {10, 9.8}, 30);
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
  WaitTuner brief;
  run(brief, {0.4, 0.05}, 20000);
  EXPECT_EQ(brief.describe(),
            "threads spin between kernels: a step takes 0.05 ms when they "
            "spin, 0.40 ms when they sleep");
  run(busy, {10, 5, /*is_contended=*/true}, 30);
  EXPECT_EQ(busy.describe(),
            "threads sleep between kernels: others use the cores");
}

TEST(WaitTuner, ComparesWindowsOfShortSteps) {
  WaitTuner tuner;
  // Three windows each way: the first has 100 ms, 1,600 steps, each other one
  // 10 ms, 160 steps of those that sleep and 214 of those that spin.
  const Machine machine{0.0625, 0.046875};
  EXPECT_EQ(run(tuner, machine, 2 + 1600), 0);
  EXPECT_EQ(run(tuner, machine, 214 + 160), 214);
  EXPECT_FALSE(tuner.settled_anew());
  run(tuner, machine, 214 + 160 + 214);
  EXPECT_TRUE(tuner.settled_anew());
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
    tuner.step(tuner.spins() ? 15 : 37,
               [&](double) { return windows++ % 2 == 0; });
  EXPECT_TRUE(tuner.spins());
  EXPECT_EQ(tuner.spinning_ms(), 15);
  EXPECT_TRUE(tuner.settled_anew());
}

TEST(WaitTuner, SleepsAfterTwoBusyWindowsRunning) {
  WaitTuner tuner;
  int spun = 0, windows = 0;
  for (int step = 0; step < 20; step++) {
    spun += tuner.spins();
    tuner.step(37, [&](double) { return windows++ < 2; });
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

// The step that was under way takes as long as the pause, whichever way the
// threads wait.
TEST(WaitTuner, LeavesOutTheWindowInWhichTheProcessWasStopped) {
  for (int stopped_step = 0; stopped_step < 12; stopped_step++) {
    WaitTuner tuner;
    for (int step = 0; step < 30; step++) {
      const double usual = tuner.spins() ? 15 : 37,
                   pause = step == stopped_step ? 60000 : 0;
      tuner.step(usual + pause, [&](double window_ms) {
        return WindowReport(/*is_contended=*/false, window_ms > 60000);
      });
    }
    EXPECT_TRUE(tuner.spins()) << "stopped in step " << stopped_step;
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

// Though steps take as long as before: for others it may be worse.
TEST(WaitTuner, ComparesAgainWhenOthersWantTheCores) {
  WaitTuner tuner;
  run(tuner, {37, 15}, 1000);
  ASSERT_TRUE(tuner.spins());
  run(tuner, {37, 15, true}, 1000);
  EXPECT_FALSE(tuner.spins());
}

TEST(WaitTuner, ComparesAgainWhenSpinningGetsALittleSlower) {
  WaitTuner tuner;
  run(tuner, {20, 15}, 300);
  ASSERT_TRUE(tuner.spins());
  run(tuner, {20, 25}, 300);
  EXPECT_FALSE(tuner.spins());
}

// A machine's counters after `seconds`, if the program computed on `own` cores
// and others on `others`.
CpuCounters at(double seconds, int cores, double own, double others,
               double preemptions = 0, double stolen = 0) {
  CpuCounters counters;
  counters.seconds = seconds;
  counters.own_seconds = own * seconds;
  counters.preemptions = preemptions;
  counters.busy_ticks = 100 * seconds * (own + others);
  counters.stolen_ticks = 100 * seconds * stolen;
  counters.all_ticks = 100 * seconds * cores;
  counters.cores = cores;
  return counters;
}

bool is_contended(CpuPressure pressure, const CpuCounters &counters,
                  bool spun = false) {
  pressure.begin({});
  return pressure.contended(spun, counters);
}

TEST(CpuPressure, KnowsFreeCores) {
  const CpuPressure pressure(2, 2);
  EXPECT_FALSE(is_contended(pressure, at(1, 2, 0, 0)));
  EXPECT_FALSE(is_contended(pressure, at(1, 2, 1.2, 0.1, 10, 0.05)));
  // Threads that spin are no strangers.
  EXPECT_FALSE(is_contended(pressure, at(1, 2, 2, 0), /*spun=*/true));
}

TEST(CpuPressure, NoticesWhatOthersCompute) {
  EXPECT_TRUE(is_contended(CpuPressure(2, 2), at(1, 2, 1.3, 0.7)));
  EXPECT_FALSE(is_contended(CpuPressure(2, 2), at(1, 2, 1.3, 0.3)));
  // There is a core for them.
  EXPECT_FALSE(is_contended(CpuPressure(2, 4), at(1, 4, 2, 1)));
  EXPECT_TRUE(is_contended(CpuPressure(2, 4), at(1, 4, 1.3, 2.7)));
}

// A tick is a sample: of many threads that wake and sleep, some cores more or
// less are seen busy than are.
TEST(CpuPressure, AllowsForChanceWhereManyThreadsCompute) {
  EXPECT_FALSE(is_contended(CpuPressure(64, 64), at(0.1, 64, 32, 2)));
  EXPECT_TRUE(is_contended(CpuPressure(64, 64), at(0.1, 64, 32, 8)));
  EXPECT_FALSE(is_contended(CpuPressure(64, 64), at(0.03, 64, 32, 32)))
      << "three ticks of each core";
}

// As OMP_PROC_BIND binds the thread that asks: its core is always busy.
TEST(CpuPressure, DoesNotJudgeAllCoresByOne) {
  EXPECT_FALSE(is_contended(CpuPressure(16, 16), at(1, 1, 0.4, 0.6)));
  EXPECT_TRUE(is_contended(CpuPressure(16, 16), at(1, 1, 1, 0, 0, 0.5)))
      << "stolen time is";
}

TEST(CpuPressure, NoticesThatCoresAreTaken) {
  const CpuPressure pressure(2, 2);
  EXPECT_TRUE(is_contended(pressure, at(0.01, 2, 1, 0, 5), true))
      << "5 preemptions in 10 ms";
  EXPECT_FALSE(is_contended(pressure, at(0.01, 2, 1, 0, 4), true));
  EXPECT_FALSE(is_contended(pressure, at(1, 2, 1, 0, 90), true));
  EXPECT_TRUE(is_contended(pressure, at(1, 2, 1, 0, 110), true));
  EXPECT_FALSE(is_contended(pressure, at(1, 2, 1, 0, 110), false))
      << "threads that wake preempt each other";
  EXPECT_TRUE(is_contended(pressure, at(1, 2, 1, 0, 0, 0.5)))
      << "a quarter of the time of two cores";
}

TEST(CpuPressure, AsksOfEachStretchAlone) {
  CpuPressure pressure(2, 2);
  CpuCounters counters = at(1, 2, 1, 1, 1000, 0.5);
  pressure.begin(counters);
  EXPECT_FALSE(pressure.contended(true, counters));
  counters.seconds += 1;
  counters.all_ticks += 200;
  EXPECT_FALSE(pressure.contended(true, counters));
  counters.seconds += 1;
  counters.all_ticks += 200;
  counters.busy_ticks += 70;
  EXPECT_TRUE(pressure.contended(true, counters));
  EXPECT_FALSE(pressure.contended(true, counters));
}

TEST(CpuPressure, WaitsForEnoughTicks) {
  // 10 ms of two cores are two ticks: whose they are is chance.
  CpuPressure pressure(2, 2);
  pressure.begin({});
  for (int step = 1; step <= 8; step++)
    EXPECT_EQ(pressure.contended(false, at(0.01 * step, 2, 1, 1)),
              step % 4 == 0)
        << "step " << step;
}

// Reads a file of counters, bound to the first core that the process may use.
// In `stat`, CORE is that core's number, and NEXT and LAST are those that
// follow.
CpuCounters read_bound(std::string stat) {
  cpu_set_t before, one;
  EXPECT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  int core = 0;
  while (!CPU_ISSET(core, &before))
    core++;
  CPU_ZERO(&one);
  CPU_SET(core, &one);
  for (const char *name : {"CORE", "NEXT", "LAST"}) {
    if (const size_t at = stat.find(name); at != std::string::npos)
      stat.replace(at, 4, std::to_string(core));
    core++;
  }
  TemporaryFolder folder;
  write_file(folder / "stat", stat);
  EXPECT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  const CpuCounters counters = CpuCounters::now((folder / "stat").c_str());
  EXPECT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
  return counters;
}

TEST(CpuCounters, AreOfTheCoresThatTheThreadMayUse) {
  const CpuCounters counters =
      read_bound("cpu  999 999 999 999 999 999 999 999 0 0\n"
                 "cpuNEXT 50 50 50 50 50 50 50 50 0 0\n"
                 "cpuCORE 1 2 3 10 20 4 5 6 100 100\n"
                 "intr 7 8 9\n");
  EXPECT_EQ(counters.cores, 1);
  EXPECT_EQ(counters.busy_ticks, 1 + 2 + 3 + 4 + 5);
  EXPECT_EQ(counters.stolen_ticks, 6);
  EXPECT_EQ(counters.all_ticks, 51);
}

// Containers may number their cores from 0, whichever the machine's are.
TEST(CpuCounters, AreOfAllCoresIfNoneIsKnown) {
  const CpuCounters counters = read_bound("cpu  2 4 6 20 40 8 10 12 0 0\n"
                                          "cpuNEXT 1 2 3 10 20 4 5 6 0 0\n"
                                          "cpuLAST 1 2 3 10 20 4 5 6 0 0\n");
  EXPECT_EQ(counters.cores, 2);
  EXPECT_EQ(counters.all_ticks, 102);
  EXPECT_EQ(counters.busy_ticks, 30);
  const CpuCounters none = read_bound("");
  EXPECT_EQ(none.cores, 0);
  EXPECT_FALSE(is_contended(CpuPressure(2, 2), none));
}

TEST(CpuPressure, ReadsTheSystemsCounters) {
  const CpuCounters first = CpuCounters::now(), second = CpuCounters::now();
  EXPECT_GT(first.all_ticks, 0);
  EXPECT_LE(first.all_ticks, second.all_ticks);
  EXPECT_LE(first.seconds, second.seconds);
  EXPECT_LE(first.preemptions, second.preemptions);
  EXPECT_LE(first.stolen_ticks, first.all_ticks);
  EXPECT_GT(first.busy_ticks, 0);
  EXPECT_LE(first.busy_ticks, first.all_ticks);
  // This test has computed, and sleep is no computation.
  EXPECT_GT(second.own_seconds, 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const CpuCounters third = CpuCounters::now();
  EXPECT_GE(third.seconds - second.seconds, 0.05);
  EXPECT_LT(third.own_seconds - second.own_seconds, 0.05);
}

// Computes until this process has had so many seconds more of processor time.
void compute(double seconds) {
  const std::clock_t end =
      std::clock() + std::clock_t(seconds * CLOCKS_PER_SEC);
  while (std::clock() < end) {
  }
}

TEST(BackgroundCpuTime, IsWhatOthersThanTheStepCompute) {
  const double before = BackgroundCpuTime::seconds();
  const CpuCounters first = CpuCounters::now();
  std::thread([] {
    compute(0.03);
    BackgroundCpuTime::begin(); // what was before does not count
    compute(0.05);
    BackgroundCpuTime::count();
  }).join();
  std::thread([] {
    compute(0.03);
    BackgroundCpuTime::count(); // is no background thread
  }).join();
  EXPECT_NEAR(BackgroundCpuTime::seconds() - before, 0.05, 0.015);
  EXPECT_NEAR(CpuCounters::now().own_seconds - first.own_seconds, 0.06, 0.03);
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

TEST(CpuQuota, CountsTheCoresThatTheThreadMayUse) {
  cpu_set_t before, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  int core = 0;
  while (!CPU_ISSET(core, &before))
    core++;
  CPU_ZERO(&one);
  CPU_SET(core, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(cores_within_quota(), 1);
  ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
  EXPECT_EQ(cores_within_quota(),
            threads_within_quota(CPU_COUNT(&before), cpu_quota()));
}

// Sets OMP_NUM_THREADS for a test; puts back what it was.
struct ThreadsOfEnvironment : testing::Test {
  ThreadsOfEnvironment() {
    if (const char *value = getenv("OMP_NUM_THREADS"))
      before = value;
  }
  ~ThreadsOfEnvironment() override {
    if (before)
      setenv("OMP_NUM_THREADS", before->c_str(), 1);
    else
      unsetenv("OMP_NUM_THREADS");
  }
  int threads(const char *value) {
    setenv("OMP_NUM_THREADS", value, 1);
    return threads_of_environment();
  }
  std::optional<std::string> before;
};

TEST_F(ThreadsOfEnvironment, AreTheFirstOfTheList) {
  EXPECT_EQ(threads("3"), 3);
  EXPECT_EQ(threads(" 4 , 2"), 4);
}

TEST_F(ThreadsOfEnvironment, AreNoneIfTheyAreNotUnderstood) {
  for (const char *value : {"", " ", "0", "-1", "4x", "many", "99999999999"})
    EXPECT_EQ(threads(value), 0) << value;
  unsetenv("OMP_NUM_THREADS");
  EXPECT_EQ(threads_of_environment(), 0);
}

// The threads of the process that prepare data are no others.
TEST(CoreUse, TellsWhatOthersComputed) {
  CpuCounters last = at(10, 2, 0.5, 1.2, 340);
  last.background_seconds = 2;
  const CoreUse use = CoreUse::between(at(0, 2, 0, 0), last);
  EXPECT_EQ(use.cores, 2);
  EXPECT_NEAR(use.other_cores, 1, 1e-9);
  EXPECT_EQ(use.preemptions, 340);
  const CpuCounters stolen = at(10, 2, 0.5, 0, 0, 0.3);
  EXPECT_NEAR(CoreUse::between(at(0, 2, 0, 0), stolen).other_cores, 0.3, 1e-9);
  // Few ticks are chance, and other cores are not comparable.
  EXPECT_EQ(CoreUse::between(at(0, 2, 0, 0), at(0.05, 2, 0, 2)).cores, 0);
  EXPECT_EQ(CoreUse::between(at(0, 1, 0, 0), at(10, 2, 0, 2)).cores, 0);
}

// A profile of the run waits in this way as well.
TEST(WaitPolicy, IsToldOfMostSteps) {
  StepWaiting asked(WaitPolicy::Active, 2), own(WaitPolicy::Auto, 2);
  EXPECT_EQ(asked.mostly(), WaitPolicy::Active);
  EXPECT_EQ(own.mostly(), WaitPolicy::Auto);
  const bool can_choose = ThreadWaiting(2).can_choose() &&
                          !getenv("OMP_WAIT_POLICY") &&
                          !getenv("GOMP_SPINCOUNT");
  own.step(1); // the threads sleep at first
  EXPECT_EQ(own.mostly(), can_choose ? WaitPolicy::Passive : WaitPolicy::Auto);
}

// Steps of two programs cannot be compared, and threads wait in one way for
// both.
TEST(WaitPolicy, IsTunedByOneProgramOfAProcess) {
  ThreadWaiting first(2), second(2);
  const auto steps_until_taken_over = [](ThreadWaiting &waiting) {
    int64_t steps = 1;
    while (!waiting.may_tune())
      steps++;
    return steps;
  };
  EXPECT_TRUE(first.may_tune());
  for (int i = 0; i < 100; i++) {
    EXPECT_FALSE(second.may_tune());
    EXPECT_TRUE(first.may_tune());
  }
  EXPECT_EQ(steps_until_taken_over(second), 16);
  EXPECT_FALSE(first.may_tune());
  EXPECT_TRUE(second.may_tune());
  EXPECT_EQ(steps_until_taken_over(first), 16);
  {
    ThreadWaiting third(2);
    EXPECT_EQ(steps_until_taken_over(third), 16);
  }
  EXPECT_TRUE(second.may_tune()) << "the third has left";
}

TEST(WaitPolicy, IsOneForTheProcess) {
  auto &process = detail::ProcessWaiting::instance();
  int first = 0, second = 0;
  process.join();
  process.join();
  process.set_spinning(false, 2);
  EXPECT_FALSE(threads_spin);
  process.set_spinning(true, 2);
  EXPECT_TRUE(threads_spin);
  process.set_spinning(false, 3);
  process.leave(&first);
  EXPECT_FALSE(threads_spin);
  process.leave(&second);
  EXPECT_TRUE(threads_spin) << "nobody is left who has asked for it";
}

TEST(WaitPolicy, IsLeftAloneByProgramsThatHaveNotChosen) {
  auto &process = detail::ProcessWaiting::instance();
  const bool before = threads_spin;
  int program = 0;
  process.join();
  threads_spin = false; // as if somebody else had
  process.leave(&program);
  EXPECT_FALSE(threads_spin);
  threads_spin = before;
}

TEST(WaitPolicy, IsOneOfThree) {
  EXPECT_EQ(parse_wait_policy("passive"), WaitPolicy::Passive);
  EXPECT_THROW(parse_wait_policy("activ"), Error);
}

} // namespace
} // namespace gpuopt
