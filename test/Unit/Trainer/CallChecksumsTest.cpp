// --checksums-to: the first line that differs between two runs names the call.

#include "TrainerFixture.h"

namespace gpuopt {
namespace {

struct CallChecksumsTest : TrainerTest {
  // Returns the lines of a run of two steps.
  std::vector<std::string> lines_of(const std::string &out,
                                    std::vector<std::string> flags = {}) {
    const std::string file = folder / (out + ".jsonl");
    flags.insert(flags.end(), {"--max-steps", "2", "--checksums-to", file});
    EXPECT_EQ(run(out, flags), 0) << error;
    std::ifstream stream(file);
    std::vector<std::string> lines;
    for (std::string line; std::getline(stream, line);)
      lines.push_back(line);
    return lines;
  }
  // Returns the first line of a run that is another one in a second run,
  // without its checksum; empty if all are equal.
  static std::string first_difference(const std::vector<std::string> &one,
                                      const std::vector<std::string> &other) {
    EXPECT_EQ(one.size(), other.size());
    for (size_t i = 0; i < std::min(one.size(), other.size()); i++)
      if (one[i] != other[i])
        return one[i].substr(0, one[i].find(", \"checksum\""));
    return "";
  }
};

TEST_F(CallChecksumsTest, HaveALineBeforeAFunctionAndAfterEachCall) {
  program.accumulation_steps = 2;
  const std::vector<std::string> lines = lines_of("out");
  // Twice three calls of a micro step, and five of the update, in each step.
  ASSERT_EQ(lines.size(), 2u * (2 * (1 + 3) + (1 + 5)));
  const char *expected[] = {
      R"({"step": 1, "function": "micro_step", "call": 0, "name": "", )",
      R"({"step": 1, "function": "micro_step", "call": 1, "name": "begin_step", )",
      R"({"step": 1, "function": "micro_step", "call": 2, "name": "forward: fc", )",
      R"({"step": 1, "function": "micro_step", "call": 3, "name": "gemm: d \"fc\"", )"};
  for (size_t i = 0; i < std::size(expected); i++)
    EXPECT_EQ(lines[i].find(expected[i]), 0u) << lines[i];
  EXPECT_EQ(lines[8].find(
                R"({"step": 1, "function": "update", "call": 0, "name": "", )"),
            0u)
      << lines[8];
  EXPECT_EQ(lines[14].find(R"({"step": 2, "function": "micro_step")"), 0u);
  EXPECT_NE(lines[1].substr(lines[1].find("checksum")),
            lines[2].substr(lines[2].find("checksum")));
}

TEST_F(CallChecksumsTest, AreEqualInEqualRunsAndChangeNoNumber) {
  EXPECT_EQ(first_difference(lines_of("one"), lines_of("other")), "");
  ASSERT_EQ(run("plain", {"--max-steps", "2"}), 0) << error;
  EXPECT_EQ(losses("plain"), losses("one"));
  // Neither does a profile of the same steps.
  EXPECT_EQ(first_difference(lines_of("profiled", {"--profile", "active=1"}),
                             lines_of("again")),
            "");
}

// What is added to one loss in the second step, after the forward has run.
float wrong_loss = 0;
void micro_step_with_fault(Context &context, char *m) {
  const Calls ctx{context};
  auto *state = tiny::at<StepState>(m, tiny::kOffState);
  begin_step(ctx, state, tiny::at<Hyperparameters>(m, tiny::kOffHyper));
  tiny::forward(ctx, m, false);
  if (state->step == 1)
    tiny::at<float>(m, tiny::kOffLosses)[3] += wrong_loss;
  tiny::backward(ctx, m);
}

TEST_F(CallChecksumsTest, NameTheCallThatDiffers) {
  program.micro_step = micro_step_with_fault;
  wrong_loss = 0;
  const std::vector<std::string> right = lines_of("right");
  wrong_loss = 1e-6f;
  EXPECT_EQ(
      first_difference(right, lines_of("wrong")),
      R"({"step": 2, "function": "micro_step", "call": 2, "name": "forward: fc")");
}

TEST_F(CallChecksumsTest, TellDataFromCalls) {
  const std::vector<std::string> right = lines_of("right");
  x[0] += 1;
  write_file(folder / "x.npy", npy("<f4", "(64, 4)", bytes_of(x)));
  EXPECT_NE(first_difference(right, lines_of("wrong")).find(R"("call": 0, )"),
            std::string::npos);
}

// A library may leave anything in its workspace.
TEST_F(CallChecksumsTest, LeaveOutWorkspaces) {
  std::vector<StateInfo> states(program.states.begin(), program.states.end());
  states.push_back({{"workspace", Type::U8, 1, {256}, tiny::kTotal, 256},
                    StateKind::Workspace,
                    {}});
  program.states.data = states.data();
  program.states.count = int(states.size());
  program.total_bytes = tiny::kTotal + 256;
  static char content;
  static void (*const micro_step)(Context &, char *) = program.micro_step;
  program.micro_step = [](Context &ctx, char *m) {
    m[tiny::kTotal] = m[tiny::kTotal + 255] = content;
    micro_step(ctx, m);
  };
  content = 1;
  const std::vector<std::string> one = lines_of("one");
  content = 2;
  EXPECT_EQ(first_difference(one, lines_of("other")), "");
}

TEST_F(CallChecksumsTest, NeedAFileThatCanBeWritten) {
  EXPECT_EQ(run("out", {"--max-steps", "2", "--checksums-to",
                        folder / "none/checksums.jsonl"}),
            1);
  EXPECT_NE(error.find("'--checksums-to': cannot write '" +
                       (folder / "none/checksums.jsonl") +
                       "': there is no folder '" + (folder / "none") + "'"),
            std::string::npos)
      << error;
  EXPECT_FALSE(std::filesystem::exists(folder / "out"));
}

// Their kernels would count as those of the calls.
TEST_F(CallChecksumsTest, AreNotComputedWhereCostsAreMeasured) {
  EXPECT_EQ(run("out", {"--max-steps", "20", "--profile-costs-to",
                        folder / "costs.json", "--checksums-to",
                        folder / "checksums.jsonl"}),
            1);
  EXPECT_NE(error.find("'--checksums-to' adds kernels of its own to the calls "
                       "that --profile-costs-to times; give one of them"),
            std::string::npos)
      << error;
  EXPECT_FALSE(std::ifstream(folder / "checksums.jsonl").good());
}

// The sum of all parts is that of the words, however they are divided.
TEST(ChecksumKernelTest, AddsUpTheHashesOfWords) {
  Context ctx(2);
  std::vector<uint64_t> words(1000);
  for (size_t i = 0; i < words.size(); i++)
    words[i] = i * i;
  uint64_t expected = 0;
  for (int64_t i = 3; i < 998; i++)
    expected += hash_of_word(words[size_t(i)], i);
  for (const int64_t words_of_block : {1, 7, 16, 100, 5000}) {
    std::vector<uint64_t> parts(size_t(ceil_div(995, words_of_block)));
    launch(ctx, int64_t(parts.size()), 32, checksum_kernel, words.data(),
           int64_t(3), int64_t(998), words_of_block, parts.data());
    uint64_t sum = 0;
    for (uint64_t part : parts)
      sum += part;
    EXPECT_EQ(sum, expected) << words_of_block;
  }
  // Each bit counts, and so does the place.
  for (int bit = 0; bit < 64; bit++)
    EXPECT_NE(hash_of_word(5, 3), hash_of_word(5 ^ (uint64_t(1) << bit), 3));
  EXPECT_NE(hash_of_word(5, 3) + hash_of_word(6, 4),
            hash_of_word(6, 3) + hash_of_word(5, 4));
}

} // namespace
} // namespace gpuopt
