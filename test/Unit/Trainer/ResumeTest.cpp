// --resume: a run that was interrupted computes what one without interruption
// does, and what is no checkpoint of the run is refused.

#include "TrainerFixture.h"

namespace gpuopt {
namespace {

struct ResumeTest : TrainerTest {
  std::string weights_of(const std::string &out) {
    return read_file(folder / (out + "/model.safetensors"));
  }
  void remove(const std::string &name) {
    std::filesystem::remove_all(folder / name);
  }
  void flip_a_bit(const std::string &name) {
    std::string content = read_file(folder / name);
    content[content.size() / 2] = char(content[content.size() / 2] ^ 4);
    write_file(folder / name, content);
  }
  // Expects that a run is refused with a message.
  void expect_refusal(const std::string &out, std::vector<std::string> flags,
                      const std::string &message) {
    EXPECT_EQ(run(out, std::move(flags)), 1) << "expected " << message;
    EXPECT_EQ(error, "tiny: error: " + message + "\n");
  }
};

// The command that starts a run and goes on with it finds that the run is done.
TEST_F(ResumeTest, ARunThatIsDoneStaysDone) {
  const std::vector<std::string> flags = {"--max-steps=3", "--resume=auto"};
  ASSERT_EQ(run("a", flags), 0) << error;
  const std::string begins = "begins with step 1: --resume=auto has found no "
                             "checkpoint in '" +
                             (folder / "a") + "'\n";
  EXPECT_NE(output.find(begins), std::string::npos) << output;
  const std::string weights = weights_of("a");
  EXPECT_TRUE(std::filesystem::exists(folder / "a/checkpoint-3"));
  ASSERT_EQ(run("a", flags), 0) << error;
  EXPECT_NE(output.find("nothing is left to do"), std::string::npos) << output;
  EXPECT_EQ(output.find("begins with"), std::string::npos) << output;
  EXPECT_EQ(weights_of("a"), weights);
}

// Batches of an epoch are no multiple of a step's, and the rate follows the
// number of the step.
TEST_F(ResumeTest, ComputesTheSameBits) {
  program.accumulation_steps = 3;
  const std::vector<std::string> flags = {"--max-steps=20",
                                          "--lr-scheduler-type=cosine"};
  auto with = [&](std::vector<std::string> more) {
    more.insert(more.end(), flags.begin(), flags.end());
    return more;
  };
  ASSERT_EQ(run("whole", with({})), 0) << error;
  program.update = [](Context &ctx, char *memory) {
    tiny::update(ctx, memory);
    if (tiny::at<StepState>(memory, tiny::kOffState)->step % 6 == 1)
      raise(SIGTERM);
  };
  int64_t step = 0;
  for (const char *workers : {"1", "7", "2", "3"}) {
    step = step == 0 ? 1 : step + 6;
    ASSERT_EQ(run("parts", with({"--resume=auto", "--num-workers", workers})),
              0)
        << error;
    EXPECT_EQ(detail::interrupted, 1);
    detail::interrupted = 0;
    EXPECT_NE(output.find("ends after step " + std::to_string(step)),
              std::string::npos)
        << output;
  }
  ASSERT_EQ(run("parts", with({"--resume=auto"})), 0) << error;
  EXPECT_NE(output.find("resumes from '" + folder / "parts" +
                        "/checkpoint-19' after step 19 of 20"),
            std::string::npos)
      << output;
  EXPECT_EQ(weights_of("parts"), weights_of("whole"));
  EXPECT_EQ(losses("parts"), losses("whole"));
}

// A trainer that was killed after its last checkpoint leaves such a folder.
TEST_F(ResumeTest, StepsAfterTheCheckpointAreDoneAgain) {
  ASSERT_EQ(run("a", {"--max-steps=20", "--save-steps=6"}), 0) << error;
  const std::string weights = weights_of("a"),
                    metrics = read_file(folder / "a/metrics.jsonl");
  const auto before = losses("a");
  remove("a/checkpoint-20");
  remove("a/model.safetensors");
  remove("a/checkpoint-18/checksums.txt");
  write_file(folder / "a/metrics.jsonl", metrics + "{\"step\": 21, \"lo");
  ASSERT_EQ(run("a", {"--max-steps=20", "--save-steps=6", "--resume=auto"}), 0)
      << error;
  EXPECT_NE(error.find("a/checkpoint-18' is no whole checkpoint: it has no "
                       "'checksums.txt', which is written last; "
                       "--resume=auto takes an earlier one"),
            std::string::npos)
      << error;
  EXPECT_NE(output.find("a/checkpoint-12' after step 12 of 20\nsteps 13 to 18 "
                        "are done again: "),
            std::string::npos)
      << output;
  EXPECT_EQ(weights_of("a"), weights);
  EXPECT_EQ(losses("a"), before);
  check_whole(folder / "a/checkpoint-18");
  check_whole(folder / "a/checkpoint-20");
}

// The only checkpoint that the second run writes is its last one.
TEST_F(ResumeTest, CheckpointsOfTheCourseThatIsLeftAreRemoved) {
  ASSERT_EQ(run("a", {"--max-steps=20", "--save-steps=6"}), 0) << error;
  ASSERT_EQ(run("a", {"--max-steps=20", "--resume", folder / "a/checkpoint-6"}),
            0)
      << error;
  std::vector<int64_t> steps;
  for (const CheckpointFolder &each : checkpoints_in(folder / "a"))
    steps.push_back(each.step);
  EXPECT_EQ(steps, (std::vector<int64_t>{6, 20}));
}

TEST_F(ResumeTest, GoesOnFromAnyFolder) {
  ASSERT_EQ(run("a", {"--max-steps=20", "--save-steps=6"}), 0) << error;
  std::filesystem::rename(folder / "a/checkpoint-6", folder / "kept");
  ASSERT_EQ(run("b", {"--max-steps=20", "--resume", folder / "kept"}), 0)
      << error;
  EXPECT_EQ(weights_of("b"), weights_of("a"));
  EXPECT_EQ(losses("b").size(), 14u) << "the first lines are in a's file";
  // Later checkpoints of the folder are not of this run, once it has one.
  ASSERT_EQ(run("a", {"--max-steps=20", "--save-steps=5", "--learning-rate=0.2",
                      "--resume", folder / "a/checkpoint-12"}),
            0)
      << error;
  EXPECT_NE(error.find("warning: '--learning-rate' is 0.2, but '" +
                       folder / "a" + "/checkpoint-12' is of a run with 0.1\n"),
            std::string::npos)
      << error;
  EXPECT_EQ(losses("a").size(), 20u);
  std::vector<int64_t> steps;
  for (const CheckpointFolder &each : checkpoints_in(folder / "a"))
    steps.push_back(each.step);
  EXPECT_EQ(steps, (std::vector<int64_t>{12, 15, 20}));
}

TEST_F(ResumeTest, ARunThatIsDoneStaysAsItIs) {
  const std::vector<std::string> flags = {
      "--max-steps=4",      "--save-steps=3",        "--resume=auto",
      "--eval-data",        "x=" + folder / "x.npy", "--eval-labels",
      folder / "labels.npy"};
  ASSERT_EQ(run("a", flags), 0) << error;
  EXPECT_EQ(output.find("resumes"), std::string::npos) << output;
  const std::string weights = weights_of("a"),
                    metrics = read_file(folder / "a/metrics.jsonl");
  ASSERT_EQ(run("a", flags), 0) << error;
  EXPECT_NE(output.find("after step 4 of 4"), std::string::npos) << output;
  EXPECT_NE(output.find("nothing is left to do: the checkpoint is of step 4, "
                        "and the run ends after step 4; a higher --max-steps "
                        "takes it further\n"),
            std::string::npos)
      << output;
  EXPECT_EQ(weights_of("a"), weights);
  EXPECT_EQ(read_file(folder / "a/metrics.jsonl"), metrics);
  // The run becomes a longer one.
  ASSERT_EQ(run("a", {"--max-steps=6", "--resume=auto"}), 0) << error;
  EXPECT_EQ(losses("a").size(), 6u);
}

// Weights of a step stand beside metrics up to it, and beside none of another
// run.
TEST_F(ResumeTest, ACheckpointBeyondTheLastStepIsTheResult) {
  overwrites = true;
  ASSERT_EQ(run("a", {"--max-steps=9", "--save-steps=3"}), 0) << error;
  ASSERT_EQ(run("b", {"--max-steps=9"}), 0) << error;
  const std::string middle = folder / "a/checkpoint-6";
  for (const char *out : {"a", "b", "c"}) {
    overwrites = out != std::string("a"); // which has what the run goes on from
    ASSERT_EQ(run(out, {"--max-steps=-1", "--num-train-epochs=0.1", "--resume",
                        middle}),
              0)
        << error;
    EXPECT_NE(output.find("is of step 6, and the run ends after step "),
              std::string::npos)
        << output;
    EXPECT_NE(output.find("; a higher --num-train-epochs takes it further\n"),
              std::string::npos)
        << output;
    EXPECT_EQ(loss_of(out, 64), loss_of("a/checkpoint-6", 64)) << out;
    EXPECT_EQ(losses(out).size(), out == std::string("a") ? 6u : 0u) << out;
  }
  EXPECT_FALSE(std::filesystem::exists(folder / "c/metrics.jsonl"));
}

TEST_F(ResumeTest, AnInterruptBeforeTheFirstStepChangesNothing) {
  ASSERT_EQ(run("a", {"--max-steps=9", "--save-steps=3"}), 0) << error;
  const std::string weights = weights_of("a"),
                    metrics = read_file(folder / "a/metrics.jsonl");
  detail::interrupted = 1;
  ASSERT_EQ(run("a", {"--max-steps=9", "--resume", folder / "a/checkpoint-3"}),
            0)
      << error;
  EXPECT_NE(output.find("interrupted: ends after step 3 of 9"),
            std::string::npos)
      << output;
  EXPECT_EQ(weights_of("a"), weights);
  EXPECT_EQ(read_file(folder / "a/metrics.jsonl"), metrics);
}

TEST(RepeatedSteps, AreThoseBeforeALaterCheckpoint) {
  TemporaryFolder folder;
  for (const char *name : {"a/checkpoint-40", "a/checkpoint-60", "b"})
    std::filesystem::create_directories(folder / name);
  auto told = [&](const std::string &output_dir, int64_t step, int64_t steps) {
    return describe_repeated_steps(folder / "a/checkpoint-40",
                                   folder / output_dir, step, steps);
  };
  const std::string later = " are done again: checkpoints of later steps, the "
                            "last of which is '" +
                            folder / "a/checkpoint-60" +
                            "', are removed once this run has written its "
                            "next one";
  EXPECT_EQ(told("a", 40, 80), "steps 41 to 60" + later);
  EXPECT_EQ(told("a", 40, 50), "steps 41 to 50" + later);
  EXPECT_EQ(told("a", 40, 40), ""); // none is left
  EXPECT_EQ(told("a", 60, 80), ""); // none is later
  EXPECT_EQ(told("b", 40, 80), ""); // another folder
}

TEST(NoCheckpoint, IsToldByWhatIsThere) {
  TemporaryFolder folder;
  for (const char *name : {"run/checkpoint-40", "run/checkpoint-50", "ended",
                           "begun", "part", "killed/checkpoint-3"})
    std::filesystem::create_directories(folder / name);
  for (const char *name :
       {"run/checkpoint-40/checksums.txt", "ended/.gpuopt-results",
        "ended/model.safetensors", "begun/.gpuopt-results"})
    write_file(folder / name, "");
  EXPECT_EQ(why_no_checkpoint(folder / "run/checkpoint-40"), "");
  EXPECT_EQ(why_no_checkpoint(folder / "part"), "");
  auto why = [&](const std::string &path) {
    return why_no_checkpoint(folder / path)
        .substr(("--resume: '" + folder / path + "' is ").size());
  };
  EXPECT_EQ(why("run"), "the folder of a run, but a checkpoint is needed: name "
                        "one of its checkpoints, the last of which is '" +
                            folder / "run/checkpoint-40" +
                            "', or let --resume=auto take the last one of the "
                            "output folder");
  const std::string none =
      "a run without checkpoints, which --save-steps has a run write";
  EXPECT_EQ(why("begun"), none);
  EXPECT_EQ(why("killed"), none) << "only the rest of a checkpoint is there";
  EXPECT_EQ(why("ended"), none + "; --init-from='" +
                              folder / "ended/model.safetensors" +
                              "' begins a new run with its weights");
  EXPECT_EQ(why("ended/model.safetensors"),
            "a file, but a checkpoint is a folder, such as "
            "'RUN/checkpoint-100'");
}

TEST(NoCheckpoint, IsToldForTheFolderOfTheRunItself) {
  TemporaryFolder folder;
  for (const char *name : {"run/checkpoint-40", "other/checkpoint-2"})
    std::filesystem::create_directories(folder / name);
  for (const char *name : {"run/checkpoint-40/trainer_state.json",
                           "other/checkpoint-2/trainer_state.json"})
    write_file(folder / name, "");
  auto why = [&](const std::string &resume) {
    return why_not_anew(folder / "run", resume, /*overwrites=*/false);
  };
  EXPECT_EQ(why("auto"), "");
  EXPECT_EQ(why(folder / "run/checkpoint-40"), "");
  for (const char *none : {"run", "run/checkpoint-41", "yes"})
    EXPECT_EQ(why(folder / none), "") << "why_no_checkpoint tells";
  for (const std::string &other :
       {std::string(), folder / "other/checkpoint-2"})
    EXPECT_NE(why(other), "") << other;
  // Neither folder has checksums, which are written last.
  EXPECT_NE(
      why("").find("' has checkpoints of an earlier run, none of which is "
                   "whole; choose another folder"),
      std::string::npos)
      << why("");
  std::filesystem::create_directories(folder / "run/checkpoint-30");
  write_file(folder / "run/checkpoint-30/checksums.txt", "");
  EXPECT_NE(why("").find("the last one of step 30; go on from it by"),
            std::string::npos)
      << why("");
}

TEST(NoCheckpoint, IsTheOneWithTheNearestName) {
  TemporaryFolder folder;
  std::filesystem::create_directories(folder / "run/checkpoint-40");
  auto meant = [&](const std::string &path) {
    const std::string none = "--resume: there is no file or folder '" +
                             folder / path + "'",
                      why = why_no_checkpoint(folder / path);
    EXPECT_EQ(why.substr(0, none.size()), none);
    return why.substr(none.size());
  };
  const std::string known =
      "; did you mean '" + folder / "run/checkpoint-40" + "'?";
  EXPECT_EQ(meant("run/checkpoint-41"), known);
  EXPECT_EQ(meant("rnu/checkpoint-40"), known);
  EXPECT_EQ(meant("rnu/checkpoint-41"), "");
  EXPECT_EQ(meant("other"), "");
}

TEST_F(ResumeTest, TakesNoDamagedCheckpoint) {
  ASSERT_EQ(run("a", {"--max-steps=3", "--save-steps=1"}), 0) << error;
  flip_a_bit("a/checkpoint-3/optimizer.safetensors");
  const std::string third = folder / "a/checkpoint-3",
                    damage = "'" + third +
                             "' is damaged: 'optimizer.safetensors' is not "
                             "the file that 'checksums.txt' lists";
  expect_refusal("b", {"--resume", third},
                 damage + "; name another checkpoint, or let --resume=auto "
                          "take the last one that is whole");
  EXPECT_FALSE(std::filesystem::exists(folder / "b"));
  ASSERT_EQ(run("a", {"--max-steps=3", "--resume=auto"}), 0) << error;
  EXPECT_EQ(error, "tiny: warning: " + damage +
                       "; --resume=auto takes an earlier one\n");
  EXPECT_NE(output.find("a/checkpoint-2' after step 2 of 3"), std::string::npos)
      << output;
  for (const char *step : {"1", "2", "3"})
    remove("a/checkpoint-" + std::string(step) + "/model.safetensors");
  EXPECT_EQ(run("a", {"--resume=auto"}), 1);
  EXPECT_NE(error.find("tiny: error: no checkpoint in '" + folder / "a" +
                       "' is whole; remove them to begin anew\n"),
            std::string::npos)
      << error;
}

TEST_F(ResumeTest, ANewRunMixesWithNoOther) {
  ASSERT_EQ(run("a", {"--max-steps=3", "--save-steps=2"}), 0) << error;
  expect_refusal("a", {"--max-steps=3"},
                 "'--output-dir' '" + folder / "a" +
                     "' has checkpoints of an earlier run, the last one of "
                     "step 3; go on from it by --resume=auto, choose another "
                     "folder, or have the earlier run's results removed by "
                     "--overwrite-output-dir");
}

TEST_F(ResumeTest, ARunThatGoesOnFromElsewhereMixesWithNoOther) {
  ASSERT_EQ(run("a", {"--max-steps=3", "--save-steps=3"}), 0) << error;
  ASSERT_EQ(run("b", {"--max-steps=2", "--save-steps=2"}), 0) << error;
  const std::string weights = weights_of("a"),
                    elsewhere = "--resume=" + folder / "b/checkpoint-2";
  expect_refusal("a", {"--max-steps=4", elsewhere},
                 "'--output-dir' '" + folder / "a" +
                     "' has checkpoints of an earlier run, the last one of "
                     "step 3; go on from it by --resume=auto, choose another "
                     "folder, or have the earlier run's results removed by "
                     "--overwrite-output-dir");
  EXPECT_EQ(weights_of("a"), weights);
  // The name of a folder within it may be spelled in another way.
  EXPECT_EQ(run("a", {"--max-steps=4",
                      "--resume=" + folder / "b/../a/checkpoint-3/"}),
            0)
      << error;
  EXPECT_EQ(run("a", {"--max-steps=4", elsewhere, "--overwrite-output-dir"}), 0)
      << error;
}

TEST_F(ResumeTest, WeightsAreReplacedOnlyIfThatIsAsked) {
  ASSERT_EQ(run("b", {"--max-steps=2", "--save-steps=2"}), 0) << error;
  ASSERT_EQ(run("a", {"--max-steps=3"}), 0) << error;
  const std::string weights = read_file(folder / "a/model.safetensors"),
                    metrics = read_file(folder / "a/metrics.jsonl");
  // Neither by a run that begins anew nor by one that goes on from elsewhere.
  for (const auto &[flag, way_on] :
       {std::pair<std::string, std::string>("--seed=7", ""),
        {"--resume=auto", "checkpoints are saved by --save-steps; begin with "
                          "these weights by --init-from, or "}})
    expect_refusal("a", {"--max-steps=3", flag},
                   "'--output-dir' '" + folder / "a" +
                       "' has 'model.safetensors' of an earlier run, and no "
                       "checkpoint to go on from; " +
                       way_on +
                       "choose another folder, or have the earlier run's "
                       "results removed by --overwrite-output-dir");
  EXPECT_EQ(
      run("a", {"--max-steps=3", "--resume=" + folder / "b/checkpoint-2"}), 1);
  EXPECT_EQ(read_file(folder / "a/model.safetensors"), weights);
  EXPECT_EQ(read_file(folder / "a/metrics.jsonl"), metrics);
  expect_refusal("a",
                 {"--max-steps=3", "--resume=auto", "--overwrite-output-dir"},
                 "'--overwrite-output-dir' removes what --resume=auto goes on "
                 "from; "
                 "give one of them");
  // Metrics alone are of a run that has come to nothing.
  std::filesystem::create_directories(folder / "c");
  write_file(folder / "c/.gpuopt-results", "");
  write_file(folder / "c/metrics.jsonl", "{\"step\": 1}\n");
  EXPECT_EQ(run("c", {"--max-steps=1"}), 0) << error;
}

TEST_F(ResumeTest, WhatARunGoesOnFromIsNotToBeRemoved) {
  ASSERT_EQ(run("a", {"--max-steps=2", "--save-steps=2"}), 0) << error;
  expect_refusal("a",
                 {"--max-steps=3", "--resume=" + folder / "a/checkpoint-2",
                  "--overwrite-output-dir"},
                 "'--output-dir' '" + folder / "a" +
                     "' has the checkpoint that --resume goes on from, and "
                     "--overwrite-output-dir removes it; give one of them");
}

TEST_F(ResumeTest, NothingOfARunStandsBesideTheNext) {
  auto has = [&](const std::string &name) {
    return std::filesystem::exists(folder / ("a/" + name));
  };
  ASSERT_EQ(run("a", {"--max-steps=6", "--save-steps=2", "--ema-decay=0.9"}), 0)
      << error;
  ASSERT_TRUE(has("checkpoint-2") && has("ema.safetensors"));
  // Not before the first step is done.
  detail::interrupted = 1;
  ASSERT_EQ(run("a", {"--max-steps=2", "--overwrite-output-dir"}), 0) << error;
  detail::interrupted = 0;
  EXPECT_TRUE(has("checkpoint-2") && has("model.safetensors"));
  EXPECT_EQ(losses("a").size(), 6u);
  ASSERT_EQ(run("a", {"--max-steps=2", "--overwrite-output-dir"}), 0) << error;
  EXPECT_EQ(losses("a").size(), 2u);
  for (const char *name : {"ema.safetensors", "checkpoint-2", "checkpoint-6"})
    EXPECT_FALSE(has(name)) << name;
}

TEST_F(ResumeTest, TakesNoCheckpointOfAnotherRun) {
  ASSERT_EQ(run("a", {"--max-steps=2", "--save-steps=2"}), 0) << error;
  const std::string from = "--resume=" + folder / "a/checkpoint-2",
                    of =
                        "'" + folder / "a/checkpoint-2" + "' is of a run with ";
  expect_refusal("b", {from, "--seed=7"}, of + "--seed 42, but this one has 7");
  expect_refusal("b", {from, "--no-shuffle"},
                 of + "--shuffle true, but this one has false");
  program.optimizer = "adam";
  expect_refusal("b", {from}, of + "--optimizer adamw, but this one has adam");
  program.optimizer = "adamw";
  program.accumulation_steps = 2;
  expect_refusal("b", {from},
                 of + "--gradient-accumulation-steps 1, but this one has 2");
  program.accumulation_steps = 1;
  program.batch_size = 4;
  expect_refusal("b", {from}, of + "--batch-size 8, but this one has 4");
  program.batch_size = 8;
  write_first(63);
  write_file(folder / "x.npy",
             npy("<f4", "(63, 4)", bytes_of(x).substr(0, 63 * 16)));
  expect_refusal("b", {from, "--labels", folder / "labels-some.npy"},
                 of + "a number of samples of 64, but this one has 63");
}

TEST_F(ResumeTest, ComparesWhatWasCompiled) {
  static const char *const kCompiled[] = {"loss=mse", "no-decay=bias"},
                           *const kOthers[] = {"loss=l1", "no-decay=bias"},
                           *const kMore[] = {"loss=mse", "no-decay=none"};
  program.model = "00ff";
  program.compiled = kCompiled;
  ASSERT_EQ(run("a", {"--max-steps=2", "--save-steps=2"}), 0) << error;
  const std::string from = "--resume=" + folder / "a/checkpoint-2",
                    checkpoint = "'" + folder / "a/checkpoint-2" + "' is of ";
  program.compiled = kOthers;
  expect_refusal("b", {from},
                 checkpoint + "a run with --loss mse, but this one has l1");
  program.compiled = kMore;
  ASSERT_EQ(run("b", {from, "--max-steps=3"}), 0) << error;
  EXPECT_NE(error.find("warning: '--no-decay' is none, but " + checkpoint +
                       "a run with bias\n"),
            std::string::npos)
      << error;
  program.model = "11ff";
  expect_refusal("c", {from},
                 checkpoint +
                     "another model: its graph and constants have the hash "
                     "00ff, but those of this program have 11ff; it was saved "
                     "after step 2 of 2 of a run; go on with that model, name "
                     "a checkpoint of this one by --resume, or begin a new run "
                     "in another --output-dir, with the weights that fit by "
                     "--init-from='" +
                     folder / "a/checkpoint-2/model.safetensors" + "'");
}

// Returns what a run `now` is warned of that goes on from a checkpoint.
static std::string warning(const RunState &saved, const RunState &now) {
  testing::internal::CaptureStderr();
  warn_of_changes("c", saved, now, "tiny");
  return testing::internal::GetCapturedStderr();
}

TEST_F(ResumeTest, ComparesHashesOfOneVersionAlone) {
  RunState saved, now;
  saved.model = "00ff";
  now.model = "1:00ff"; // the version of those that have none
  EXPECT_EQ(warning(saved, now), "");
  refuse_other_run("c", saved, now);
  now.model = "2:11ff";
  EXPECT_EQ(warning(saved, now),
            "tiny: warning: 'c' is of another version of gpuopt, which hashes "
            "models in another way: only the names, shapes and types of its "
            "tensors are compared with those of this model\n");
  refuse_other_run("c", saved, now);
  now.model = "1:11ff";
  EXPECT_EQ(warning(saved, now), "");
  EXPECT_THROW(refuse_other_run("c", saved, now), Error);
}

// Not of the flags that say it, one of which nobody has given.
TEST_F(ResumeTest, WarnsOfAnotherEnd) {
  RunState saved, now;
  saved.max_steps = 300;
  saved.settings = {{"max-steps", "300"}, {"num-train-epochs", "3"}};
  now.max_steps = 620;
  now.settings = {{"max-steps", "-1"}, {"num-train-epochs", "20"}};
  EXPECT_EQ(warning(saved, now),
            "tiny: warning: the run ends after step 620, but that of 'c' after "
            "step 300: so does the schedule of its learning rate\n");
  now.max_steps = 300;
  EXPECT_EQ(warning(saved, now), "");
}

TEST_F(ResumeTest, WarnsOfAnotherEndOnlyWhereTheRateDependsOnIt) {
  RunState saved, now;
  saved.max_steps = 300;
  now.max_steps = 620;
  auto warns = [&](const char *schedule, const char *ratio) {
    saved.settings = {{"lr-scheduler-type", schedule}, {"warmup-ratio", ratio}};
    now.settings = saved.settings;
    return !warning(saved, now).empty();
  };
  EXPECT_TRUE(warns("linear", "0"));
  EXPECT_TRUE(warns("warmup_stable_decay", "0"));
  EXPECT_FALSE(warns("constant", "0"));
  EXPECT_FALSE(warns("constant", "0.1"));
  EXPECT_FALSE(warns("reduce_lr_on_plateau", "0"));
  EXPECT_FALSE(warns("inverse_sqrt", "0"));
  EXPECT_TRUE(warns("constant_with_warmup", "0.1"));
}

TEST_F(ResumeTest, WarnsOfGroupsThatCameOrWent) {
  RunState without, with;
  with.settings["param-group"] = "bias:lr=1";
  EXPECT_EQ(warning(with, without),
            "tiny: warning: '--param-group' is none, but 'c' is of a run with "
            "bias:lr=1\n");
  EXPECT_EQ(warning(without, with),
            "tiny: warning: '--param-group' is bias:lr=1, but 'c' is of a run "
            "with none\n");
  EXPECT_EQ(warning(with, with) + warning(without, without), "");
}

TEST_F(ResumeTest, WarnsOfTransformsThatCameOrWent) {
  RunState without, with, of_no_loop;
  without.settings["shuffle"] = with.settings["shuffle"] = "true";
  with.settings["transform"] = "resize(8)";
  EXPECT_EQ(warning(with, without),
            "tiny: warning: '--transform' is none, but 'c' is of a run with "
            "resize(8)\n");
  EXPECT_EQ(warning(without, with),
            "tiny: warning: '--transform' is resize(8), but 'c' is of a run "
            "with none\n");
  EXPECT_EQ(warning(with, with) + warning(without, without) +
                warning(of_no_loop, with),
            "");
}

// Models differ in their tensors.
TEST_F(ResumeTest, TakesNoCheckpointOfAnotherModel) {
  ASSERT_EQ(run("a", {"--max-steps=2", "--save-steps=2"}), 0) << error;
  const std::string from = folder / "a/checkpoint-2";
  std::vector<StateInfo> states(program.states.begin(), program.states.end());
  program.states.data = states.data();
  states[2].tensor.shape[0] = 2;
  states[2].tensor.shape[1] = 6;
  expect_refusal("b", {"--resume", from},
                 "'" + from +
                     "/model.safetensors' has 'weight' as F32 [4, 3], "
                     "but the program needs F32 [2, 6]");
  states[2].tensor.shape[0] = 4;
  states[2].tensor.shape[1] = 3;
  states[3].tensor.name = "other.m";
  expect_refusal("b", {"--resume", from},
                 "'" + from +
                     "/optimizer.safetensors' has 'weight.m', which "
                     "the program does not have");
  states[3].tensor.name = "weight.m";
  std::swap(states[4], states[5]);
  states.pop_back();
  program.states.count = 5;
  expect_refusal("b", {"--resume", from},
                 "'" + from +
                     "/optimizer.safetensors' has 'weight.v', which "
                     "the program does not have");
}

} // namespace
} // namespace gpuopt
