// The host as a device: a block is a call, blocks are spread over the cores by
// OpenMP, and everything has happened when a call returns.
#pragma once

#include "gpuopt/device/attention_library.h"
#include "gpuopt/device/call_observer.h"
#include "gpuopt/device/cpu_quota.h"
#include "gpuopt/device/device.h"
#include "gpuopt/device/launch_sharing.h"
#include "gpuopt/device/packed_weights.h"
#include "gpuopt/device/pages.h"
#include "gpuopt/device/processor_name.h"
#include "gpuopt/kernels/block.h"

#include <chrono>
#include <cstdlib>
#ifdef _OPENMP
#include <omp.h>
#endif

namespace gpuopt {

constexpr const char *kTargetName = "host";

inline std::string device_name() { return processor_name(); }

struct Context;

// Timestamps in a stream, to time what lies between them.
class Timestamps : public CallObserver {
public:
  void add(Context &) {
    timestamps.push_back(std::chrono::steady_clock::now());
  }
  void begin_call(Context &ctx) override { add(ctx); }
  // Returns the nanoseconds from each timestamp to the next one, and removes
  // all timestamps.
  std::vector<double> take() {
    std::vector<double> gaps;
    for (size_t i = 1; i < timestamps.size(); i++)
      gaps.push_back(std::chrono::duration<double, std::nano>(timestamps[i] -
                                                              timestamps[i - 1])
                         .count());
    timestamps.clear();
    return gaps;
  }
  // Does the same, and says when each of them began.
  std::vector<TimedCall> take_calls() {
    std::vector<TimedCall> calls(timestamps.empty() ? 0
                                                    : timestamps.size() - 1);
    for (size_t i = 0; i < calls.size(); i++) {
      const double begin = std::chrono::duration<double, std::nano>(
                               timestamps[i].time_since_epoch())
                               .count();
      calls[i] = {begin, 0, begin, 0};
    }
    const std::vector<double> gaps = take();
    for (size_t i = 0; i < calls.size(); i++)
      calls[i].duration = calls[i].host_duration = gaps[i];
    return calls;
  }

private:
  std::vector<std::chrono::steady_clock::time_point> timestamps;
};

#ifdef _OPENMP
// Returns how many threads compute if the user does not say: one for each core,
// and no more than a container's limit keeps busy.
inline int default_threads() {
  const int threads = omp_get_max_threads();
  return threads_of_environment() > 0
             ? threads
             : threads_within_quota(threads, cpu_quota());
}
#endif

struct Context {
  explicit Context(int threads = 0) : num_threads(1) {
#ifdef _OPENMP
    num_threads = threads > 0 ? threads : default_threads();
    omp_set_num_threads(num_threads);
#else
    (void)threads;
#endif
  }
  ~Context() {
    for (void *p : blocks)
      free(p);
  }
  Context(const Context &) = delete;
  Context &operator=(const Context &) = delete;

  // Returns memory that is zero and aligned to a page.
  char *allocate(size_t bytes) {
    const size_t rounded = (bytes + 4095) / 4096 * 4096;
    void *p = rounded ? aligned_alloc(4096, rounded) : nullptr;
    if (rounded && !p)
      throw Error("cannot allocate " + human_bytes(double(bytes)) +
                  " of memory");
    memset(p ? p : &p, 0, p ? rounded : 0);
    blocks.push_back(p);
    allocated_bytes += bytes;
    return static_cast<char *>(p);
  }
  void use_workspace(char *, size_t) {}            // oneDNN has its own
  void use_autotune_record(const std::string &) {} // and chooses by itself
  void use_attention_library(AttentionLibrary) {}  // there is one alone
  char *allocate_staging(size_t bytes) { return allocate_uncounted(bytes); }
  // Allocates the memory in which offloaded tensors wait.
  void allocate_host(size_t bytes) {
    host_memory = bytes ? allocate_uncounted(bytes) : nullptr;
    host_bytes += bytes;
  }
  template <class L>
  L &library() {
    return libraries.get<L>();
  }

  // Says that no step changes the weights in some memory, and that something
  // else has.
  void add_unchanged(char *begin, size_t bytes, bool has_one_reader) {
    packed_weights.add_unchanged(begin, bytes, has_one_reader);
  }
  void weights_changed() { packed_weights.invalidate(); }
  // Says that what some memory holds is not needed any more.
  void release(char *begin, size_t bytes) { release_pages(begin, bytes); }

  int num_threads;
  LaunchSharing<> launch_sharing;
  PackedWeights packed_weights;
  bool allows_tf32 = false; // of a program that was compiled so
  size_t allocated_bytes = 0;
  char *host_memory = nullptr;
  size_t host_bytes = 0;
  CallObserver *observer = nullptr; // of the step's calls

