// --overwrite-output-dir: a program that gpuopt train has written is set aside
// with the results of its run, and the new one takes its place.
#include "EarlierResultsFixture.h"

namespace gpuopt {
namespace {

struct ProgramSetAsideTest : EarlierResultsTest {
  ProgramSetAsideTest() {
    write_program(folder / "a", "old");
    write_file(folder / "a/program/notes.txt", "the user's");
    earlier = files();
  }
  // Writes a program and its plan to a folder as gpuopt train does.
  void write_program(const std::string &to, const std::string &what) {
    std::filesystem::create_directories(to + "/program/gpuopt");
    write_file(to + "/plan.json", what);
    write_file(to + "/program/gpuopt/runtime.h", what);
    write_file(to + "/program/" + what + ".cpp", what);
    std::filesystem::copy(folder / "start", to + "/program/model.safetensors");
    write_file(to + "/program/.gpuopt", std::string(kProgramTitle) +
                                            "\n.gpuopt\ngpuopt\n" + what +
                                            ".cpp\nmodel.safetensors\n");
  }
  // Runs a new program as gpuopt train does.
  int run_new_program(std::vector<std::string> more = {}) {
    write_program(folder / "a/.gpuopt-next", "new");
    more.insert(
        more.begin(),
        {"--weights", folder / "a/.gpuopt-next/program/model.safetensors"});
    return run_anew(std::move(more));
  }
  std::string text_of(const std::string &name) const {
    return read_file(folder / ("a/" + name));
  }
};

TEST_F(ProgramSetAsideTest, GoesWithTheResults) {
  static std::string out;
  out = folder / "a";
  before_update(2, [] {
    EXPECT_EQ(read_file(out + "/.gpuopt-earlier/program/old.cpp"), "old");
    EXPECT_EQ(read_file(out + "/.gpuopt-earlier/plan.json"), "old");
    EXPECT_EQ(read_file(out + "/program/gpuopt/runtime.h"), "new");
    EXPECT_FALSE(std::filesystem::exists(out + "/.gpuopt-next"));
  });
  ASSERT_EQ(run_new_program(), 0) << error;
  EXPECT_EQ(text_of("program/new.cpp"), "new");
  EXPECT_EQ(text_of("program/notes.txt"), "the user's");
  EXPECT_EQ(text_of("plan.json"), "new");
  EXPECT_FALSE(has("program/old.cpp") || has(".gpuopt-earlier") ||
               has(".gpuopt-removed"));
}

// Whoever repeats a run by its run.json finds its weights.
TEST(ProgramInItsPlace, HasItsWeightsThere) {
  EXPECT_EQ(in_its_place("--weights=a/.gpuopt-next/program/model.safetensors"),
            "--weights=a/program/model.safetensors");
  EXPECT_EQ(in_its_place("--max-steps=3"), "--max-steps=3");
}

TEST_F(ProgramSetAsideTest, IsPutBackWithTheResults) {
  lose_weights();
  ASSERT_EQ(run_new_program(), kDiverged) << error;
  EXPECT_EQ(changes(), "");
  EXPECT_EQ(text_of("failed-run/plan.json"), "new");
  EXPECT_EQ(text_of("failed-run/program/gpuopt/runtime.h"), "new");
  EXPECT_TRUE(holds_results(folder / "a/failed-run"));
}

TEST_F(ProgramSetAsideTest, StaysIfTheRunDoesNotBegin) {
  EXPECT_EQ(run_new_program({"--data", "x=" + folder / "none.npy"}), 1);
  EXPECT_EQ(changes(), "") << "a flag is wrong";
  write_file(folder / "bad", "no weights");
  EXPECT_EQ(run_new_program({"--init-from", folder / "bad"}), 1);
  EXPECT_EQ(changes(), "") << "weights cannot be loaded";
  EXPECT_FALSE(has("failed-run"));
}

// A trainer that was built by hand brings no program.
TEST_F(ProgramSetAsideTest, StaysWithoutAnother) {
  lose_weights();
  ASSERT_EQ(run_anew(), kDiverged);
  EXPECT_EQ(changes(), "");
  EXPECT_FALSE(has("failed-run/plan.json") || has("failed-run/program"));
  program.update = tiny::update;
  ASSERT_EQ(run_anew(), 0) << error;
  EXPECT_EQ(text_of("program/old.cpp") + text_of("plan.json"), "oldold");
}

// It is killed, and gpuopt train starts it anew.
TEST_F(ProgramSetAsideTest, GoesWhereTheKilledRunHadNone) {
  kill_in_second_step();
  const std::string out = folder / "a";
  EXPECT_TRUE(recover_results(out, "auto").restarts);
  program.update = tiny::update;
  write_program(out + "/.gpuopt-next", "new");
  ASSERT_EQ(run("a", {"--max-steps=3", "--seed=5", "--resume=auto", "--weights",
                      out + "/.gpuopt-next/program/model.safetensors"}),
            0)
      << error;
  EXPECT_EQ(text_of("program/new.cpp") + text_of("plan.json"), "newnew");
  EXPECT_EQ(text_of("program/notes.txt"), "the user's");
  EXPECT_FALSE(has("program/old.cpp") || has(".gpuopt-earlier"));
}

// A kill may come between any two of the files that take their places.
TEST_F(ProgramSetAsideTest, IsPutBackFromHalfWay) {
  write_program(folder / "a/.gpuopt-next", "new");
  set_earlier_results_aside(folder / "a");
  std::filesystem::remove(folder / "a/plan.json");
  std::filesystem::remove(folder / "a/program/new.cpp");
  EXPECT_TRUE(put_back_unless_saved(folder / "a").is_done);
  EXPECT_EQ(changes(), "");
  EXPECT_EQ(text_of("failed-run/program/gpuopt/runtime.h"), "new");
}

} // namespace
} // namespace gpuopt
