// Disks that fail while a trainer writes: what is kept, what is said, and how
// the run ends.

#include "TrainerFixture.h"

#include <csignal>
#include <sys/resource.h>
#include <sys/syscall.h>

namespace gpuopt {
namespace {

// The calls of the system that fail, with this errno; 0: none.
struct Failures {
  int sync = 0, exchange = 0, truncate = 0;
  // Parts of those that cannot be synced; $ stands for the end of a path.
  std::vector<std::string> paths;
} failures;

bool cannot_be_synced(int file) {
  std::error_code code;
  std::string path = std::filesystem::read_symlink(
      "/proc/self/fd/" + std::to_string(file), code);
  path += '$';
  return failures.sync != 0 &&
         std::any_of(failures.paths.begin(), failures.paths.end(),
                     [&](const std::string &part) {
                       return path.find(part) != std::string::npos;
                     });
}

} // namespace
} // namespace gpuopt

// These replace the C library's in this executable.
extern "C" int fsync(int file) {
  if (!gpuopt::cannot_be_synced(file))
    return int(syscall(SYS_fsync, file));
  errno = gpuopt::failures.sync;
  return -1;
}
extern "C" int renameat2(int from_folder, const char *from, int to_folder,
                         const char *to, unsigned flags) noexcept {
  if (gpuopt::failures.exchange == 0)
    return int(syscall(SYS_renameat2, from_folder, from, to_folder, to, flags));
  errno = gpuopt::failures.exchange;
  return -1;
}
extern "C" int ftruncate(int file, off_t bytes) noexcept {
  if (gpuopt::failures.truncate == 0)
    return int(syscall(SYS_ftruncate, file, bytes));
  errno = gpuopt::failures.truncate;
  return -1;
}

namespace gpuopt {
namespace {

struct DiskFailureTest : TrainerTest {
  ~DiskFailureTest() override { failures = {}; }

