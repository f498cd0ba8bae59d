// Plans of convolutions that are chosen by time and kept in a file. The
// emulated cuDNN has two that may be taken, engines 6 and 9, of which the first
// alone uses a workspace; each leaves other bytes in it.
#include "Machine.h"

#include "../Runtime/Files.h"
#include "gpuopt/ops/conv.h"

#include <algorithm>
#include <filesystem>

namespace {

using gpuopt::Context;
using gpuopt::Error;
using gpuopt::f16;
using gpuopt::read_file;
using gpuopt::write_file;

constexpr gpuopt::ConvShape kShape = {.n = 1,
                                      .h = 4,
                                      .w = 4,
                                      .c = 8,
                                      .oh = 4,
                                      .ow = 4,
                                      .oc = 8,
                                      .kh = 3,
                                      .kw = 3,
                                      .pad_begin = {1, 1},
                                      .pad_end = {1, 1}};

std::vector<float> numbers(size_t count, int step) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; i++)
    values[i] = float(int(i * size_t(step) % 7) - 3);
  return values;
}

struct ConvAutotune : Emulation {
  // What a program that runs the three products of a convolution once computes,
  // one after the other; the weights' gradient is added to.
  std::vector<float> run(const std::string &record) {
    constexpr size_t kBytes = 64 << 10;
    OnDevice<char> workspace(kBytes);
    Context ctx;
    if (!record.empty())
      ctx.use_autotune_record(record);
    ctx.use_workspace(workspace.data, kBytes);
    OnDevice<float> x(numbers(128, 1)), w(numbers(8 * 8 * 9, 2)), y(128),
        dx(128), dw(numbers(8 * 8 * 9, 3));
    cudaDeviceSynchronize();
    gpuopt::conv_forward<float>(ctx, kShape, x.data, w.data, nullptr, y.data);
    gpuopt::conv_backward_data(ctx, kShape, y.data, w.data, dx.data);
    gpuopt::conv_backward_weights(ctx, kShape, x.data, y.data, dw.data, 1.0);
    std::vector<float> all = y.values();
    for (const std::vector<float> &values : {dx.values(), dw.values()})
      all.insert(all.end(), values.begin(), values.end());
    return all;
  }
  std::string error_of(const std::string &record) {
    try {
      run(record);
    } catch (const Error &error) {
      return error.what();
    }
    return "";
  }
  gpuopt::TemporaryFolder folder;
  std::string file = folder / "autotune.txt";
};

TEST_F(ConvAutotune, KeepsWhatItChose) {
  const std::vector<float> untimed = run("");
  EXPECT_EQ(run(file), untimed);
  const std::string record = read_file(file);
  EXPECT_TRUE(contains(
      record, "forward convolution of f32, x 1x4x4x8, weights 8x3x3x8, y 4x4, "
              "strides 1 1, zeros before 1 1, zeros behind 1 1, dilations 1 1, "
              "groups 1, aligned "))
      << record;
  for (const char *kind : {"gradient of a convolution's data of f32",
                           "gradient of a convolution's weights of f32"})
    EXPECT_TRUE(contains(record, kind)) << record;
  EXPECT_TRUE(contains(record, "\tengine ")) << record;
  EXPECT_EQ(run(file), untimed);
  EXPECT_EQ(read_file(file), record);
}

// Replaces the choice in each line.
std::string with_choice(std::string record, const std::string &choice) {
  for (size_t at = record.find("\tengine "); at != std::string::npos;
       at = record.find("\tengine ", at + 1))
    record.replace(at + 1, record.find('\n', at) - at - 1, choice);
  return record;
}

// Returns whether the forward has written to the workspace behind the weights.
bool uses_workspace(const std::string &record) {
  constexpr size_t kBytes = 64 << 10, kWeights = 2048;
  OnDevice<char> workspace(std::vector<char>(kBytes, 1));
  OnDevice<f16> x(128), w(8 * 8 * 9), y(128);
  Context ctx;
  ctx.use_autotune_record(record);
  ctx.use_workspace(workspace.data, kBytes);
  cudaDeviceSynchronize();
  gpuopt::conv_forward<f16>(ctx, kShape, x.data, w.data, nullptr, y.data);
  cudaStreamSynchronize(ctx.stream);
  const std::vector<char> after = workspace.values();
  return std::any_of(after.begin() + kWeights, after.end(),
                     [](char byte) { return byte != 1; });
}

TEST_F(ConvAutotune, RunsThePlanOfTheRecord) {
  uses_workspace(file); // which writes the record
  const std::string record = read_file(file);
  write_file(file, with_choice(record, "engine 6"));
  EXPECT_TRUE(uses_workspace(file));
  write_file(file, with_choice(record, "engine 9"));
  EXPECT_FALSE(uses_workspace(file));
}

TEST_F(ConvAutotune, RefusesAChoiceThatCannotBeKept) {
  run(file);
  const std::string record = read_file(file);
  write_file(file, with_choice(record, "engine 1"));
  EXPECT_TRUE(contains(error_of(file),
                       "an engine does not always give the same bits; remove "
                       "the file to have calls timed anew"))
      << error_of(file);
  write_file(file, with_choice(record, "engine 62, knobs 2=4"));
  EXPECT_TRUE(contains(error_of(file),
                       "'" + file +
                           "' has a choice that cannot be kept for the forward "
                           "convolution of f32"))
      << error_of(file);
}

TEST_F(ConvAutotune, TimesNothingWhileAGraphIsCaptured) {
  Context ctx;
  ctx.use_autotune_record(file);
  OnDevice<char> workspace(64 << 10);
  ctx.use_workspace(workspace.data, 64 << 10);
  OnDevice<float> x(128), w(8 * 8 * 9), y(128);
  cudaDeviceSynchronize();
  cudaStreamBeginCapture(ctx.stream, cudaStreamCaptureModeThreadLocal);
  gpuopt::conv_forward<float>(ctx, kShape, x.data, w.data, nullptr, y.data);
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(cudaStreamEndCapture(ctx.stream, &graph), cudaSuccess);
  cudaGraphDestroy(graph);
  EXPECT_FALSE(std::filesystem::exists(file));
}

} // namespace
