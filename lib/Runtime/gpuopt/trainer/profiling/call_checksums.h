// --checksums-to: a checksum of the program's memory before each function of a
// step and after each of its calls. Where two runs differ that should not, the
// first line that differs names the call. docs/troubleshooting.md has how.
//
// Meanwhile functions run call by call and not as a CUDA graph. The checksums
// are computed in the step's stream, which is not waited for between calls.
#pragma once

#include "gpuopt/data/json.h"
#include "gpuopt/device/offload.h"
#include "gpuopt/trainer/profiling/step_timer.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <locale>

namespace gpuopt {

// Returns a number that depends on all bits of a word and on its place, and 0
// for a word of zeros.
DEVICE uint64_t hash_of_word(uint64_t word, int64_t place) {
  word *= 0x9E3779B97F4A7C15u;
  word ^= word >> 32;
  return word * (0xD1B54A32D192ED03u * uint64_t(2 * place + 1));
}

// Each block adds up the hashes of a part of the words [begin, end). The sum of
// all parts is the same for any number of blocks.
KERNEL void checksum_kernel(const uint64_t *words, int64_t begin, int64_t end,
                            int64_t words_of_block, uint64_t *parts) {
  const int64_t first = begin + block() * words_of_block;
  const int64_t last =
      first + words_of_block < end ? first + words_of_block : end;
  uint64_t sum = 0;
  for (int64_t i = first + first_lane(); i < last; i += lane_step())
    for (int lane = 0; lane < kLanes && i + lane < last; lane++)
      sum += hash_of_word(words[i + lane], i + lane);
  sum = block_sum(masked(Lanes<uint64_t>(sum), 1, uint64_t(0)));
  if (first_thread())
    parts[block()] = sum;
}

class CallChecksums : public CallObserver {
public:
  CallChecksums(const Program &program, std::string file)
      : file(std::move(file)), ranges(ranges_of(program)),
        offloads(program.host_bytes > 0) {
    to.imbue(std::locale::classic());
    to.open(this->file, std::ios::trunc);
    check();
  }

  void begin_step(int64_t number) { step = number; }
  // Calls `run()`, which runs a function call by call.
  template <class F>
  void run(Context &ctx, char *memory, const TimedFunction &function, F run) {
    if (!parts)
      parts = reinterpret_cast<uint64_t *>(ctx.allocate_uncounted(
          size_t(kSlots * parts_of_checksum()) * sizeof(uint64_t)));
    words = reinterpret_cast<const uint64_t *>(memory);
    running = &function;
    cursor = CallCursor(function.calls);
    written = 0;
    name = "";
    {
      const ObserverScope scope(ctx, *this);
      run();
    }
    add(ctx);
    write(ctx);
    to.flush();
    check();
  }
  // The memory is as the call before has left it.
  void begin_call(Context &ctx) override {
    add(ctx);
    const int row = cursor.next();
    name = row < 0 ? "" : name_of_call(*running, row);
  }

private:
  static constexpr int64_t kSlots = 64; // checksums, until they are written
  static constexpr int64_t kMostBlocks = 1024;
  static constexpr int64_t kLeastWordsOfBlock = 4096;
  static constexpr int kThreads = 512;

  // Words of the memory, and how many blocks add them up.
  struct Range {
    int64_t begin, end;
    int64_t words_of_block() const {
      return std::max(ceil_div(end - begin, kMostBlocks), kLeastWordsOfBlock);
    }
    int64_t blocks() const { return ceil_div(end - begin, words_of_block()); }
  };

  // Returns the memory whose bits two runs have in common: all but scratch
  // memory of libraries, batches that arrive meanwhile, and structs with
  // pointers and padding. The numbers at the beginning of StepState count.
  static std::vector<Range> ranges_of(const Program &program) {
    std::vector<Range> left_out;
    for (const StateInfo &state : program.states) {
      int64_t begin = int64_t(state.tensor.offset);
      const int64_t end = begin + int64_t(state.tensor.bytes);
      if (state.kind == StateKind::StepState)
        begin += int64_t(offsetof(StepState, scaler));
      else if (state.kind != StateKind::Workspace &&
               state.kind != StateKind::Staging &&
               state.kind != StateKind::Hyperparameters &&
               state.kind != StateKind::ParamGroups)
        continue;
      left_out.push_back({begin / 8, ceil_div(end, 8)});
    }
    std::sort(left_out.begin(), left_out.end(),
              [](const Range &a, const Range &b) { return a.begin < b.begin; });
    const auto all = int64_t(program.total_bytes / 8);
    left_out.push_back({all, all});
    std::vector<Range> ranges;
    int64_t begin = 0;
    for (const Range &range : left_out) {
      if (range.begin > begin)
        ranges.push_back({begin, range.begin});
      begin = std::max(begin, range.end);
    }
    return ranges;
  }

  int64_t parts_of_checksum() const {
    int64_t blocks = 0;
    for (const Range &range : ranges)
      blocks += range.blocks();
    return blocks;
  }
  // Enqueues a checksum, which belongs to the call that has run last. A
  // transfer that this call has begun may write memory that is read here.
  void add(Context &ctx) {
    if (int64_t(names.size()) == kSlots)
      write(ctx);
    if (offloads)
      await_all(ctx);
    uint64_t *slot = parts + int64_t(names.size()) * parts_of_checksum();
    names.push_back(name);
    for (const Range &range : ranges) {
      launch(ctx, range.blocks(), kThreads, checksum_kernel, words, range.begin,
             range.end, range.words_of_block(), slot);
      slot += range.blocks();
    }
  }
  void write(Context &ctx) {
    const auto count = size_t(parts_of_checksum());
    std::vector<uint64_t> read(names.size() * count);
    synchronize(ctx);
    copy_to_host(ctx, read.data(), parts, read.size() * sizeof(uint64_t));
    for (size_t i = 0; i < names.size(); i++) {
      uint64_t sum = 0;
      for (size_t k = 0; k < count; k++)
        sum += read[i * count + k];
      char text[32];
      snprintf(text, sizeof text, "%016llx",
               static_cast<unsigned long long>(sum));
      to << "{\"step\": " << step
         << ", \"function\": " << json_quoted(running->name)
         << ", \"call\": " << written++
         << ", \"name\": " << json_quoted(names[i]) << ", \"checksum\": \""
         << text << "\"}\n";
    }
    names.clear();
  }
  void check() const {
    if (!to)
      throw Error("'--checksums-to': cannot write '" + file +
                  "': " + strerror(errno));
  }

  const std::string file;
  std::ofstream to;
  const std::vector<Range> ranges;
  const bool offloads;       // tensors wait in the host's memory
  uint64_t *parts = nullptr; // on the device: kSlots times those of a checksum
  const uint64_t *words = nullptr; // the program's memory
  int64_t step = 0;
  const TimedFunction *running = nullptr;
  CallCursor cursor{{}};
  std::string name;               // of the call that has begun last
  std::vector<std::string> names; // of the checksums that are not written
  int64_t written = 0;            // of the function
};

} // namespace gpuopt