  std::vector<int64_t> steps_in(const std::string &out) {
    std::vector<int64_t> steps;
    for (const CheckpointFolder &each : checkpoints_in(folder / out))
      steps.push_back(each.step);
    return steps;
  }
  bool is_told(const std::string &text) const {
    return error.find(text) != std::string::npos;
  }
  // Sends a signal during an update.
  template <int64_t kStep>
  void interrupt_in() {
    program.update = [](Context &ctx, char *memory) {
      tiny::update(ctx, memory);
      if (tiny::at<StepState>(memory, tiny::kOffState)->step == kStep)
        raise(SIGINT);
    };
  }
};
using Steps = std::vector<int64_t>;

TEST_F(DiskFailureTest, AFileSystemThatCannotSyncIsNoFailure) {
  failures.sync = EINVAL;
  failures.paths = {"/"};
  ASSERT_EQ(run("a", {"--max-steps=2", "--save-steps=1"}), 0) << error;
  EXPECT_EQ(error, "");
  EXPECT_EQ(steps_in("a"), (Steps{1, 2}));
  failures.sync = EIO;
  failures.paths = {"checkpoint-1"};
  ASSERT_EQ(run("b", {"--max-steps=2", "--save-steps=1"}), 0) << error;
  EXPECT_TRUE(is_told("step 1: no checkpoint is written, and training goes on: "
                      "cannot write '"))
      << error;
  EXPECT_EQ(steps_in("b"), Steps{2});
  // Neither the folder nor the lines are left out.
  failures.paths = {"metrics.jsonl"};
  ASSERT_EQ(run("c", {"--max-steps=2", "--save-steps=1"}), 0) << error;
  EXPECT_TRUE(is_told("step 1: no checkpoint is written, and training goes on: "
                      "cannot write '" +
                      folder / "c/metrics.jsonl'"))
      << error;
  EXPECT_TRUE(is_told("\nwarning: cannot write '")) << error;
}

TEST_F(DiskFailureTest, WaitsForTheFolderOfTheWeights) {
  failures.sync = EIO;
  std::filesystem::create_directories(folder / "a/of-weights");
  failures.paths = {"of-weights$"};
  AtomicFile file(folder / "a/of-weights/file");
  EXPECT_THROW(file.commit(), Error);
  failures.paths = {"of-weights/file"};
  AtomicFile second(folder / "a/of-weights/file");
  EXPECT_THROW(second.commit(), Error);
  failures = {};
  AtomicFile third(folder / "a/of-weights/file");
  third.commit();
}

// Losses of validation fall from step to step. The checkpoints of the second
// and the third one cannot be written, so the first one stays the best.
TEST_F(DiskFailureTest, FailuresInARowKeepTheBest) {
  failures.sync = EIO;
  failures.paths = {"checkpoint-4", "checkpoint-6"};
  interrupt_in<7>();
  ASSERT_EQ(run("a", {"--max-steps=30", "--learning-rate=0.05",
                      "--eval-steps=2", "--save-best", "--save-total-limit=1",
                      "--eval-data", "x=" + folder / "x.npy", "--eval-labels",
                      folder / "labels.npy"}),
            0)
      << error;
  const auto losses = numbers("a", "eval_loss");
  ASSERT_EQ(losses.size(), 3u);
  ASSERT_TRUE(losses[0] > losses[1] && losses[1] > losses[2]);
  EXPECT_TRUE(is_told("step 4: no checkpoint is written")) << error;
  EXPECT_TRUE(is_told("step 6: no checkpoint is written")) << error;
  EXPECT_EQ(steps_in("a"), (Steps{2, 7}));
  const RunState state =
      read_run_state(folder / "a/checkpoint-7/trainer_state.json");
  EXPECT_EQ(state.best_step, 2);
  EXPECT_EQ(state.best_metric, losses[0]);
}

TEST_F(DiskFailureTest, AnInterruptWithoutACheckpointIsAnError) {
  failures.sync = EIO;
  failures.paths = {"checkpoint-3"};
  interrupt_in<3>();
  EXPECT_EQ(run("a", {"--max-steps=9", "--save-steps=2"}), 1);
  EXPECT_TRUE(is_told("tiny: error: the run is interrupted after step 3, of "
                      "which no checkpoint is written: it cannot go on from "
                      "there\n"))
      << error;
  EXPECT_EQ(output.find("--resume"), std::string::npos) << output;
  EXPECT_EQ(steps_in("a"), Steps{2});
}

// The earlier course has a checkpoint of the same step.
TEST_F(DiskFailureTest, ACheckpointIsReplacedOrStays) {
  ASSERT_EQ(run("a", {"--max-steps=4", "--save-steps=1"}), 0) << error;
  const std::string third = read_file(folder / "a/checkpoint-3/checksums.txt");
  const std::vector<std::string> again = {
      "--max-steps=3", "--save-steps=1", "--learning-rate=0.5",
      "--resume=" + folder / "a/checkpoint-2"};
  failures.exchange = EIO;
  ASSERT_EQ(run("a", again), 0) << error;
  EXPECT_TRUE(is_told("step 3: no checkpoint is written, and training goes on: "
                      "cannot replace '"))
      << error;
  EXPECT_EQ(read_file(folder / "a/checkpoint-3/checksums.txt"), third);
  check_whole(folder / "a/checkpoint-3");
  failures.exchange = EINVAL; // as on file systems of networks
  ASSERT_EQ(run("a", again), 0) << error;
  EXPECT_NE(read_file(folder / "a/checkpoint-3/checksums.txt"), third);
  check_whole(folder / "a/checkpoint-3");
}

TEST_F(DiskFailureTest, LinesAreWholeThoughNothingCanBeCutOff) {
  std::string expected;
  testing::internal::CaptureStderr();
  {
    Metrics metrics(folder.path, false);
    // What is told goes to a file as well, which the limit must leave room for.
    for (int i = 0; i < 8; i++)
      metrics.evaluation(1, 0.5, {});
    expected = read_file(folder / "metrics.jsonl");
    limit_files_to(expected.size() + 60);
    failures.truncate = EIO;
    metrics.step(2, 0.25, {}, {}, 1, 2, 3); // a part of it fits
    metrics.evaluation(2, 0.5, {});         // the part is in its way
    limit_files_to(RLIM_INFINITY);
    EXPECT_EQ(read_file(folder / "metrics.jsonl").size(), expected.size() + 60);
    failures.truncate = 0;
    metrics.evaluation(3, 0.5, {});
  }
  // A part of a line is no error of the write that left the rest out.
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "warning: '" + folder / "metrics.jsonl" +
                "' lacks steps, and training goes on: File too large\n");
  EXPECT_EQ(read_file(folder / "metrics.jsonl"),
            expected + "{\"step\": 3, \"eval_loss\": 0.5}\n");
}

// The signal comes with a write beyond `ulimit -f`, and ends a process that
// does nothing about it.
TEST_F(DiskFailureTest, AFileThatGrowsBeyondItsLimitEndsNothing) {
  std::signal(SIGXFSZ, SIG_DFL);
  program.update = [](Context &ctx, char *memory) {
    tiny::update(ctx, memory);
    raise(SIGXFSZ);
  };
  EXPECT_EQ(run("a", {"--max-steps=2"}), 0) << error;
  EXPECT_TRUE(std::filesystem::exists(folder / "a/model.safetensors"));
}

TEST_F(DiskFailureTest, AnInterruptOfTheLastStepEndsNothing) {
  interrupt_in<3>();
  const std::vector<std::string> flags = {
      "--max-steps=3", "--eval-data", "x=" + folder / "x.npy", "--eval-labels",
      folder / "labels.npy"};
  ASSERT_EQ(run("a", flags), 0) << error;
  EXPECT_EQ(detail::interrupted, 1);
  EXPECT_EQ(numbers("a", "eval_loss").size(), 1u);
  EXPECT_EQ(output.find("interrupted"), std::string::npos) << output;
}

// The folder has a later checkpoint, which auto would take.
TEST_F(DiskFailureTest, AnInterruptPromisesNoOtherCheckpoint) {
  ASSERT_EQ(run("a", {"--max-steps=4", "--save-steps=1"}), 0) << error;
  auto from = [&](const std::string &checkpoint) {
    detail::interrupted = 1;
    return run("a", {"--max-steps=5", "--resume", folder / checkpoint});
  };
  ASSERT_EQ(from("a/checkpoint-2"), 0) << error;
  EXPECT_NE(output.find("interrupted: ends after step 2 of 5\n"),
            std::string::npos)
      << output;
  ASSERT_EQ(from("a/checkpoint-4"), 0) << error;
  EXPECT_NE(output.find("ends after step 4 of 5; --resume=auto goes on from '" +
                        folder / "a/checkpoint-4'"),
            std::string::npos)
      << output;
}

TEST_F(DiskFailureTest, EveryNumberOfARunIsReadAgain) {
  RunState run;
  run.max_steps = INT64_MAX;
  const std::string file = folder / "state.json";
  write_file(file, json_of(run));
  EXPECT_EQ(read_run_state(file).max_steps, INT64_MAX);
  write_file(file, "{\"max_steps\": 9223372036854775808}");
  EXPECT_THROW(read_run_state(file), Error);
}

} // namespace
} // namespace gpuopt
