// Checkpoints: what is in them, when they are written and removed, and what
// happens where that fails.

#include "TrainerFixture.h"

#include <csignal>
#include <sys/resource.h>

namespace gpuopt {
namespace {

struct CheckpointTest : TrainerTest {
  // Returns the names in a folder of the test, in order.
  std::vector<std::string> names_in(const std::string &name) {
    std::vector<std::string> names;
    for (const auto &entry : std::filesystem::directory_iterator(folder / name))
      names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
  }
  // Returns the steps of the checkpoints in a folder.
  std::vector<int64_t> steps_in(const std::string &out) {
    std::vector<int64_t> steps;
    for (const CheckpointFolder &each : checkpoints_in(folder / out))
      steps.push_back(each.step);
    return steps;
  }
};
using Steps = std::vector<int64_t>;

uint32_t crc32_by_bits(const std::string &text) {
  uint32_t rest = ~uint32_t(0);
  for (const char c : text)
    for (int bit = 0; bit < 8; bit++) {
      const bool is_odd = ((rest ^ uint32_t(uint8_t(c)) >> bit) & 1) != 0;
      rest = rest >> 1 ^ (is_odd ? 0xedb88320 : 0);
    }
  return ~rest;
}

TEST(Checksum, IsThatOfZlib) {
  std::string text = "123456789";
  auto checksum = [&] {
    return crc32(reinterpret_cast<const uint8_t *>(text.data()), text.size());
  };
  EXPECT_EQ(checksum(), 0xcbf43926u);
  for (text.clear(); text.size() < 40; text += char(text.size() * 37))
    EXPECT_EQ(checksum(), crc32_by_bits(text)) << text.size() << " bytes";
}

TEST_F(CheckpointTest, WeightsTellTheirGraphAndStep) {
  auto metadata_of = [&](const std::string &name) {
    const MappedFile file(folder / name);
    std::map<std::string, std::string> metadata;
    read_safetensors(file, &metadata);
    return metadata;
  };
  using Metadata = std::map<std::string, std::string>;
  ASSERT_EQ(run("a", {"--max-steps=1"}), 0) << error;
  EXPECT_EQ(metadata_of("a/model.safetensors"),
            (Metadata{{"format", "pt"}, {"global_step", "1"}}));
  program.graph = "00ff";
  ASSERT_EQ(run("b", {"--max-steps=1", "--save-steps=1", "--ema-decay=0.9"}), 0)
      << error;
  const Metadata expected{
      {"format", "pt"}, {"global_step", "1"}, {"gpuopt_graph", "00ff"}};
  for (const char *name :
       {"b/model.safetensors", "b/ema.safetensors",
        "b/checkpoint-1/model.safetensors", "b/checkpoint-1/ema.safetensors"})
    EXPECT_EQ(metadata_of(name), expected) << name;
}

TEST_F(CheckpointTest, HasWhatTheRunNeeds) {
  program.accumulation_steps = 3;
  ASSERT_EQ(run("a", {"--max-steps=7", "--save-steps=3", "--adam-beta2=0.5"}),
            0)
      << error;
  EXPECT_EQ(steps_in("a"), (Steps{3, 6, 7})) << "the last step has one, too";
  EXPECT_EQ(numbers("a", "checkpoint_stall_ms").size(), 3u);
  EXPECT_EQ(names_in("a/checkpoint-7"),
            (std::vector<std::string>{"checksums.txt", "model.safetensors",
                                      "optimizer.safetensors",
                                      "trainer_state.json"}));
  check_whole(folder / "a/checkpoint-7");

  const MappedFile weights(folder / "a/checkpoint-7/model.safetensors"),
      last(folder / "a/model.safetensors"),
      states(folder / "a/checkpoint-7/optimizer.safetensors");
  const auto saved = read_safetensors(weights), kept = read_safetensors(states);
  EXPECT_EQ(memcmp(saved.at("tied.weight").data,
                   read_safetensors(last).at("weight").data, 48),
            0);
  ASSERT_EQ(kept.size(), 2u);
  EXPECT_EQ(kept.at("weight.m").shape, (std::vector<int64_t>{4, 3}));

  const RunState state =
      read_run_state(folder / "a/checkpoint-7/trainer_state.json");
  EXPECT_EQ(state.step, 7);
  EXPECT_EQ(state.max_steps, 7);
  EXPECT_EQ(state.batches, 21);
  EXPECT_EQ(state.updates, 7);
  EXPECT_DOUBLE_EQ(state.epoch, 21. / 8);
  EXPECT_EQ(state.samples, 64);
  EXPECT_EQ(state.optimizer, "adamw");
  EXPECT_EQ(state.settings.at("adam-beta2"), "0.5");
  EXPECT_EQ(state.settings.at("shuffle"), "true");
  EXPECT_FALSE(state.settings.count("momentum")) << "it is of other programs";
}

TEST_F(CheckpointTest, KeepsAsManyAsTheLimitSays) {
  ASSERT_EQ(
      run("a", {"--max-steps=9", "--save-steps=2", "--save-total-limit=2"}), 0)
      << error;
  EXPECT_EQ(steps_in("a"), (Steps{8, 9}));
  ASSERT_EQ(run("b", {"--max-steps=9", "--save-steps=2"}), 0) << error;
  EXPECT_EQ(steps_in("b"), (Steps{2, 4, 6, 8, 9}));
}

// Training data and validation data contradict each other, so that the loss of
// the latter falls and then rises.
struct BestCheckpointTest : CheckpointTest {
  BestCheckpointTest() {
    for (size_t i = 0; i < labels.size(); i += 2)
      labels[i] = uint8_t((labels[i] + 1) % 3);
    write_file(folder / "eval.npy", npy("|u1", "(64,)", bytes_of(labels)));
  }
  std::vector<std::string> flags(std::vector<std::string> more) {
    more.insert(more.end(),
                {"--max-steps=30", "--learning-rate=0.05", "--eval-steps=2",
                 "--eval-data", "x=" + folder / "x.npy", "--eval-labels",
                 folder / "eval.npy"});
    return more;
  }
  static std::string four_digits(double number) {
    char text[40];
    snprintf(text, sizeof text, "%.4f", number);
    return text;
  }
  // Returns the step after which the loss of validation was the lowest.
  int64_t best_step(const std::string &out) {
    const auto losses = numbers(out, "eval_loss");
    return 2 * (std::min_element(losses.begin(), losses.end()) -
                losses.begin() + 1);
  }
};

TEST_F(BestCheckpointTest, IsKeptBesideTheLast) {
  ASSERT_EQ(run("a", flags({"--save-steps=3", "--save-total-limit=1",
                            "--save-best"})),
            0)
      << error;
  const int64_t best = best_step("a");
  ASSERT_GT(best, 2);
  ASSERT_LT(best, 28) << "the test is of a loss that rises again";
  EXPECT_EQ(steps_in("a"), (Steps{best, 30}));
  const RunState state =
      read_run_state(folder / "a/checkpoint-30/trainer_state.json");
  EXPECT_EQ(state.best_step, best);
  EXPECT_EQ(state.best_metric, numbers("a", "eval_loss")[size_t(best / 2 - 1)]);
  EXPECT_NEAR(loss_of("a/checkpoint-" + std::to_string(best), 64),
              state.best_metric, 1e-6);
  const std::string line = "best validation: loss " +
                           four_digits(state.best_metric) + " after step " +
                           std::to_string(best);
  EXPECT_NE(output.find(line + ", checkpoint '" + folder / "a" +
                        "/checkpoint-" + std::to_string(best) + "'\n"),
            std::string::npos)
      << output;
  // The run is known to end there, and one that goes on from it elsewhere.
  ASSERT_EQ(run("b", flags({"--resume", folder / "a/checkpoint-30"})), 0);
  EXPECT_NE(output.find(line + ", checkpoint '" + folder / "a"),
            std::string::npos)
      << output;
}

TEST_F(BestCheckpointTest, OneThatIsNotKeptIsTold) {
  ASSERT_EQ(run("a", flags({})), 0) << error;
  EXPECT_NE(output.find(" after step " + std::to_string(best_step("a")) +
                        ", which has no checkpoint; --save-best keeps one\n"),
            std::string::npos)
      << output;
  std::vector<std::string> two_steps = flags({});
  two_steps.push_back("--max-steps=2");
  ASSERT_EQ(run("b", two_steps), 0) << error;
  EXPECT_NE(output.find(" after step 2, the last one\n"), std::string::npos)
      << output;
  ASSERT_EQ(run("c", {"--max-steps=2"}), 0) << error;
  EXPECT_EQ(output.find("best validation"), std::string::npos) << output;
}

// A run goes on from a checkpoint that has later ones of another course beside
// it.
TEST_F(BestCheckpointTest, ThoseOfAnotherRunAreNotNamed) {
  overwrites = true;
  ASSERT_EQ(run("a", flags({"--save-steps=2"})), 0) << error;
  const int64_t best = best_step("a");
  ASSERT_GT(best, 2);
  ASSERT_LT(best, 30) << "the test is of a loss that rises again";
  const std::string line = " after step " + std::to_string(best),
                    none = line + ", which has no checkpoint; --save-best "
                                  "keeps one\n",
                    name = "/checkpoint-" + std::to_string(best);
  const std::string from = folder / "a/checkpoint-2";
  std::filesystem::create_directories(folder / "c");
  std::filesystem::copy(folder / ("a" + name), folder / ("c" + name));
  for (const char *out : {"b", "a"}) {
    overwrites = out != std::string("a"); // which has what the run goes on from
    ASSERT_EQ(run(out, flags({"--resume", from})), 0) << error;
    EXPECT_NE(output.find(none), std::string::npos) << out << output;
  }
  overwrites = true;
  ASSERT_EQ(run("b", flags({"--resume", from, "--save-steps=2"})), 0) << error;
  EXPECT_NE(output.find(line + ", checkpoint '" + folder / "b" + name + "'\n"),
            std::string::npos)
      << output;
  // What lies in another folder is of no run before this one's first step.
  const std::string last = folder / "a/checkpoint-30";
  write_file(folder / "c/.gpuopt-results", "");
  ASSERT_EQ(run("c", flags({"--resume", last})), 0) << error;
  EXPECT_NE(output.find(none), std::string::npos) << output;
}

TEST_F(BestCheckpointTest, LiesBesideTheFirstHoweverItIsSpelled) {
  overwrites = true;
  ASSERT_EQ(run("a", flags({"--save-steps=2"})), 0) << error;
  const int64_t best = best_step("a");
  ASSERT_LT(best, 30) << "the test is of a loss that rises again";
  const std::string name = "checkpoint-" + std::to_string(best);
  const auto before = std::filesystem::current_path();
  auto expect_name = [&](const std::string &from, const std::string &found) {
    EXPECT_EQ(run("b", flags({"--resume", from})), 0) << error;
    EXPECT_NE(output.find(", checkpoint '" + found + "'\n"), std::string::npos)
        << from << ": " << output;
  };
  expect_name(folder / "a/checkpoint-30/", folder / "a/" + name);
  std::filesystem::current_path(folder / "a");
  expect_name("checkpoint-30", name);
  expect_name("checkpoint-30/", name);
  expect_name("./checkpoint-30", name);
  expect_name(name, name);
  std::filesystem::current_path(folder / "a/checkpoint-30");
  expect_name(".", "../" + name);
  std::filesystem::current_path(before);
}

TEST_F(BestCheckpointTest, RegularOnesStayWhenABetterComes) {
  ASSERT_EQ(run("a", flags({"--save-best", "--save-steps=2"})), 0) << error;
  EXPECT_EQ(steps_in("a").size(), 15u);
}

TEST_F(BestCheckpointTest, AResumedRunKnowsTheBest) {
  ASSERT_EQ(run("a", flags({"--save-best"})), 0) << error;
  const int64_t best = best_step("a");
  EXPECT_EQ(steps_in("a"), (Steps{best})) << "those before it are removed";
  const std::vector<std::string> again =
      flags({"--save-best", "--resume=auto", "--save-total-limit=1"});
  ASSERT_EQ(run("a", again), 0) << error;
  EXPECT_EQ(steps_in("a"), (Steps{best, 30})) << "worse ones are not written";
  EXPECT_EQ(best_step("a"), best);
}

// The best validation was before --save-best was given, and has a checkpoint.
TEST_F(BestCheckpointTest, OneOfSaveStepsIsKeptFromThenOn) {
  ASSERT_EQ(run("a", flags({"--save-steps=2"})), 0) << error;
  const int64_t best = best_step("a");
  ASSERT_LT(best, 28) << "the test is of a loss that rises again";
  std::vector<std::string> further =
      flags({"--save-best", "--resume=auto", "--save-total-limit=1"});
  further.push_back("--max-steps=34");
  ASSERT_EQ(run("a", further), 0) << error;
  EXPECT_EQ(steps_in("a"), (Steps{best, 34}));
  EXPECT_NE(output.find(" after step " + std::to_string(best) +
                        ", checkpoint '" + folder / "a/checkpoint-"),
            std::string::npos)
      << output;
  EXPECT_EQ(
      read_run_state(folder / "a/checkpoint-34/trainer_state.json").best_step,
      best);
}

// Losses fall in the first steps. What a checkpoint was written for counts, not
// the flags of the run that goes on.
TEST_F(BestCheckpointTest, OnlyThoseOfTheBestAloneGo) {
  auto until = [&](const char *steps, std::vector<std::string> more) {
    more = flags(std::move(more));
    more.push_back(std::string("--max-steps=") + steps);
    more.push_back("--lr-scheduler-type=constant");
    return more;
  };
  ASSERT_EQ(run("a", until("4", {"--save-best", "--save-steps=2"})), 0)
      << error;
  ASSERT_EQ(run("a", until("6", {"--save-best", "--resume=auto"})), 0) << error;
  ASSERT_EQ(best_step("a"), 6);
  EXPECT_EQ(steps_in("a"), (Steps{2, 4, 6}));
  ASSERT_EQ(run("a", until("8", {"--save-best", "--resume=auto"})), 0) << error;
  EXPECT_EQ(steps_in("a"), (Steps{2, 4, 6, 8}))
      << "--resume asks for one after the last step";

  ASSERT_EQ(run("b", until("4", {"--save-best"})), 0) << error;
  EXPECT_EQ(steps_in("b"), Steps{4});
  ASSERT_EQ(
      run("b", until("8", {"--save-best", "--save-steps=4", "--resume=auto"})),
      0)
      << error;
  EXPECT_EQ(steps_in("b"), Steps{8});
}

TEST_F(CheckpointTest, TheBestNeedsValidation) {
  EXPECT_EQ(run("a", {"--save-best"}), 1);
  EXPECT_EQ(error,
            "tiny: error: '--save-best' needs data to validate on: --eval-data "
            "and --eval-labels, or --eval-tokens\n");
}

TEST_F(CheckpointTest, ChangesNoWeight) {
  ASSERT_EQ(run("a", {"--max-steps=20"}), 0) << error;
  EXPECT_EQ(steps_in("a"), Steps{});
  ASSERT_EQ(run("b", {"--max-steps=20", "--save-steps=1"}), 0) << error;
  EXPECT_EQ(steps_in("b").size(), 20u);
  EXPECT_EQ(read_file(folder / "a/model.safetensors"),
            read_file(folder / "b/model.safetensors"));
}

std::string complaint_about(const std::string &checkpoint) {
  try {
    check_whole(checkpoint);
  } catch (const Error &error) {
    return error.what();
  }
  return "";
}

// Weights of a checkpoint are checked for themselves as well.
TEST_F(CheckpointTest, DamagedWeightsAreNoFirstWeights) {
  ASSERT_EQ(run("a", {"--max-steps=1", "--save-steps=1"}), 0) << error;
  const std::string checkpoint = folder / "a/checkpoint-1",
                    file = checkpoint + "/model.safetensors";
  ASSERT_EQ(run("b", {"--max-steps=1", "--init-from", file}), 0) << error;
  std::string bad = read_file(file);
  bad.back() = char(bad.back() ^ 1);
  write_file(file, bad);
  ASSERT_NE(run("c", {"--max-steps=1", "--init-from", file}), 0);
  EXPECT_NE(error.find("'" + checkpoint +
                       "' is damaged: 'model.safetensors' is not the file "
                       "that 'checksums.txt' lists"),
            std::string::npos)
      << error;
  // Elsewhere there is no list.
  write_file(folder / "model.safetensors", bad);
  EXPECT_EQ(
      run("d", {"--max-steps=1", "--init-from", folder / "model.safetensors"}),
      0)
      << error;
}

TEST_F(CheckpointTest, EveryBitIsChecked) {
  ASSERT_EQ(run("a", {"--max-steps=1", "--save-steps=1"}), 0) << error;
  const std::string checkpoint = folder / "a/checkpoint-1";
  for (const std::string &name : names_in("a/checkpoint-1")) {
    const std::string file = checkpoint + "/" + name, good = read_file(file);
    for (size_t at = 0; at < good.size(); at += 7) {
      std::string bad = good;
      bad[at] = char(bad[at] ^ 1 << at % 8);
      write_file(file, bad);
      const std::string complaint = complaint_about(checkpoint);
      ASSERT_NE(complaint.find(" is damaged: "), std::string::npos)
          << name << ", byte " << at;
      if (name != kChecksumsFile) {
        ASSERT_EQ(complaint,
                  "'" + checkpoint + "' is damaged: '" + name +
                      "' is not the file that 'checksums.txt' lists");
      }
    }
    write_file(file, good.substr(1));
    EXPECT_NE(complaint_about(checkpoint), "") << name;
    write_file(file, good + "\n");
    EXPECT_NE(complaint_about(checkpoint), "") << name;
    write_file(file, good);
  }
  EXPECT_EQ(complaint_about(checkpoint), "");
  const std::string marker = checkpoint + "/checksums.txt";
  write_file(marker, read_file(marker) + "00000000 0 more\n");
  EXPECT_EQ(complaint_about(checkpoint),
            "'" + marker +
                "' is damaged: it has more than the lines of the "
                "checkpoint's files");
  std::filesystem::remove(marker);
  EXPECT_EQ(complaint_about(checkpoint),
            "'" + checkpoint +
                "' is no whole checkpoint: it has no "
                "'checksums.txt', which is written last");
}

// A trainer that was killed while it wrote leaves such folders.
TEST_F(CheckpointTest, RemovesWhatIsUnfinished) {
  for (const char *name : {"a/checkpoint-5.part", "a/checkpoint-best.part"})
    std::filesystem::create_directories(folder / name);
  write_file(folder / "a/.gpuopt-results", "");
  ASSERT_EQ(run("a", {"--max-steps=1"}), 0) << error;
  EXPECT_EQ(names_in("a"),
            (std::vector<std::string>{".gpuopt-results", "checkpoint-best.part",
                                      "metrics.jsonl", "model.safetensors",
                                      "run.json"}));
}

TEST_F(CheckpointTest, OnlyOneTrainerWritesToAFolder) {
  {
    const OutputFolder other(folder / "a");
    EXPECT_EQ(run("a", {"--max-steps=1"}), 1);
    EXPECT_EQ(error, "tiny: error: another trainer writes to '--output-dir' '" +
                         folder / "a" +
                         "'; choose another folder or wait until it ends\n");
  }
  EXPECT_EQ(run("a", {"--max-steps=1"}), 0) << error;
}

TEST_F(CheckpointTest, NamesAFolderThatItCannotLock) {
  std::filesystem::create_directories(folder / "a/.gpuopt-results");
  EXPECT_EQ(run("a", {"--max-steps=1"}), 1);
  EXPECT_EQ(error, "tiny: error: cannot write to '--output-dir' '" +
                       folder / "a" + "': Is a directory\n");
}

TEST_F(CheckpointTest, ReadsThatTheNumberOfStepsIsNotKnown) {
  const std::string file = folder / "state.json";
  write_file(file, "{\"global_step\": 3, \"max_steps\": -1}");
  const RunState state = read_run_state(file);
  EXPECT_EQ(state.step, 3);
  EXPECT_EQ(state.max_steps, 0);
}

TEST_F(CheckpointTest, PrefersTheConstantsOfTheProgram) {
  for (const char *of : {"program/build", "weights"})
    std::filesystem::create_directories(folder / of);
  const std::string weights = folder / "weights/model.safetensors",
                    build = folder / "program/build",
                    own = folder / "program/constants.safetensors",
                    others = folder / "weights/constants.safetensors";
  write_file(others, "");
  EXPECT_EQ(constants_file(weights, build), others) << "it is the only one";
  write_file(own, "");
  EXPECT_EQ(constants_file(weights, build), own);
  EXPECT_EQ(constants_file("", build), own);
}

TEST_F(CheckpointTest, RefusesStatesOfOthers) {
  const std::string file = folder / "state.json";
  const std::string complaint =
      "'" + file + "' is not the state of a training run";
  for (const char *text :
       {"", "[]", "{\"global_step\": -1}", "{\"optimizer\": 1}",
        "{\"epoch\": x}", "{\"of a later version\": 1}", "{\"batches\": 1"}) {
    write_file(file, text);
    try {
      read_run_state(file);
      ADD_FAILURE() << text << " is taken";
    } catch (const Error &error) {
      EXPECT_EQ(error.what(), complaint) << text;
    }
  }
  Context ctx(1);
  Originals originals(program);
  WeightsFile weights(ctx, program, ctx.allocate(program.total_bytes),
                      originals);
  const float zeros[12] = {};
  write_safetensors(folder / "more", {{"weight", Type::F32, {4, 3}, zeros, 48},
                                      {"bias", Type::F32, {3}, zeros, 12}});
  weights.load(folder / "more", StateFile::Weights);
  try {
    weights.load(folder / "more", StateFile::Weights, /*exactly=*/true);
    ADD_FAILURE() << "it is taken";
  } catch (const Error &error) {
    EXPECT_EQ(error.what(), "'" + folder / "more" +
                                "' has 'bias', which the program does not "
                                "have");
  }
}

// A part of the third line fits on the disk.
TEST_F(CheckpointTest, AFullDiskDoesNotEndTheRun) {
  static std::string out;
  out = folder / "a";
  program.update = [](Context &ctx, char *memory) {
    tiny::update(ctx, memory);
    const int64_t step = tiny::at<StepState>(memory, tiny::kOffState)->step;
    if (step == 3) {
      while (!std::filesystem::exists(out + "/checkpoint-2"))
        std::this_thread::yield();
      limit_files_to(std::filesystem::file_size(out + "/metrics.jsonl") + 20);
    }
    if (step == 5)
      limit_files_to(RLIM_INFINITY);
  };
  const int status = run("a", {"--max-steps=6", "--save-steps=1"});
  limit_files_to(RLIM_INFINITY);
  ASSERT_EQ(status, 0) << error;
  EXPECT_NE(error.find("tiny: warning: step 3: no checkpoint is written, and "
                       "training goes on: cannot write '"),
            std::string::npos)
      << error;
  EXPECT_NE(error.find("metrics.jsonl' lacks steps, and training goes on: "),
            std::string::npos)
      << error;
  // The fourth may have been written after the fifth update.
  Steps steps = steps_in("a");
  std::erase(steps, 4);
  EXPECT_EQ(steps, (Steps{1, 2, 5, 6}));
  for (const CheckpointFolder &each : checkpoints_in(folder / "a"))
    check_whole(each.path);
  for (const std::string &name : names_in("a"))
    EXPECT_EQ(name.find(".part"), std::string::npos) << name;
  std::ifstream metrics(folder / "a/metrics.jsonl");
  for (std::string line; std::getline(metrics, line);)
    EXPECT_TRUE(line.front() == '{' && line.back() == '}') << line;
  std::vector<double> lines = numbers("a", "step");
  lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
  EXPECT_EQ(lines, (std::vector<double>{1, 2, 5, 6}));
}

TEST_F(CheckpointTest, AFolderThatVanishesEndsTheRunAtItsEnd) {
  static std::string out;
  out = folder / "a";
  program.update = [](Context &ctx, char *memory) {
    tiny::update(ctx, memory);
    if (tiny::at<StepState>(memory, tiny::kOffState)->step != 5)
      return;
    while (!std::filesystem::exists(out + "/checkpoint-3"))
      std::this_thread::yield();
    // The writer may still put files there.
    std::error_code code;
    while (std::filesystem::exists(out))
      std::filesystem::remove_all(out, code);
  };
  EXPECT_EQ(run("a", {"--max-steps=9", "--save-steps=3"}), 1);
  EXPECT_NE(error.find("step 6: no checkpoint is written"), std::string::npos);
  EXPECT_NE(output.find("step 9/9"), std::string::npos) << output;
  EXPECT_NE(error.find("tiny: error: cannot write '" + out +
                       "/model.safetensors.part': No such file"),
            std::string::npos)
      << error;
}

} // namespace
} // namespace gpuopt
