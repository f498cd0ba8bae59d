// --overwrite-output-dir: the results of an earlier run are there until the new
// one has saved something, however that ends.
#include "TrainerFixture.h"

namespace gpuopt {
namespace {

struct EarlierResultsTest : TrainerTest {
  EarlierResultsTest() {
    EXPECT_EQ(run("a", {"--max-steps=4", "--save-steps=2", "--ema-decay=0.9"}),
              0)
        << error;
    earlier = files();
  }
  int run_anew(std::vector<std::string> more = {}) {
    more.insert(more.begin(),
                {"--max-steps=3", "--seed=5", "--overwrite-output-dir"});
    return run("a", std::move(more));
  }
  // Returns the contents of all files, but those of a run that has failed.
  std::map<std::string, std::string> files() const {
    std::map<std::string, std::string> contents;
    for (const auto &entry :
         std::filesystem::recursive_directory_iterator(folder / "a"))
      if (const std::string path = entry.path();
          entry.is_regular_file() &&
          path.find(kFailedRunFolder) == std::string::npos)
        contents[path.substr((folder / "a").size())] = read_file(path);
    return contents;
  }
  bool has(const std::string &name) const {
    return std::filesystem::exists(folder / ("a/" + name));
  }
  static void copy(const std::string &from, const std::string &to) {
    std::filesystem::copy(from, to, std::filesystem::copy_options::recursive);
  }
  // Makes the update of a step do something first.
  void before_update(int64_t of_step, void (*what)()) {
    static int64_t step, at;
    static void (*action)();
    step = 0, at = of_step, action = what;
    program.update = [](Context &ctx, char *memory) {
      if (++step == at)
        action();
      tiny::update(ctx, memory);
    };
  }
  void lose_weights() {
    program.update = [](Context &ctx, char *memory) {
      tiny::update(ctx, memory);
      tiny::at<float>(memory, tiny::kOffWeight)[11] = -INFINITY;
    };
  }
  std::string is_back(const std::string &run) const {
    return "the results of the earlier run are back in '" + folder / "a" +
           "', because " + run + " has saved nothing; its metrics are in '" +
           folder / "a/failed-run" + "'\n";
  }
  std::map<std::string, std::string> earlier;
};

TEST_F(EarlierResultsTest, AreKeptAfterAnInterrupt) {
  before_update(2, [] { detail::interrupted = 1; });
  ASSERT_EQ(run_anew(), 0) << error;
  detail::interrupted = 0;
  EXPECT_NE(error.find("the results of the earlier run are kept in '" +
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

TEST_F(EarlierResultsTest, ComeBackAfterADivergence) {
  lose_weights();
  ASSERT_EQ(run_anew(), kDiverged) << error;
  EXPECT_EQ(files(), earlier);
  EXPECT_NE(error.find("tiny: " + is_back("this run")), std::string::npos)
      << error;
  EXPECT_EQ(losses("a/failed-run").size(), 2u);
  // The next one takes the place of that.
  ASSERT_EQ(run_anew({"--max-steps=1"}), kDiverged) << error;
  EXPECT_EQ(losses("a/failed-run").size(), 1u);
}

TEST_F(EarlierResultsTest, ComeBackAfterAnError) {
  before_update(2, [] { throw Error("the device is lost"); });
  ASSERT_EQ(run_anew(), 1);
  EXPECT_EQ(files(), earlier);
  EXPECT_NE(error.find(is_back("this run")), std::string::npos) << error;
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

TEST_F(EarlierResultsTest, ComeBackAfterAKill) {
  static std::string out, killed;
  out = folder / "a", killed = folder / "killed";
  before_update(2, [] { copy(out, killed); });
  ASSERT_EQ(run_anew(), 0) << error;
  std::filesystem::remove_all(out);
  std::filesystem::rename(killed, out); // as it was in the second step
  EXPECT_FALSE(has("model.safetensors"));
  EXPECT_TRUE(has(".gpuopt-earlier/model.safetensors"));
  // The next run finds them, and is refused as before.
  ASSERT_EQ(run("a", {"--max-steps=3"}), 1);
  EXPECT_EQ(error.rfind("tiny: " + is_back("the run that was to replace them") +
                            "tiny: error: '--output-dir' '" + folder / "a" +
                            "' has checkpoints of an earlier run",
                        0),
            0u)
      << error;
  EXPECT_EQ(files(), earlier);
  EXPECT_EQ(losses("a/failed-run").size(), 1u);
  program.update = tiny::update;
  ASSERT_EQ(run("a", {"--max-steps=5", "--resume=auto", "--ema-decay=0.9"}), 0)
      << error;
  EXPECT_EQ(losses("a").size(), 5u);
}

TEST_F(EarlierResultsTest, GoAfterAKillBehindTheFirstCheckpoint) {
  copy(folder / "a", folder / "copy");
  std::filesystem::rename(folder / "copy", folder / "a/.gpuopt-earlier");
  EXPECT_FALSE(settle_earlier_results(folder / "a"));
  EXPECT_EQ(files(), earlier);
}

// A kill may come between any two of the files that are moved.
TEST_F(EarlierResultsTest, ComeBackFromHalfWay) {
  const std::string part = folder / "a/.gpuopt-earlier.part";
  for (const char *name :
       {"model.safetensors", "checkpoint-2", "metrics.jsonl"}) {
    std::filesystem::create_directory(part);
    std::filesystem::rename(folder / ("a/" + std::string(name)),
                            part + "/" + name);
    EXPECT_TRUE(settle_earlier_results(folder / "a")) << name;
    EXPECT_EQ(files(), earlier) << name;
    EXPECT_FALSE(has("failed-run") || has(".gpuopt-earlier.part"));
  }
}

TEST_F(EarlierResultsTest, WhatCannotBeMovedIsTold) {
  const std::string part = folder / "a/.gpuopt-earlier.part";
  write_file(part, "not a folder");
  EXPECT_EQ(error_of([&] { set_earlier_results_aside(folder / "a"); }),
            "--overwrite-output-dir cannot move '" +
                folder / "a/metrics.jsonl" + "' to '" + part +
                "/metrics.jsonl': Not a directory");
  const std::string name(300, 'x'); // longer than names may be
  EXPECT_EQ(error_of([&] { detail::remove_results(name); }),
            "--overwrite-output-dir cannot remove '" + name +
                "': File name too long");
}

} // namespace
} // namespace gpuopt