  // Memory of libraries and staging, which the plan does not count.
  char *allocate_uncounted(size_t bytes) {
    char *p = allocate(bytes);
    allocated_bytes -= bytes;
    return p;
  }

private:
  std::vector<void *> blocks;
  Libraries libraries;
};

// For callers whose threads are not the program's: gives back to the calling
// thread, at the end of the scope, what contexts change of it. That is how many
// threads OpenMP takes.
class CallerScope {
public:
  CallerScope() = default;
  // The thread works with the context.
  explicit CallerScope(const Context &ctx) {
#ifdef _OPENMP
    omp_set_num_threads(ctx.num_threads);
#else
    (void)ctx;
#endif
  }
  ~CallerScope() {
#ifdef _OPENMP
    omp_set_num_threads(threads_before);
#endif
  }
  CallerScope(const CallerScope &) = delete;
  CallerScope &operator=(const CallerScope &) = delete;

private:
#ifdef _OPENMP
  int threads_before = omp_get_max_threads();
#endif
};
inline void *native_stream(const Context &) { return nullptr; }

namespace detail {
// Makes the number depend on an argument of a kernel if that is one, too.
template <class A>
void add_size(uint64_t &work, A argument) {
  if constexpr (std::is_integral_v<A>)
    work = mixed(work, uint64_t(argument));
}
} // namespace detail

// The kernel stays a function of its own: if it were compiled into each of its
// launches, the compiler would take several times as long, and the kernel would
// run no faster.
template <class... P, class... A>
[[gnu::noinline]] void launch(Context &ctx, int64_t blocks, int,
                              void (*kernel)(P...), A... args) {
  const bool can_share = ctx.num_threads > 1 && blocks > 1;
  // Kernels have sizes as arguments, on which their work depends as well.
  uint64_t work = uint64_t(blocks);
  (detail::add_size(work, args), ...);
  if (!can_share ||
      ctx.launch_sharing.begin(reinterpret_cast<const void *>(kernel), work)) {
    for (int64_t b = 0; b < blocks; b++) {
      detail::current_block = b;
      kernel(args...);
    }
  } else {
#pragma omp parallel for schedule(static)
    for (int64_t b = 0; b < blocks; b++) {
      detail::current_block = b;
      kernel(args...);
    }
  }
  if (can_share)
    ctx.launch_sharing.end();
}

// Where kernels find a DEVICE_TABLE.
template <class Row, size_t kRows>
const Row *on_device(const Row (&table)[kRows]) {
  return table;
}

inline void set_zero(Context &, void *p, size_t bytes) { memset(p, 0, bytes); }
inline void copy(Context &, void *to, const void *from, size_t bytes) {
  memcpy(to, from, bytes);
}
// Copies `rows` times `bytes`; the strides are in bytes.
inline void copy_rows([[maybe_unused]] Context &ctx, void *to, size_t to_stride,
                      const void *from, size_t from_stride, size_t bytes,
                      size_t rows) {
  [[maybe_unused]] constexpr size_t kLeastSharedBytes = 128 << 10;
#pragma omp parallel for schedule(static)                                      \
    num_threads(ctx.num_threads) if (rows * bytes >= kLeastSharedBytes)
  for (size_t row = 0; row < rows; row++)
    memcpy(static_cast<char *>(to) + row * to_stride,
           static_cast<const char *>(from) + row * from_stride, bytes);
}
// Moves `bytes` bytes of each row towards its beginning. `scratch` has room for
// the bytes of all rows.
inline void move_in_rows([[maybe_unused]] Context &ctx, char *rows,
                         size_t stride, size_t to, size_t from, size_t bytes,
                         size_t count, void * /*scratch*/) {
  [[maybe_unused]] constexpr size_t kLeastSharedBytes = 128 << 10;
#pragma omp parallel for schedule(static)                                      \
    num_threads(ctx.num_threads) if (count * bytes >= kLeastSharedBytes)
  for (size_t row = 0; row < count; row++)
    memmove(rows + row * stride + to, rows + row * stride + from, bytes);
}
inline void copy_to_device(Context &, void *to, const void *from, size_t n) {
  memcpy(to, from, n);
}
inline void copy_to_host(Context &, void *to, const void *from, size_t n) {
  memcpy(to, from, n);
}
inline void synchronize(Context &) {}

// Marks a point in a stream.
struct Event {
  void record(Context &) {}      // in the step's stream
  void record_copy(Context &) {} // in the copy stream
  void wait(Context &) {}        // the step's stream waits
  void copy_waits(Context &) {}  // the copy stream waits
  void synchronize() {}          // the caller waits
};

// The copy from staging memory to the device, in the copy stream. Here both are
// the same memory, so the step reads where the loader wrote.
constexpr bool kStagingIsDevice = true;
inline void copy_from_staging(Context &, void *to, const void *from,
                              size_t bytes) {
  memcpy(to, from, bytes);
}

// Runs a fixed sequence of launches again and again (CUDA: as one graph).
struct Replay {
  template <class F>
  void run(Context &, F f) {
    f();
  }
};

} // namespace gpuopt
