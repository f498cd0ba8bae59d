// A folder with the results of a run, which others are to replace.
#pragma once

#include "TrainerFixture.h"

namespace gpuopt {

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
  // Returns the names of the files that are not as the earlier run has left
  // them.
  std::string changes() const {
    const auto now = files();
    std::string names;
    for (const auto &[name, text] : now)
      if (const auto at = earlier.find(name);
          at == earlier.end() || at->second != text)
        names += name + " ";
    for (const auto &[name, text] : earlier)
      if (!now.count(name))
        names += "no " + name + " ";
    return names;
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
  // Runs anew, and leaves the folder as it is in the second step of three,
  // where a kill would leave it.
  void kill_in_second_step() {
    static std::string out, killed;
    out = folder / "a", killed = folder / "killed";
    before_update(2, [] { copy(out, killed); });
    ASSERT_EQ(run_anew(), 0) << error;
    std::filesystem::remove_all(out);
    std::filesystem::rename(killed, out);
  }
  void write_program_that_waits(const std::string &next) const {
    std::filesystem::create_directories(next + "/program");
    std::filesystem::copy(folder / "start",
                          next + "/program/model.safetensors");
  }
  void lose_weights() {
    program.update = [](Context &ctx, char *memory) {
      tiny::update(ctx, memory);
      tiny::at<float>(memory, tiny::kOffWeight)[11] = -INFINITY;
    };
  }
  std::string are_put_back(const std::string &run) const {
    return "the results of the earlier run are put back in '" + folder / "a" +
           "', because " + run +
           " has saved nothing; what that has left is in '" +
           folder / "a/failed-run" + "'\n";
  }
  std::map<std::string, std::string> earlier;
};

} // namespace gpuopt
