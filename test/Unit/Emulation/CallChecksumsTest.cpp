// Checksums of the memory after each call, by blocks of many threads.
#include "Machine.h"

#include "gpuopt/trainer/profiling/call_checksums.h"

#include <fstream>

namespace {

using namespace gpuopt;

// Words that no number of blocks or lanes divides, then a workspace.
constexpr int64_t kWords = 9001, kWorkspace = 100;

__global__ void add(uint64_t *words, uint64_t value) { words[7] += value; }

uint64_t added = 1; // by the second call

void three_calls(Context &context, char *memory) {
  const Calls ctx{context};
  auto *words = reinterpret_cast<uint64_t *>(memory);
  launch(ctx, 1, 1, add, words, uint64_t(5));
  launch(ctx, 1, 1, add, words, added);
  copy(ctx, words + kWords - 1, words + 7, sizeof *words);
}

// A tensor comes back from the host's memory while a call does other work.
constexpr int64_t kReloaded = 3000; // words, from the 2000th on

void calls_with_reload(Context &context, char *memory) {
  const Calls ctx{context};
  auto *words = reinterpret_cast<uint64_t *>(memory);
  reload(ctx, 0, words + 2000, context.host_memory, kReloaded * 8);
  launch(ctx, 1, 1, add, words, uint64_t(5));
  await(ctx, 0);
}

struct CallChecksumsTest : Emulation {
  CallChecksumsTest() {
    std::vector<uint64_t> words(kWords + kWorkspace);
    for (size_t i = 0; i < words.size(); i++)
      words[i] = i * i;
    CHECK_CUDA(cudaMemcpy(memory.data, words.data(), words.size() * 8,
                          cudaMemcpyHostToDevice));
    program.states.data = &workspace;
    program.states.count = 1;
    program.total_bytes = (kWords + kWorkspace) * 8;
  }
  // Returns the lines of one run of the three calls, or of others.
  std::vector<std::string> lines(void (*run)(Context &, char *) = three_calls) {
    const std::string file = testing::TempDir() + "/checksums.jsonl";
    static const CallInfo calls[] = {{"", "add", 2}, {"x", "copy", 1}};
    CallChecksums checksums(program, file);
    const TimedFunction function{"update", run, calls, {}};
    checksums.begin_step(3);
    checksums.run(ctx, reinterpret_cast<char *>(memory.data), function,
                  [&] { run(ctx, reinterpret_cast<char *>(memory.data)); });
    std::vector<std::string> all;
    std::ifstream stream(file);
    for (std::string line; std::getline(stream, line);)
      all.push_back(line);
    return all;
  }
  static std::string line(int call, const char *name, uint64_t sum) {
    char text[200];
    snprintf(text, sizeof text,
             R"({"step": 3, "function": "update", "call": %d, "name": "%s", )"
             R"("checksum": "%016llx"})",
             call, name, static_cast<unsigned long long>(sum));
    return text;
  }
  // Returns the checksum of the memory as it is.
  uint64_t sum() const {
    const std::vector<uint64_t> words = memory.values();
    uint64_t all = 0;
    for (int64_t i = 0; i < kWords; i++)
      all += hash_of_word(words[size_t(i)], i);
    return all;
  }

  Context ctx;
  OnDevice<uint64_t> memory{kWords + kWorkspace};
  const StateInfo workspace{
      {"workspace", Type::U8, 1, {kWorkspace * 8}, kWords * 8, kWorkspace * 8},
      StateKind::Workspace,
      {}};
  Program program{};
};

TEST_F(CallChecksumsTest, AreThoseOfTheMemoryAfterEachCall) {
  const uint64_t before = sum();
  const uint64_t first = before - hash_of_word(49, 7) + hash_of_word(54, 7);
  const uint64_t second = first - hash_of_word(54, 7) + hash_of_word(55, 7);
  const std::vector<std::string> got = lines();
  ASSERT_EQ(got.size(), 4u);
  EXPECT_EQ(got[0], line(0, "", before));
  EXPECT_EQ(got[1], line(1, "add", first));
  EXPECT_EQ(got[2], line(2, "add", second));
  EXPECT_EQ(got[3], line(3, "copy: x", sum()));
}

TEST_F(CallChecksumsTest, TheFirstThatDiffersIsThatOfTheFaultyCall) {
  const std::vector<uint64_t> start = memory.values();
  const std::vector<std::string> right = lines();
  CHECK_CUDA(cudaMemcpy(memory.data, start.data(), start.size() * 8,
                        cudaMemcpyHostToDevice));
  added = 2;
  const std::vector<std::string> wrong = lines();
  added = 1;
  ASSERT_EQ(wrong.size(), right.size());
  EXPECT_EQ(wrong[0], right[0]);
  EXPECT_EQ(wrong[1], right[1]);
  EXPECT_NE(wrong[2], right[2]);
  EXPECT_NE(wrong[3], right[3]);
}

// Whenever the transfer ends, the call that begins it has its result.
TEST_F(CallChecksumsTest, WaitForTransfers) {
  ctx.allocate_host(kReloaded * 8);
  program.host_bytes = kReloaded * 8;
  memset(ctx.host_memory, 1, kReloaded * 8);
  const std::vector<uint64_t> start = memory.values();
  uint64_t reloaded = sum();
  for (int64_t i = 2000; i < 2000 + kReloaded; i++)
    reloaded +=
        hash_of_word(0x0101010101010101, i) - hash_of_word(start[size_t(i)], i);
  EXPECT_EQ(count_seeds(20,
                        [&] {
                          CHECK_CUDA(cudaMemcpy(memory.data, start.data(),
                                                start.size() * 8,
                                                cudaMemcpyHostToDevice));
                          return lines(calls_with_reload)[1] !=
                                 line(1, "add", reloaded);
                        }),
            0);
}

} // namespace
