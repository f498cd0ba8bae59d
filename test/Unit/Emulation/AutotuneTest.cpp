// Algorithms of products that are chosen by time and kept in a file. The
// emulated library has several for a product with a long sum, and each adds in
// an order of its own, so the bits of a result tell which one computed it.
#include "Machine.h"

#include "../Runtime/Files.h"
#include "emulation/cudart/device.h"
#include "gpuopt/ops/gemm.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <set>

namespace {

using gpuopt::Context;
using gpuopt::Error;
using gpuopt::f16;
using gpuopt::GemmOptions;
using gpuopt::GemmShape;
using gpuopt::read_file;
using gpuopt::write_file;

constexpr GemmShape kShape = {.m = 8,
                              .n = 8,
                              .k = 512,
                              .a_m = 512,
                              .a_k = 1,
                              .b_k = 8,
                              .b_n = 1,
                              .c_m = 8,
                              .c_n = 1};

std::vector<float> numbers(size_t count, uint32_t seed) {
  std::vector<float> values(count);
  for (float &value : values) {
    seed = seed * 1664525 + 1013904223;
    value = float(seed >> 8) / float(1 << 24) - 0.5f;
  }
  return values;
}

struct Autotune : Emulation {
  // The result of a program that runs the product once.
  std::vector<float> multiply(const std::string &record, GemmOptions o = {}) {
    Context ctx;
    if (!record.empty())
      ctx.use_autotune_record(record);
    OnDevice<float> a(numbers(8 * 512, 1)), b(numbers(512 * 8, 2)),
        c(numbers(8 * 8, 3));
    cudaDeviceSynchronize();
    gpuopt::gemm(ctx, kShape, a.data, b.data, c.data, o);
    return c.values();
  }
  std::string error_of(const std::string &record) {
    try {
      multiply(record);
    } catch (const Error &error) {
      return error.what();
    }
    return "";
  }
  gpuopt::TemporaryFolder folder;
  std::string file = folder / "autotune.txt";
};

// The choice of the record's only line.
std::string choice_of(const std::string &record) {
  const std::string line = record.substr(record.rfind('\t') + 1);
  return line.substr(0, line.find('\n'));
}

TEST_F(Autotune, KeepsWhatItChose) {
  const std::vector<float> first = multiply(file);
  const std::string record = read_file(file);
  EXPECT_EQ(record.rfind("gpuopt autotune record 1\n", 0), 0u);
  EXPECT_NE(record.find("product of f32 to f32, 1 of 8x8x512, strides a 0 512 "
                        "1 b 0 8 1 c 0 8 1, aligned 16 16 16, workspace"),
            std::string::npos)
      << record;
  EXPECT_EQ(multiply(file), first);
  EXPECT_EQ(read_file(file), record);
}

// The choices that a record may have for the product, as the library names
// them.
std::vector<std::string> all_choices(const GemmOptions &o = {}) {
  namespace detail = gpuopt::detail;
  Context ctx;
  OnDevice<float> a(8 * 512), b(512 * 8), c(8 * 8);
  auto &lt = ctx.library<detail::CublasLt>();
  const detail::ProductKey key =
      detail::key_of(ctx, kShape, a.data, b.data, c.data, o);
  const detail::LtProduct product = detail::make_product<float, float>(key, o);
  std::vector<std::string> choices;
  for (const detail::ProductAlgorithm &algorithm :
       detail::algorithms_for(lt.handle, product, key))
    choices.push_back(detail::hex_of(algorithm.value));
  return choices;
}

TEST_F(Autotune, RunsTheAlgorithmOfTheRecord) {
  multiply(file);
  const std::string record = read_file(file), chosen = choice_of(record);
  std::set<std::vector<float>> results;
  const std::vector<std::string> choices = all_choices();
  ASSERT_EQ(choices.size(), 2u);
  EXPECT_NE(std::find(choices.begin(), choices.end(), chosen), choices.end());
  for (const std::string &choice : choices) {
    std::string other = record;
    other.replace(other.rfind(chosen), chosen.size(), choice);
    write_file(file, other);
    const std::vector<float> result = multiply(file);
    EXPECT_EQ(multiply(file), result);
    EXPECT_EQ(read_file(file), other);
    results.insert(result);
  }
  EXPECT_EQ(results.size(), 2u);
}

TEST_F(Autotune, TimesNothingWhileAGraphIsCaptured) {
  Context ctx;
  ctx.use_autotune_record(file);
  OnDevice<float> a(8 * 512), b(512 * 8), c(8 * 8);
  ctx.workspace_bytes(); // what allocates comes before
  cudaDeviceSynchronize();
  cudaStreamBeginCapture(ctx.stream, cudaStreamCaptureModeThreadLocal);
  gpuopt::gemm(ctx, kShape, a.data, b.data, c.data);
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(cudaStreamEndCapture(ctx.stream, &graph), cudaSuccess);
  cudaGraphDestroy(graph);
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST_F(Autotune, IsSharedByTrainersThatRunAtTheSameTime) {
  constexpr int kTrainers = 3, kCalls = 20;
  for (int trainer = 0; trainer < kTrainers; trainer++)
    if (fork() == 0) {
      gpuopt::AutotuneRecord record(file);
      for (int call = 0; call < kCalls; call++)
        record.add("machine", "call " + std::to_string(call),
                   "of " + std::to_string(trainer));
      bool all_hold = true;
      const gpuopt::AutotuneRecord again(file);
      for (int call = 0; call < kCalls; call++) {
        const std::string name = "call " + std::to_string(call);
        all_hold &=
            *record.find("machine", name) == *again.find("machine", name);
      }
      _exit(all_hold && record.is_kept() ? 0 : 1);
    }
  for (int trainer = 0; trainer < kTrainers; trainer++) {
    int status = -1;
    wait(&status);
    EXPECT_EQ(status, 0);
  }
  const std::string record = read_file(file);
  EXPECT_EQ(std::count(record.begin(), record.end(), '\n'), 1 + kCalls);
}

TEST_F(Autotune, TimesNothingWithoutARecord) {
  const std::vector<float> heuristic = multiply("");
  EXPECT_EQ(multiply(""), heuristic);
  // A record that cannot be kept is none.
  testing::internal::CaptureStderr();
  EXPECT_EQ(multiply(folder / "none/autotune.txt"), heuristic);
  const std::string warning = testing::internal::GetCapturedStderr();
  EXPECT_NE(warning.find("calls are not timed any more; the library's "
                         "heuristics choose their algorithms"),
            std::string::npos)
      << warning;
}

void expect_sum(const std::vector<float> &sum, const std::vector<float> &c,
                const std::vector<float> &product) {
  for (size_t i = 0; i < sum.size(); i++)
    EXPECT_NEAR(sum[i], c[i] + product[i], 1e-5) << i;
}

// Each run of such a product adds once more, so it is timed with another
// result.
TEST_F(Autotune, TimesWhatAddsWithoutAddingToTheResult) {
  GemmOptions o;
  const std::vector<float> product = multiply("", o), c = numbers(8 * 8, 3);
  o.beta = 1;
  const std::vector<float> sum = multiply(file, o);
  expect_sum(sum, c, product);
  const std::string record = read_file(file);
  EXPECT_NE(record.find(", added to the result"), std::string::npos) << record;
  EXPECT_EQ(multiply(file, o), sum);
  EXPECT_EQ(read_file(file), record);
}

// The result takes the place of the matrix that is added. It lies between other
// elements, so that what is timed must not write as far as they are.
TEST_F(Autotune, TimesWhatIsAddedInPlaceWithoutAddingToTheResult) {
  const std::vector<float> product = multiply("");
  Context ctx;
  ctx.use_autotune_record(file);
  GemmShape shape = kShape;
  shape.c_m = 12;
  std::vector<float> before = numbers(8 * 12 + 1, 3);
  OnDevice<float> a(numbers(8 * 512, 1)), b(numbers(512 * 8, 2)), c(before);
  cudaDeviceSynchronize();
  GemmOptions o;
  o.added = c.data + 1; // which is not aligned
  gpuopt::gemm(ctx, shape, a.data, b.data, c.data + 1, o);
  const std::vector<float> after = c.values();
  for (int64_t i = 0; i < 8; i++)
    for (int64_t j = 0; j < 8; j++)
      before[1 + i * 12 + j] += product[i * 8 + j];
  for (size_t i = 0; i < after.size(); i++)
    EXPECT_NEAR(after[i], before[i], 1e-5) << i;
  const std::string record = read_file(file);
  EXPECT_NE(record.find("aligned 16 16 4, added to the result"),
            std::string::npos)
      << record;
}

// Where there is no room for another result, nothing is timed. The record keeps
// the heuristic's choice, which then holds where there is room, too.
TEST_F(Autotune, KeepsTheHeuristicsChoiceWithoutRoomToTime) {
  GemmOptions o;
  const std::vector<float> product = multiply("", o), c = numbers(8 * 8, 3);
  o.beta = 1;
  const std::vector<float> heuristic = multiply("", o);
  Context ctx;
  ctx.use_autotune_record(file);
  OnDevice<float> a(numbers(8 * 512, 1)), b(numbers(512 * 8, 2)), result(c);
  ctx.workspace_bytes(); // what allocates comes before
  cudaDeviceSynchronize();
  gpuopt::emulation::Memory &memory = gpuopt::emulation::device().memory;
  memory.set_bytes_of_others(memory.free_bytes());
  gpuopt::gemm(ctx, kShape, a.data, b.data, result.data, o);
  EXPECT_EQ(result.values(), heuristic);
  memory.set_bytes_of_others(0);
  expect_sum(heuristic, c, product);
  const std::vector<std::string> choices = all_choices(o);
  EXPECT_EQ(choice_of(read_file(file)), choices.front());
}

TEST_F(Autotune, RefusesADamagedRecord) {
  write_file(file, "something else\n");
  EXPECT_EQ(error_of(file),
            "'" + file +
                "', line 1: expected 'gpuopt autotune record 1'; remove the "
                "file to have calls timed anew");
  write_file(file, "gpuopt autotune record 1\na line\n");
  EXPECT_EQ(error_of(file),
            "'" + file +
                "', line 2: expected a machine, a call and a choice, with tabs "
                "between them; remove the file to have calls timed anew");
}

TEST_F(Autotune, RefusesARecordThatCannotBeRead) {
  std::filesystem::create_directory(file);
  EXPECT_EQ(error_of(file), "cannot read the autotune record '" + file + "'");
}

TEST_F(Autotune, RefusesAnAlgorithmOfAnotherProduct) {
  multiply(file);
  std::string record = read_file(file);
  const std::string choice = choice_of(record);
  record.replace(record.rfind(choice), 4, "beef");
  write_file(file, record);
  EXPECT_NE(error_of(file).find("has a choice that cannot be kept for the "
                                "product of f32"),
            std::string::npos)
      << error_of(file);
  EXPECT_NE(error_of(file).find(": cuBLASLt refuses its algorithm; remove the "
                                "file to have calls timed anew"),
            std::string::npos)
      << error_of(file);
}

// A refused product is not kept, so that the same call is refused again.
TEST_F(Autotune, RefusesAChoiceAgain) {
  multiply(file);
  std::string record = read_file(file);
  const std::string choice = choice_of(record);
  record.replace(record.rfind(choice), choice.size(), "another");
  write_file(file, record);
  Context ctx;
  ctx.use_autotune_record(file);
  OnDevice<float> a(8 * 512), b(512 * 8), c(8 * 8);
  for (int i = 0; i < 2; i++) {
    const std::string error =
        ::error_of([&] { gpuopt::gemm(ctx, kShape, a.data, b.data, c.data); });
    EXPECT_NE(error.find("'another' is neither an algorithm"),
              std::string::npos)
        << i << ": " << error;
  }
}

// A sum of 4096 products in slices that are added as halves would be off by
// several units in the last place.
TEST_F(Autotune, AddsPartialSumsInTheTypeOfTheComputation) {
  constexpr int64_t kSize = 16, kLength = 4096;
  const std::vector<float> a = numbers(kSize * kLength, 4),
                           b = numbers(kSize * kLength, 5);
  std::vector<f16> half_a, half_b;
  for (float value : a)
    half_a.push_back(gpuopt::narrow_f16(value));
  for (float value : b)
    half_b.push_back(gpuopt::narrow_f16(value));
  Context ctx;
  OnDevice<f16> on_a(half_a), on_b(half_b), on_c(kSize * kSize);
  cudaDeviceSynchronize();
  gpuopt::gemm(ctx,
               {.m = kSize,
                .n = kSize,
                .k = kLength,
                .a_m = kLength,
                .a_k = 1,
                .b_k = kSize,
                .b_n = 1,
                .c_m = kSize,
                .c_n = 1},
               on_a.data, on_b.data, on_c.data);
  const std::vector<f16> c = on_c.values();
  int rounded_twice = 0;
  for (size_t i = 0; i < kSize; i++)
    for (size_t j = 0; j < kSize; j++) {
      double sum = 0;
      for (size_t l = 0; l < kLength; l++)
        sum += double(gpuopt::widen(half_a[i * kLength + l])) *
               double(gpuopt::widen(half_b[l * kSize + j]));
      rounded_twice += gpuopt::widen(c[i * kSize + j]) !=
                       gpuopt::widen(gpuopt::narrow_f16(float(sum)));
    }
  EXPECT_LE(rounded_twice, 5);
}

} // namespace
