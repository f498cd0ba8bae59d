// The loader: the order of its batches, its workers and what it refuses.

#include "Files.h"
#include "Samples.h"

#include "gpuopt/data/loader.h"
#include "gpuopt/data/sources.h"

#include <fstream>
#include <gtest/gtest.h>
#include <sys/resource.h>

namespace gpuopt {
namespace {

struct LoaderTest : testing::Test {
  // Ten samples of two bytes: (i, i + 100).
  LoaderTest() {
    std::vector<uint8_t> data;
    for (int i = 0; i < 10; i++)
      data.insert(data.end(), {uint8_t(i), uint8_t(i + 100)});
    write_file(folder / "x.npy", npy("|u1", "(10, 2)", bytes_of(data)));
    program.inputs = inputs;
  }
  DataSources sources() {
    DataSources all;
    all.push_back(
        std::make_unique<NpySource>(folder / "x.npy", inputs[0].tensor));
    return all;
  }
  std::vector<float> batches(int workers, int count, bool shuffle) {
    Context ctx(1);
    Loader loader(ctx, program, sources(), {4, shuffle, 7, workers, 2});
    EXPECT_EQ(loader.batches_per_epoch(), 2);
    std::vector<float> all;
    for (int i = 0; i < count; i++) {
      float batch[8];
      EXPECT_GE(loader.deliver(reinterpret_cast<char *>(batch)), 0);
      all.insert(all.end(), batch, batch + 8);
    }
    return all;
  }
  TemporaryFolder folder;
  InputInfo inputs[1] = {{kPairs}};
  Program program{};
};

TEST_F(LoaderTest, CastsAndKeepsTheOrderOfTheFile) {
  EXPECT_EQ(batches(1, 3, false),
            (std::vector<float>{0, 100, 1, 101, 2, 102, 3, 103, //
                                4, 104, 5, 105, 6, 106, 7, 107, //
                                0, 100, 1, 101, 2, 102, 3, 103}));
}

TEST_F(LoaderTest, AnyNumberOfWorkersGivesTheSameBatches) {
  const auto one = batches(1, 20, true);
  EXPECT_EQ(one, batches(3, 20, true));
  EXPECT_NE(one, batches(1, 20, false));
}

TEST_F(LoaderTest, ABatchThatIsReadAgainChangesNoOther) {
  const auto expected = batches(1, 8, true);
  for (int workers : {0, 3}) {
    Context ctx(1);
    Loader loader(ctx, program, sources(), {4, /*shuffle=*/true, 7, workers});
    for (int64_t i = 0; i < 8; i++) {
      float batch[8];
      auto expect_batch = [&](int64_t number) {
        EXPECT_TRUE(std::equal(batch, batch + 8, expected.begin() + number * 8))
            << number << " after " << i;
      };
      loader.deliver(reinterpret_cast<char *>(batch));
      expect_batch(i);
      for (int64_t back = 1; back <= i + 1; back++) {
        loader.deliver_again(back, reinterpret_cast<char *>(batch));
        expect_batch(i + 1 - back);
      }
    }
  }
}

// Samples that take a while, as pictures do.
struct SlowSource : NpySource {
  using NpySource::NpySource;
  void read(const SampleDraw &draw, uint8_t *to) const override {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    NpySource::read(draw, to);
  }
};

TEST_F(LoaderTest, FindsANumberOfWorkersAndChangesNoBatch) {
  const int count = int(WorkerTuner::kMostBatches);
  const auto expected = batches(1, count, true);
  DataSources slow;
  slow.push_back(
      std::make_unique<SlowSource>(folder / "x.npy", inputs[0].tensor));
  Context ctx(1);
  Loader loader(ctx, program, std::move(slow),
                {4, /*shuffle=*/true, 7, kAutoWorkers, 2});
  EXPECT_EQ(loader.num_workers(), 1);
  std::vector<float> found;
  std::string news;
  for (int i = 0; i < count; i++) {
    float batch[8];
    loader.deliver(reinterpret_cast<char *>(batch));
    found.insert(found.end(), batch, batch + 8);
    news += loader.take_news();
  }
  EXPECT_EQ(found, expected);
  EXPECT_EQ(news.find("--num-workers auto: " +
                      std::to_string(loader.num_workers()) + " thread"),
            0u)
      << news;
  EXPECT_EQ(news.rfind("--num-workers"), 0u) << "it is told once";
  // WorkerTunerTest says how many there are; here, other work may be beside.
  EXPECT_GE(loader.num_workers(), 1);
}

// Not for a wait, and not in the thread that asks.
TEST_F(LoaderTest, CountsTheTimeThatItsWorkersCompute) {
  const double before = BackgroundCpuTime::seconds();
  batches(/*workers=*/0, 200, true);
  EXPECT_EQ(BackgroundCpuTime::seconds(), before);
  batches(/*workers=*/2, 200, true);
  EXPECT_GT(BackgroundCpuTime::seconds(), before);
}

TEST_F(LoaderTest, TakesNoWorkBetweenTwoRunsForAStep) {
  if (cores_within_quota() == 1)
    GTEST_SKIP() << "there is one core, so nothing is measured";
  // Validations of three batches, which wait for slow samples, with training
  // between them: its time must not hide that they wait.
  struct LateSource : NpySource {
    using NpySource::NpySource;
    void read(const SampleDraw &draw, uint8_t *to) const override {
      std::this_thread::sleep_for(std::chrono::microseconds(500));
      NpySource::read(draw, to);
    }
  };
  DataSources late;
  late.push_back(
      std::make_unique<LateSource>(folder / "x.npy", inputs[0].tensor));
  Context ctx(1);
  Loader loader(ctx, program, std::move(late),
                {4, /*shuffle=*/false, 7, kAutoWorkers, 1});
  float batch[8];
  std::string news;
  for (int validation = 0; validation < 80 && news.empty(); validation++) {
    loader.begin_anew();
    for (int i = 0; i < 3; i++)
      loader.deliver(reinterpret_cast<char *>(batch));
    news = loader.take_news();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  // Beside the 20 ms of training, they would be about a sixth.
  ASSERT_NE(news.find("waits for data for "), std::string::npos) << news;
  EXPECT_GT(atoi(news.c_str() + news.find("for data for ") + 13), 50) << news;
}

// What the process may have of address space beside what it has: room for the
// stacks of that many threads.
struct RoomForThreads {
  explicit RoomForThreads(size_t threads) {
    std::ifstream statm("/proc/self/statm");
    size_t pages = 0, stack = size_t(8) << 20;
    statm >> pages;
    getrlimit(RLIMIT_AS, &before);
    rlimit limit = before;
    limit.rlim_cur =
        pages * size_t(getpagesize()) + threads * stack + stack / 2;
    setrlimit(RLIMIT_AS, &limit);
  }
  ~RoomForThreads() { setrlimit(RLIMIT_AS, &before); }
  rlimit before;
};

TEST_F(LoaderTest, GoesOnWithTheThreadsThatTheSystemAllows) {
  const auto expected = batches(1, 20, true);
  program.name = "tiny";
  testing::internal::CaptureStderr();
  std::vector<float> found;
  {
    const RoomForThreads room(4);
    found = batches(100, 20, true);
  }
  const std::string error = testing::internal::GetCapturedStderr();
  EXPECT_EQ(found, expected);
  EXPECT_NE(error.find("of 100 --num-workers could be started"),
            std::string::npos)
      << error;
}

// No thread has a stack of 64 TiB.
struct NoThreads {
  NoThreads() {
    pthread_getattr_default_np(&before);
    pthread_attr_t huge;
    pthread_attr_init(&huge);
    pthread_attr_setstacksize(&huge, size_t(1) << 46);
    pthread_setattr_default_np(&huge);
    pthread_attr_destroy(&huge);
  }
  ~NoThreads() {
    pthread_setattr_default_np(&before);
    pthread_attr_destroy(&before);
  }
  pthread_attr_t before;
};

TEST_F(LoaderTest, WithoutAnyThreadIsAnError) {
  Context ctx(1);
  const NoThreads none;
  const std::string error =
      error_of([&] { Loader(ctx, program, sources(), {4, true, 7, 2, 2}); });
  EXPECT_NE(error.find("cannot start a thread to prepare batches"),
            std::string::npos)
      << error;
}

TEST_F(LoaderTest, WidensHalfPrecision) {
  write_file(folder / "x.npy",
             npy("<f2", "(8, 2)", bytes_of(std::vector<uint16_t>(16, 0x3e00))));
  EXPECT_EQ(batches(1, 1, false), std::vector<float>(8, 1.5f));
}

TEST_F(LoaderTest, NamesTheSampleThatIsOutOfRange) {
  inputs[0].tensor.type = Type::I32;
  inputs[0].index_limit = 105;
  EXPECT_NE(error_of([&] { batches(2, 2, false); })
                .find("x.npy': sample 5 holds 105 for 'x', but it must lie in "
                      "[0, 105)"),
            std::string::npos);
  inputs[0].is_label = true;
  inputs[0].index_limit = 107;
  inputs[0].ignore_index = 107;
  batches(2, 2, false);
}

TEST_F(LoaderTest, NamesTheProbabilityThatIsOutOfRange) {
  inputs[0].is_label = true;
  inputs[0].index_limit = 1;
  EXPECT_NE(error_of([&] { batches(2, 2, false); })
                .find("x.npy': sample 0 holds 100 for 'x', in element 1 of the "
                      "sample, but it must lie in [0, 1]"),
            std::string::npos);
  std::vector<double> values(16, 0.5);
  values[0] = 0;
  values[15] = 1;
  auto write = [&] {
    write_file(folder / "x.npy", npy("<f8", "(8, 2)", bytes_of(values)));
  };
  write();
  EXPECT_EQ(batches(1, 2, false).back(), 1);
  for (const double bad : {1.5, -0.25, double(NAN)}) {
    values[4] = bad;
    write();
    EXPECT_NE(error_of([&] { batches(1, 2, false); })
                  .find("in element 0 of the sample, but it must lie in [0, "
                        "1]"),
              std::string::npos);
  }
}

// Blocks of integers are compared at a time, up to each type's own bounds.
TEST_F(LoaderTest, FindsTheOneThatIsOutOfRange) {
  const InputInfo input{
      {"x", Type::I64, 2, {1, 700}, 0, 0}, 200, false, INT64_MIN, -3};
  auto problem = [&](const char *descr, const std::string &data) {
    write_file(folder / "many.npy", npy(descr, "(1, 700)", data));
    const NpySource source(folder / "many.npy", input.tensor);
    return problem_of_indices(input, source, source.at(0), 0);
  };
  auto check = [&](const char *descr, auto least, auto most) {
    using T = decltype(least);
    std::vector<T> values(700, T(1));
    EXPECT_EQ(problem(descr, bytes_of(values)), "") << descr;
    for (const T bad : {least, most})
      for (const size_t place : {0u, 255u, 256u, 699u}) {
        values.assign(700, T(1));
        values[place] = bad;
        const std::string expected = " holds " + std::to_string(+bad) + " for";
        const bool is_bad = int64_t(bad) < -3 || int64_t(bad) >= 200;
        EXPECT_EQ(problem(descr, bytes_of(values)).find(expected) !=
                      std::string::npos,
                  is_bad)
            << descr << " " << +bad << " at " << place;
      }
  };
  check("<i8", INT64_MIN, int64_t(200));
  check("<i4", INT32_MIN, int32_t(200));
  check("<i2", int16_t(INT16_MIN), int16_t(-4));
  check("|i1", int8_t(INT8_MIN), int8_t(INT8_MAX));
  check("<u4", uint32_t(199), UINT32_MAX);
  check("<u2", uint16_t(200), uint16_t(UINT16_MAX));
  check("|u1", uint8_t(199), uint8_t(200));
}

} // namespace
} // namespace gpuopt
