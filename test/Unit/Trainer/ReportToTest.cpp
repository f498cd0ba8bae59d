// What --report-to tensorboard writes, read by the format's own rules; and what
// a run shows of its progress.
#include "TrainerFixture.h"

namespace gpuopt {

using ReportToTest = TrainerTest;

TEST(Crc32c, IsThatOfTheStandard) {
  // RFC 3720, B.4, and the check value of the catalogue of CRCs.
  const std::string digits = "123456789";
  EXPECT_EQ(crc32c(reinterpret_cast<const uint8_t *>(digits.data()), 9),
            0xe3069283u);
  const std::vector<uint8_t> zeros(32, 0), ones(32, 0xff);
  EXPECT_EQ(crc32c(zeros.data(), 32), 0x8a9136aau);
  EXPECT_EQ(crc32c(ones.data(), 32), 0x62a8ab43u);
}

// Reads numbers of a message by protobuf's wire format.
struct WireReader {
  std::string_view rest;

  uint64_t varint() {
    uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      const auto byte = uint8_t(rest.at(0));
      rest.remove_prefix(1);
      value |= uint64_t(byte & 127) << shift;
      if (byte < 128)
        return value;
    }
  }
  std::string_view take(size_t size) {
    const std::string_view taken = rest.substr(0, size);
    rest.remove_prefix(size);
    return taken;
  }
  // Calls `on(field, value)` for each field; numbers are bytes as well.
  template <class F>
  void each(F on) {
    while (!rest.empty()) {
      const uint64_t key = varint();
      switch (key & 7) {
      case 0: {
        const uint64_t value = varint();
        on(key >> 3, std::string_view(reinterpret_cast<const char *>(&value),
                                      sizeof value));
        break;
      }
      case 1:
        on(key >> 3, take(8));
        break;
      case 2: {
        const uint64_t size = varint();
        on(key >> 3, take(size));
        break;
      }
      default:
        on(key >> 3, take(4));
      }
    }
  }
};

struct ReadEvent {
  int64_t step = 0;
  std::string version;
  bool restarts = false;
  std::map<std::string, float> scalars;
};

template <class T>
T number_of(std::string_view bytes) {
  T value;
  memcpy(&value, bytes.data(), sizeof value);
  return value;
}

// Reads all records of a file, with their checksums.
static std::vector<ReadEvent> read_events(const std::filesystem::path &path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  std::vector<ReadEvent> events;
  auto expect_checksum = [](std::string_view data, std::string_view stored) {
    const uint32_t masked = number_of<uint32_t>(stored) - 0xa282ead8;
    EXPECT_EQ(
        masked >> 17 | masked << 15,
        crc32c(reinterpret_cast<const uint8_t *>(data.data()), data.size()));
  };
  for (WireReader reader{text}; !reader.rest.empty();) {
    const std::string_view size = reader.take(8);
    expect_checksum(size, reader.take(4));
    const std::string_view message = reader.take(number_of<uint64_t>(size));
    expect_checksum(message, reader.take(4));
    ReadEvent event;
    WireReader{message}.each([&](uint64_t field, std::string_view value) {
      if (field == 2)
        event.step = number_of<int64_t>(value);
      else if (field == 3)
        event.version = value;
      else if (field == 5)
        WireReader{value}.each([&](uint64_t, std::string_view one) {
          std::string tag;
          WireReader{one}.each([&](uint64_t member, std::string_view inner) {
            if (member == 1)
              tag = inner;
            else if (member == 2)
              event.scalars[tag] = number_of<float>(inner);
          });
        });
      else if (field == 7)
        event.restarts = true;
    });
    events.push_back(event);
  }
  return events;
}

