// --overwrite-output-dir: the results of an earlier run are there until the new
// one has saved something, however that ends.
#include "EarlierResultsFixture.h"

namespace gpuopt {
namespace {

TEST_F(EarlierResultsTest, StaySetAsideAfterAnInterrupt) {
  before_update(2, [] { detail::interrupted = 1; });
  ASSERT_EQ(run_anew(), 0) << error;
  detail::interrupted = 0;
  EXPECT_NE(error.find("the results of the earlier run stay set aside in '" +
                       folder / "a/.gpuopt-earlier" + "' until a next run"),
            std::string::npos)
      << error;
  for (const char *name : {"/model.safetensors", "/metrics.jsonl",
                           "/checkpoint-2/model.safetensors"})
    EXPECT_EQ(read_file(folder / "a/.gpuopt-earlier" + name), earlier[name])
        << name;
  EXPECT_TRUE(has("checkpoint-2") && has("model.safetensors"));
  // A run that saves nothing removes nothing.
  EXPECT_EQ(run("a", {"--max-steps=3", "--resume=" + folder / "none"}), 1);
  EXPECT_TRUE(has(".gpuopt-earlier/model.safetensors"));
  // The interrupted run goes on, and what was kept is gone.
  ASSERT_EQ(run("a", {"--max-steps=3", "--seed=5", "--resume=auto"}), 0)
      << error;
  EXPECT_FALSE(has(".gpuopt-earlier"));
}

// What an interrupt had kept stays until the next run has saved something.
TEST_F(EarlierResultsTest, ThatAnInterruptKeptStayIfTheNextRunFails) {
  before_update(2, [] { detail::interrupted = 1; });
  ASSERT_EQ(run_anew(), 0) << error;
  detail::interrupted = 0;
  ASSERT_TRUE(has(".gpuopt-earlier/checkpoint-4"));
  earlier = files();
  lose_weights();
  ASSERT_EQ(run_anew(), kDiverged) << error;
  EXPECT_EQ(changes(), "");
  // A kill may come before they are set aside again.
  std::filesystem::rename(folder / "a/.gpuopt-earlier",
                          folder / "a/.gpuopt-earlier.older");
  EXPECT_EQ(run("a", {"--max-steps=3", "--resume=" + folder / "none"}), 1);
  EXPECT_EQ(changes(), "");
  // Those of the run that is replaced now are kept by its own interrupt.
  before_update(2, [] { detail::interrupted = 1; });
  ASSERT_EQ(run_anew(), 0) << error;
  EXPECT_TRUE(has(".gpuopt-earlier/checkpoint-2"));
  EXPECT_FALSE(has(".gpuopt-earlier/checkpoint-4") ||
               has(".gpuopt-earlier.older"));
}

// An interrupt is no kill, after which --resume=auto starts the run anew.
TEST_F(EarlierResultsTest, StayAfterAnInterruptBeforeTheFirstStep) {
  detail::interrupted = 1;
  ASSERT_EQ(run_anew(), 0);
  EXPECT_EQ(error, "");
  EXPECT_EQ(changes(), "");
  EXPECT_FALSE(has_killed_overwriting_run(folder / "a"));
  detail::interrupted = 0;
  std::signal(SIGINT, SIG_DFL);
  const EarlierResults begun(folder / "a",
                             folder / "a/.gpuopt-next/program/model", "", "");
  EXPECT_NE(std::signal(SIGINT, SIG_DFL), SIG_DFL);
}

// Another run may have begun since.
TEST_F(EarlierResultsTest, WhoeverLacksTheLockRemovesNoProgramThatWaits) {
  const std::string next = folder / "a/.gpuopt-next";
  write_program_that_waits(next);
  {
    const OutputFolder other(folder / "a");
    EXPECT_EQ(run_anew({"--weights", next + "/program/model.safetensors"}), 1);
    EXPECT_TRUE(has(".gpuopt-next")) << error;
    EXPECT_EQ(run_anew({"--weights", next + "/program/model.safetensors",
                        "--no-such-flag"}),
              1);
    EXPECT_TRUE(has(".gpuopt-next")) << error;
  }
  // One that starts a killed run anew leaves that to the next try.
  EXPECT_EQ(run("a", {"--weights", next + "/program/model.safetensors",
                      "--no-such-flag", "--resume=auto"}),
            1);
  EXPECT_TRUE(has(".gpuopt-next")) << error;
  EXPECT_EQ(run_anew({"--weights", next + "/program/model.safetensors",
                      "--no-such-flag"}),
            1);
  EXPECT_FALSE(has(".gpuopt-next")) << error;
}

TEST_F(EarlierResultsTest, WhatAKillHasLeftToRemoveIsRemoved) {
  std::filesystem::create_directories(folder / "a/.gpuopt-removed/1");
  ASSERT_EQ(run("a", {"--max-steps=5", "--resume=auto", "--ema-decay=0.9"}), 0)
      << error;
  EXPECT_FALSE(has(".gpuopt-removed"));
}

TEST_F(EarlierResultsTest, ArePutBackAfterADivergence) {
  lose_weights();
  ASSERT_EQ(run_anew(), kDiverged) << error;
  EXPECT_EQ(changes(), "");
  EXPECT_NE(error.find("tiny: " + are_put_back("this run")), std::string::npos)
      << error;
  EXPECT_EQ(losses("a/failed-run").size(), 2u);
  // The next one takes the place of that.
  ASSERT_EQ(run_anew({"--max-steps=1"}), kDiverged) << error;
  EXPECT_EQ(losses("a/failed-run").size(), 1u);
}

TEST_F(EarlierResultsTest, ArePutBackAfterAnError) {
  before_update(2, [] { throw Error("the device is lost"); });
  ASSERT_EQ(run_anew(), 1);
  EXPECT_EQ(changes(), "");
  EXPECT_NE(error.find(are_put_back("this run")), std::string::npos) << error;
}

TEST_F(EarlierResultsTest, AreHiddenWhileNothingIsSaved) {
  static std::string out;
  out = folder / "a";
  before_update(2, [] {
    EXPECT_TRUE(checkpoints_in(out).empty());
    for (const char *name : {"model.safetensors", "ema.safetensors"}) {
      EXPECT_FALSE(std::filesystem::exists(out + "/" + name)) << name;
      EXPECT_TRUE(std::filesystem::exists(out + "/.gpuopt-earlier/" + name))
          << name;
    }
  });
  ASSERT_EQ(run_anew(), 0) << error;
  EXPECT_FALSE(has(".gpuopt-earlier") || has("failed-run") ||
               has("ema.safetensors") || has("checkpoint-2"));
  EXPECT_EQ(losses("a").size(), 3u);
}

TEST_F(EarlierResultsTest, GoWithTheFirstCheckpoint) {
  before_update(3, [] { throw Error("the device is lost"); });
  ASSERT_EQ(run_anew({"--save-steps=1"}), 1);
  EXPECT_FALSE(has(".gpuopt-earlier") || has("failed-run") ||
               has("model.safetensors") || has("checkpoint-4"));
  EXPECT_TRUE(has("checkpoint-1"));
}

TEST_F(EarlierResultsTest, ArePutBackAfterAKill) {
  ASSERT_NO_FATAL_FAILURE(kill_in_second_step());
  EXPECT_FALSE(has("model.safetensors"));
  EXPECT_TRUE(has(".gpuopt-earlier/model.safetensors"));
  // The next run finds them, and is refused as before.
  ASSERT_EQ(run("a", {"--max-steps=3"}), 1);
  EXPECT_EQ(
      error.rfind("tiny: " + are_put_back("the run that was to replace them") +
                      "tiny: error: '--output-dir' '" + folder / "a" +
                      "' has checkpoints of an earlier run",
                  0),
      0u)
      << error;
  EXPECT_EQ(changes(), "");
  EXPECT_EQ(losses("a/failed-run").size(), 1u);
  program.update = tiny::update;
  ASSERT_EQ(run("a", {"--max-steps=5", "--resume=auto", "--ema-decay=0.9"}), 0)
      << error;
  EXPECT_EQ(losses("a").size(), 5u);
}

TEST_F(EarlierResultsTest, GoAfterAKillBehindTheFirstCheckpoint) {
  copy(folder / "a", folder / "copy");
  std::filesystem::rename(folder / "copy", folder / "a/.gpuopt-earlier");
  // Checkpoints alone are enough to go on from.
  std::filesystem::remove(folder / "a/model.safetensors");
  std::filesystem::remove(folder / "a/ema.safetensors");
  EXPECT_FALSE(has_killed_overwriting_run(folder / "a"));
  EXPECT_FALSE(put_back_unless_saved(folder / "a").is_done);
  EXPECT_FALSE(has("model.safetensors"));
  ASSERT_EQ(run("a", {"--max-steps=6", "--resume=auto"}), 0) << error;
  EXPECT_FALSE(has(".gpuopt-earlier") || has(".gpuopt-removed"));
  EXPECT_EQ(losses("a").size(), 6u);
}

// A script that restarts a killed run does so by --resume=auto.
TEST_F(EarlierResultsTest, AKilledRunStartsAnew) {
  ASSERT_NO_FATAL_FAILURE(kill_in_second_step());
  static std::string out;
  out = folder / "a";
  before_update(2, [] {
    EXPECT_TRUE(std::filesystem::exists(out + "/.gpuopt-earlier/checkpoint-4"));
    EXPECT_FALSE(std::filesystem::exists(out + "/model.safetensors"));
  });
  ASSERT_EQ(run("a", {"--max-steps=3", "--seed=5", "--resume=auto"}), 0)
      << error;
  EXPECT_EQ(error,
            "tiny: the last run in '" + out +
                "' was to replace the results of the earlier one and was "
                "killed before it saved anything; --resume=auto starts it anew "
                "from step 0, and the earlier results are removed once it has "
                "saved something; what the killed run has left is in '" +
                out + "/failed-run'\n");
  EXPECT_EQ(losses("a").size(), 3u);
  EXPECT_EQ(losses("a/failed-run").size(), 1u);
  EXPECT_FALSE(has(".gpuopt-earlier") || has("checkpoint-4"));
}

TEST_F(EarlierResultsTest, ArePutBackIfTheRestartedRunFails) {
  std::filesystem::create_directory(folder / "b");
  std::filesystem::rename(folder / "a", folder / "b/.gpuopt-earlier");
  std::filesystem::rename(folder / "b", folder / "a");
  std::filesystem::copy_file(folder / "a/.gpuopt-earlier/.gpuopt-results",
                             folder / "a/.gpuopt-results");
  lose_weights();
  // It is still to be restarted if that fails before its first step.
  write_file(folder / "bad", "no weights");
  std::vector<std::string> more = {"--max-steps=3", "--resume=auto",
                                   "--init-from", folder / "bad"};
  EXPECT_EQ(run("a", more), 1);
  EXPECT_TRUE(has_killed_overwriting_run(folder / "a"));
  // The earlier weights can be what it begins with.
  more.back() = folder / "a/model.safetensors";
  ASSERT_EQ(run("a", more), kDiverged) << error;
  EXPECT_EQ(changes(), "");
}

// The first step may be long, as the compilation is.
TEST_F(EarlierResultsTest, ARunKilledBeforeItsFirstStepStartsAnew) {
  static std::string out;
  out = folder / "a";
  std::filesystem::create_directory(folder / "a/.gpuopt-next");
  before_update(1, [] {
    EXPECT_FALSE(std::filesystem::exists(out + "/.gpuopt-next"));
    EXPECT_TRUE(std::filesystem::exists(out + "/.gpuopt-earlier/checkpoint-4"));
  });
  ASSERT_EQ(run("a", {"--max-steps=3", "--seed=5", "--resume=auto"}), 0);
  EXPECT_EQ(losses("a").size(), 3u);
  // A trainer notes that it has begun before it loads anything.
  program.update = tiny::update;
  EarlierResults begun(folder / "a", "", "", "tiny");
  begun.begin(/*restarts=*/false);
  EXPECT_TRUE(has_killed_overwriting_run(folder / "a"));
}

TEST_F(EarlierResultsTest, StayIfTheKilledRunIsNotRestarted) {
  std::filesystem::create_directory(folder / "a/.gpuopt-next");
  ASSERT_EQ(run("a", {"--max-steps=3"}), 1);
  EXPECT_EQ(error.rfind("tiny: error: '--output-dir'", 0), 0u) << error;
  EXPECT_TRUE(has(".gpuopt-next")) << "the folder is not the trainer's yet";
  ASSERT_EQ(run("a", {"--max-steps=5", "--ema-decay=0.9",
                      "--resume=" + folder / "a/checkpoint-4"}),
            0)
      << error;
  EXPECT_FALSE(has(".gpuopt-next") || has(".gpuopt-earlier"));
  EXPECT_EQ(losses("a").size(), 5u);
}

TEST_F(EarlierResultsTest, ArePutBackAfterAnErrorOfTheFirstStep) {
  program.micro_step = [](Context &, char *) { throw Error("the first"); };
  ASSERT_EQ(run_anew(), 1);
  EXPECT_EQ(changes(), "");
}

// An interrupt during the last step ends nothing.
TEST_F(EarlierResultsTest, GoAfterAnInterruptOfTheLastStep) {
  before_update(3, [] { detail::interrupted = 1; });
  ASSERT_EQ(run_anew(), 0) << error;
  EXPECT_EQ(error, "");
  EXPECT_FALSE(has(".gpuopt-earlier"));
}

TEST_F(EarlierResultsTest, EventFilesGoWithTheirRun) {
  std::filesystem::create_directory(folder / "a/tensorboard");
  write_file(folder / "a/tensorboard/notes.txt", "the user's");
  write_file(folder / "a/tensorboard/events.out.tfevents.1.host.1.0", "old");
  earlier = files();
  lose_weights();
  ASSERT_EQ(run_anew({"--report-to=tensorboard"}), kDiverged) << error;
  EXPECT_EQ(changes(), "");
  EXPECT_EQ(detail::names_in(folder / "a/failed-run/tensorboard").size(), 1u);
}

TEST_F(EarlierResultsTest, AFailedRunReplacesNoFilesOfOthers) {
  lose_weights();
  ASSERT_EQ(run_anew(), kDiverged) << error;
  write_file(folder / "a/failed-run/notes.txt", "the user's");
  ASSERT_EQ(run_anew({"--max-steps=1"}), kDiverged) << error;
  EXPECT_EQ(read_file(folder / "a/failed-run/notes.txt"), "the user's");
  EXPECT_FALSE(has("failed-run/metrics.jsonl"));
  EXPECT_EQ(losses("a/failed-run-2").size(), 1u);
  EXPECT_NE(error.find("is in '" + folder / "a/failed-run-2'"),
            std::string::npos)
      << error;
}

// A kill may come between the moves of what a failed run has left.
TEST_F(EarlierResultsTest, AFailedRunIsMovedAsAWhole) {
  lose_weights();
  ASSERT_EQ(run_anew(), kDiverged) << error;
  const std::string metrics = read_file(folder / "a/failed-run/metrics.jsonl");
  set_earlier_results_aside(folder / "a");
  std::filesystem::rename(folder / "a/failed-run",
                          folder / "a/.failed-run.part");
  std::filesystem::rename(folder / "a/.failed-run.part/run.json",
                          folder / "a/run.json");
  EXPECT_EQ(put_back_unless_saved(folder / "a").failed,
            folder / "a/failed-run");
  EXPECT_EQ(changes(), "");
  EXPECT_EQ(read_file(folder / "a/failed-run/metrics.jsonl"), metrics);
  EXPECT_TRUE(has("failed-run/run.json"));
}

TEST_F(EarlierResultsTest, AreNotReadByARunThatRemovesThem) {
  const std::string aside = folder / "a/.gpuopt-earlier";
  std::filesystem::create_directory(aside);
  std::filesystem::rename(folder / "a/ema.safetensors",
                          aside + "/ema.safetensors");
  earlier = files();
  for (const std::string flag : {"--weights", "--init-from", "--resume"}) {
    EXPECT_EQ(run_anew({flag, aside + "/ema.safetensors"}), 1);
    EXPECT_EQ(error.rfind("tiny: error: '" + flag + "' '" + aside +
                              "/ema.safetensors' lies in '" + aside +
                              "', which a run in '" + folder / "a" +
                              "' puts back or removes; move that folder",
                          0),
              0u)
        << error;
    EXPECT_EQ(changes(), "") << flag;
  }
  EXPECT_EQ(
      run("b", {"--max-steps=1", "--init-from", aside + "/ema.safetensors"}), 0)
      << error;
}

TEST_F(EarlierResultsTest, MakeARunWhereTheyAreMovedTo) {
  before_update(2, [] { detail::interrupted = 1; });
  ASSERT_EQ(run_anew(), 0) << error;
  detail::interrupted = 0;
  program.update = tiny::update;
  std::filesystem::rename(folder / "a/.gpuopt-earlier", folder / "moved");
  ASSERT_EQ(run("moved", {"--max-steps=5", "--resume=auto", "--ema-decay=0.9"}),
            0)
      << error;
  EXPECT_EQ(losses("moved").size(), 5u);
}

// Others than root cannot remove files of a folder that is not theirs.
TEST_F(EarlierResultsTest, WhatCannotBeRemovedIsToldOnce) {
  if (geteuid() == 0) {
    std::filesystem::permissions(folder.path, std::filesystem::perms::all);
    for (const auto &entry :
         std::filesystem::recursive_directory_iterator(folder.path))
      EXPECT_EQ(chown(entry.path().c_str(), 65534, 65534), 0);
    EXPECT_EQ(chown(folder.path.c_str(), 65534, 65534), 0);
    ASSERT_EQ(seteuid(65534), 0);
  }
  const std::string aside = folder / "a/.gpuopt-earlier";
  std::filesystem::create_directories(aside + "/checkpoint-9");
  write_file(aside + "/checkpoint-9/file", "");
  write_file(aside + "/model.safetensors", "");
  std::filesystem::permissions(aside + "/checkpoint-9",
                               std::filesystem::perms::owner_read |
                                   std::filesystem::perms::owner_exec);
  const std::string removed = folder / "a/.gpuopt-removed/1";
  EXPECT_EQ(run("a", {"--max-steps=5", "--resume=auto", "--ema-decay=0.9"}), 0);
  const std::string told =
      "tiny: warning: the results of the earlier run "
      "cannot all be removed: what is left of them is in '" +
      removed + "' (Permission denied); remove it yourself\n";
  EXPECT_NE(error.find(told), std::string::npos) << error;
  EXPECT_FALSE(std::filesystem::exists(removed + "/model.safetensors"));
  EXPECT_EQ(run("a", {"--max-steps=6", "--resume=auto", "--ema-decay=0.9"}), 0);
  EXPECT_EQ(error.find(removed), std::string::npos) << error;
  EXPECT_EQ(run_anew(), 0);
  EXPECT_EQ(error, "");
  std::filesystem::permissions(removed + "/checkpoint-9",
                               std::filesystem::perms::owner_all);
  if (getuid() == 0)
    ASSERT_EQ(seteuid(0), 0);
}

// A kill may come between any two of the files that are moved.
TEST_F(EarlierResultsTest, ArePutBackFromHalfWay) {
  const std::string part = folder / "a/.gpuopt-earlier.part";
  for (const char *name :
       {"model.safetensors", "checkpoint-2", "metrics.jsonl"}) {
    std::filesystem::create_directory(part);
    std::filesystem::rename(folder / ("a/" + std::string(name)),
                            part + "/" + name);
    EXPECT_TRUE(put_back_unless_saved(folder / "a").is_done) << name;
    EXPECT_EQ(changes(), "") << name;
    EXPECT_FALSE(has("failed-run") || has(".gpuopt-earlier.part"));
  }
}

// A run may be killed when what an interrupt had kept is being removed.
TEST_F(EarlierResultsTest, ArePutBackBesideOlderOnes) {
  std::filesystem::create_directory(folder / "a/.gpuopt-earlier");
  std::filesystem::create_directory(folder / "a/.gpuopt-earlier.part");
  for (const char *name :
       {"model.safetensors", "ema.safetensors", "checkpoint-2", "checkpoint-4"})
    std::filesystem::rename(
        folder / ("a/" + std::string(name)),
        folder / ("a/.gpuopt-earlier.part/" + std::string(name)));
  EXPECT_TRUE(put_back_unless_saved(folder / "a").is_done);
  EXPECT_EQ(changes(), "");
}

TEST_F(EarlierResultsTest, WhatCannotBeMovedIsTold) {
  const std::string part = folder / "a/.gpuopt-earlier.part";
  write_file(part, "not a folder");
  EXPECT_EQ(error_of([&] { set_earlier_results_aside(folder / "a"); }),
            "cannot create '" + part + "': Not a directory");
  const std::string name(300, 'x'); // longer than names may be
  EXPECT_EQ(error_of([&] { detail::rename_result(part, folder / name); }),
            "cannot move '" + part + "' to '" + folder / name +
                "': File name too long");
  EXPECT_EQ(error_of([&] { detail::remove_results(name); }),
            "cannot remove '" + name + "': File name too long");
  std::filesystem::remove(part);
  std::filesystem::create_directory(folder / "a/.gpuopt-earlier");
  EXPECT_EQ(error_of([&] { detail::names_in(name); }),
            "cannot read '" + name + "': File name too long");
}

} // namespace
} // namespace gpuopt