static std::vector<std::filesystem::path>
files_in(const std::filesystem::path &folder) {
  std::vector<std::filesystem::path> files;
  for (const auto &entry : std::filesystem::directory_iterator(folder))
    files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

TEST_F(ReportToTest, WritesWhatMetricsHave) {
  ASSERT_EQ(run("out", {"--max-steps", "6", "--report-to", "tensorboard",
                        "--eval-data", "x=" + folder / "x.npy", "--eval-labels",
                        folder / "labels.npy", "--eval-steps", "3"}),
            0);
  const auto files = files_in(folder / "out/tensorboard");
  ASSERT_EQ(files.size(), 1u);
  EXPECT_EQ(files[0].filename().string().rfind("events.out.tfevents.", 0), 0u);
  const std::vector<ReadEvent> events = read_events(files[0]);
  ASSERT_EQ(events.size(), 2u + 6u + 2u);
  EXPECT_EQ(events[0].version, "brain.Event:2");
  // Readers forget an earlier run with the same folder.
  EXPECT_TRUE(events[1].restarts);
  EXPECT_EQ(events[1].step, 1);
  const std::vector<double> losses = numbers("out", "loss"),
                            evals = numbers("out", "eval_loss"),
                            rates = numbers("out", "learning_rate");
  size_t step = 0, eval = 0;
  for (size_t i = 2; i < events.size(); i++) {
    const auto &scalars = events[i].scalars;
    if (scalars.count("eval/loss")) {
      EXPECT_EQ(scalars.at("eval/loss"), float(evals.at(eval++)));
      continue;
    }
    EXPECT_EQ(events[i].step, int64_t(step + 1));
    EXPECT_EQ(scalars.at("train/loss"), float(losses.at(step)));
    EXPECT_FLOAT_EQ(scalars.at("train/learning_rate"), float(rates.at(step)));
    EXPECT_GT(scalars.at("train/samples_per_second"), 0);
    step++;
  }
  EXPECT_EQ(step, 6u);
  EXPECT_EQ(eval, 2u);
}

TEST_F(ReportToTest, WritesEveryLoggingSteps) {
  ASSERT_EQ(run("out", {"--max-steps", "7", "--logging-steps", "3",
                        "--report-to", "tensorboard"}),
            0);
  std::vector<int64_t> steps;
  for (const ReadEvent &event :
       read_events(files_in(folder / "out/tensorboard").at(0)))
    if (!event.scalars.empty())
      steps.push_back(event.step);
  EXPECT_EQ(steps, (std::vector<int64_t>{3, 6, 7}));
}

TEST_F(ReportToTest, TellsWhereAResumedRunGoesOn) {
  const std::vector<std::string> flags = {
      "--report-to", "tensorboard", "--save-steps", "2", "--max-steps", "4"};
  ASSERT_EQ(run("out", flags), 0) << error;
  std::filesystem::remove_all(folder / "out/checkpoint-4");
  const auto before = files_in(folder / "out/tensorboard");
  std::vector<std::string> again = flags;
  again.insert(again.end(), {"--resume", "auto"});
  // The name of a file has the second.
  std::filesystem::rename(before[0], before[0].string() + ".first");
  ASSERT_EQ(run("out", again), 0) << error;
  const auto files = files_in(folder / "out/tensorboard");
  ASSERT_EQ(files.size(), 2u);
  for (const auto &file : files)
    if (file != before[0].string() + ".first") {
      const std::vector<ReadEvent> events = read_events(file);
      ASSERT_EQ(events.size(), 4u);
      EXPECT_TRUE(events[1].restarts);
      EXPECT_EQ(events[1].step, 3);
      EXPECT_EQ(events[2].step, 3);
    }
}

TEST_F(ReportToTest, RefusesAFolderThatCannotBe) {
  overwrites = true;
  ASSERT_EQ(run("out", {"--max-steps", "1"}), 0);
  std::ofstream(folder / "out/tensorboard") << "a file";
  EXPECT_EQ(run("out", {"--max-steps", "1", "--report-to", "tensorboard"}), 1);
  EXPECT_NE(error.find("cannot write '"), std::string::npos) << error;
  EXPECT_EQ(run("out", {"--report-to", "wandb"}), 1);
  EXPECT_NE(error.find("'--report-to' must be none or tensorboard"),
            std::string::npos)
      << error;
}

// A record that does not fit on the disk is left out as a whole.
TEST_F(ReportToTest, GoesOnWhenTheDiskIsFull) {
  std::filesystem::create_directories(folder / "out");
  testing::internal::CaptureStderr();
  {
    EventFile file(folder / "out", 0);
    const auto path = files_in(folder / "out/tensorboard").at(0);
    // What is told goes to a file as well, which the limit must leave room for.
    for (int i = 0; i < 20; i++)
      file.add(1, {{"a", 1}});
    limit_files_to(std::filesystem::file_size(path) + 20);
    file.add(2, {{"a", 2}});
    file.add(3, {{"a", 3}});
    limit_files_to(RLIM_INFINITY);
    file.add(4, {{"a", 4}});
  }
  const std::string told = testing::internal::GetCapturedStderr();
  EXPECT_NE(told.find("' lacks steps, and training goes on: File too large\n"),
            std::string::npos)
      << told;
  EXPECT_EQ(told.find("lacks", told.find("lacks") + 1), std::string::npos);
  const std::vector<ReadEvent> events =
      read_events(files_in(folder / "out/tensorboard").at(0));
  ASSERT_EQ(events.size(), 23u);
  EXPECT_EQ(events[21].scalars.at("a"), 1);
  EXPECT_EQ(events[22].scalars.at("a"), 4);
}

//===----------------------------------------------------------------------===//
// Progress
//===----------------------------------------------------------------------===//

static StepProgress half_way() {
  return {50,
          100,
          50,
          3.25,
          8,
          2,
          100,
          5,
          16,
          false,
          size_t(3) << 20,
          "",
          /*first_elapsed=*/0,
          /*recent_ms=*/100};
}

TEST(Progress, IsALineWithoutATerminal) {
  EXPECT_EQ(progress_line(half_way()),
            "step 50/100  loss 3.2500  160 samples/s  100.0 ms  0:05 left");
}

TEST(Progress, LeavesTheFirstStepOutOfTheTimeLeft) {
  StepProgress now = half_way();
  now.step = now.done = 1;
  EXPECT_EQ(progress_line(now),
            "step 1/100  loss 3.2500  160 samples/s  100.0 ms");
  EXPECT_EQ(progress_bar(now, 120).find("left"), std::string::npos);
  now.steps = 1;
  EXPECT_EQ(progress_line(now),
            "step 1/1  loss 3.2500  160 samples/s  100.0 ms  0:00 left");
  testing::internal::CaptureStdout();
  Progress progress(/*every=*/1);
  now = half_way();
  now.step = now.done = 1;
  now.ms = 50e3;
  now.elapsed = 50;
  progress.show(now);
  now.step = now.done = 11;
  now.ms = 100;
  now.elapsed = 51;
  progress.show(now);
  const std::string told = testing::internal::GetCapturedStdout();
  EXPECT_NE(told.find("step 11/100  loss 3.2500  160 samples/s  100.0 ms  "
                      "0:08 left"),
            std::string::npos)
      << told;
}

TEST(Progress, TellsTheRateOfRecentSteps) {
  RecentStepTime recent;
  EXPECT_EQ(recent.mean_ms(), 0);
  recent.add(5000);
  EXPECT_EQ(recent.mean_ms(), 5000);
  recent.add(100); // the first one no longer counts
  EXPECT_EQ(recent.mean_ms(), 100);
  for (int i = 0; i < 10000; i++)
    recent.add(100);
  EXPECT_NEAR(recent.mean_ms(), 100, 1e-6);
  recent.add(500); // one step of a hundred recent ones
  EXPECT_NEAR(recent.mean_ms(), 104, 1);
  for (int i = 0; i < 400; i++) // 80 seconds
    recent.add(200);
  EXPECT_NEAR(recent.mean_ms(), 200, 2);
  recent.add(60e3); // longer than the span: one of three steps
  EXPECT_NEAR(recent.mean_ms(), (2 * 200 + 60e3) / 3, 2);
}

TEST(Progress, TakesRecentStepsForTheTimeLeft) {
  testing::internal::CaptureStdout();
  {
    Progress progress(/*every=*/200);
    StepProgress now = half_way();
    now.steps = 400;
    now.elapsed = 0;
    for (now.step = now.done = 1; now.step <= 200; now.step++, now.done++) {
      now.ms = now.step <= 100 ? 1000 : 500;
      now.elapsed += now.ms / 1000 + 0.1; // of a validation
      now.mean_ms = now.step <= 100 ? 1000 : 750;
      progress.show(now);
    }
  }
  // 200 steps of 0.5 + 0.1 s
  EXPECT_EQ(testing::internal::GetCapturedStdout(),
            "step 200/400  loss 3.2500  32 samples/s  501.7 ms  2:00 left\n");
}

TEST(Progress, DoesNotRoundFewOrShortToNothing) {
  StepProgress now = half_way();
  now.ms = 1; // of this step; the line has the recent mean, as the rate does
  now.recent_ms = now.mean_ms = 40000;
  now.elapsed = 7384;
  EXPECT_EQ(
      progress_line(now),
      "step 50/100  loss 3.2500  0.40 samples/s  40000.0 ms  2:05:34 left");
  now.recent_ms = now.mean_ms = 0.04;
  now.loss = 1.23456e-5;
  EXPECT_EQ(progress_line(now), "step 50/100  loss 1.235e-05  400000 samples/s "
                                " 0.04 ms  2:05:34 left");
  EXPECT_NE(progress_bar(now, 120).find("  loss 1.235e-05  "),
            std::string::npos);
  EXPECT_EQ(text_of({{"aux_loss", 2e-7}}), "  aux_loss 2e-07");
  for (const auto &[loss, text] :
       std::vector<std::pair<double, std::string>>{{0, "0.0000"},
                                                   {0.0012345, "0.0012"},
                                                   {-0.00098765, "-0.0009877"},
                                                   {12.5, "12.5000"},
                                                   {999999.5, "999999.5000"},
                                                   {-1.5e6, "-1.5e+06"},
                                                   {1.234567e22, "1.23457e+22"},
                                                   {INFINITY, "inf"},
                                                   {-NAN, "nan"}})
    EXPECT_EQ(loss_text(loss), text);
}

// Returns the steps that have a line in a run that begins after `begun_at`.
static std::vector<int64_t> steps_told(int64_t every, int64_t steps,
                                       int64_t begun_at = 0) {
  const Progress progress(every);
  std::vector<int64_t> told;
  StepProgress now;
  now.steps = steps;
  for (now.step = begun_at + 1; now.step <= steps; now.step++) {
    now.done = now.step - begun_at;
    if (progress.is_due(now))
      told.push_back(now.step);
  }
  return told;
}

TEST(Progress, IsSparingInLongRuns) {
  EXPECT_EQ(steps_told(kAuto, 20).size(), 20u);
  EXPECT_EQ(steps_told(kAuto, 32).size(), 17u); // 1, 2, 4, ..., 32
  EXPECT_EQ(steps_told(kAuto, 41),
            (std::vector<int64_t>{1, 5, 10, 15, 20, 25, 30, 35, 40, 41}));
  const std::vector<int64_t> long_run = steps_told(kAuto, 1000);
  EXPECT_EQ(long_run.size(), 21u);
  EXPECT_EQ((std::vector<int64_t>(long_run.begin(), long_run.begin() + 3)),
            (std::vector<int64_t>{1, 50, 100}));
  for (int64_t steps = 11; steps <= 10000; steps += 1 + steps / 20) {
    const std::vector<int64_t> told = steps_told(kAuto, steps);
    EXPECT_TRUE(told.size() >= 10 && told.size() <= 21) << steps;
    EXPECT_TRUE(told.front() == 1 && told.back() == steps) << steps;
  }
  EXPECT_EQ(steps_told(kAuto, 1000, /*begun_at=*/930),
            (std::vector<int64_t>{931, 950, 1000}));
  EXPECT_EQ(steps_told(kAuto, 100000).size(), 201u);
  EXPECT_EQ(steps_told(/*every=*/4, 10), (std::vector<int64_t>{4, 8, 10}));
  EXPECT_TRUE(steps_told(/*every=*/0, 10).empty());
}

// Returns how many characters a text in UTF-8 has.
static int characters(const std::string &text) {
  return int(std::count_if(text.begin(), text.end(),
                           [](char c) { return (c & 0xc0) != 0x80; }));
}

TEST(Progress, FitsTheTerminal) {
  EXPECT_EQ(progress_bar(half_way(), 120),
            " 50% "
            "\u2501\u2501\u2501\u2501\u2501\u2501\u2501\u2501\u2501\u2501\u2501"
            "\u2501\u2501\u2501\u2501\u2500\u2500\u2500\u2500\u2500\u2500\u2500"
            "\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500"
            "  50/100  loss 3.2500  160 samples/s  0:05 left  100.0 ms (data "
            "25%)  3.00 MiB");
  for (int columns = 20; columns < 150; columns++)
    EXPECT_LE(characters(progress_bar(half_way(), columns)), columns);
  StepProgress end = half_way();
  end.step = end.steps;
  EXPECT_EQ(progress_bar(end, 200).find("\u2500"), std::string::npos);
  EXPECT_EQ(detail::clock_text(7429), "2:03:49");
}

} // namespace gpuopt
