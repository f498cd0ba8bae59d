// Chooses what computes the forward of attention on a GPU: cuDNN, or the
// runtime's own kernels, which take all shapes. What is faster is measured once
// for a shape and kept by autotune_record.h, so that the next run chooses
// alike.
//
// A choice depends on the type, the sizes, the mask and the device, not on
// where tensors lie, so that a forward that is computed again has that of the
// first one. It has the same bits, too, where its tensors have the same
// strides; for others, cuDNN may take another engine. cuDNN needs addresses and
// strides that are multiples of 16 bytes: where the first call of a shape has
// others, all calls of the run are the own kernels'; where only a later one
// has, that one is computed by them, and a warning says so.
#pragma once

#include "gpuopt/device/plain_numbers.h"
#include "gpuopt/ops/attention.h"
#include "gpuopt/ops/timed_choice_cuda.h"

#if __has_include(<cudnn.h>)
#include "gpuopt/ops/attention_plan_cuda.h"
#endif

#ifndef GPUOPT_HAS_ATTENTION_PLANS
namespace gpuopt::detail {
template <class T, class Run>
bool attention_by_cudnn(Context &, const AttentionShape &, const T *, const T *,
                        const T *, T *, float *, const AttentionOptions &,
                        const Run &) {
  return false;
}
} // namespace gpuopt::detail
#else
#include <cmath>
#include <set>
#include <unordered_map>

namespace gpuopt::detail {

template <class T>
constexpr cudnnDataType_t attention_type() {
  if constexpr (std::is_same_v<T, f16>)
    return CUDNN_DATA_HALF;
  else if constexpr (std::is_same_v<T, bf16>)
    return CUDNN_DATA_BFLOAT16;
  else
    return CUDNN_DATA_FLOAT;
}

// "attention of f16, 8 x 12 x 1 of 1024 x 1024 x 64 and 64 ...": what a choice
// depends on beside the device, to read and to compare.
inline std::string description_of(cudnnDataType_t type,
                                  const AttentionShape &s) {
  PlainStream text;
  text << "attention of "
       << (type == CUDNN_DATA_HALF       ? "f16"
           : type == CUDNN_DATA_BFLOAT16 ? "bf16"
                                         : "f32")
       << ", " << s.batch[0] << " x " << s.batch[1] << " x " << s.batch[2]
       << " of " << s.queries << " x " << s.keys << " x " << s.key_size
       << " and " << s.value_size
       << (s.batch[2] > 1 && s.k_batch[2] == 0 ? ", shared keys" : "")
       << (s.last_key < s.keys - 1 ? ", causal" : "");
  return text.str();
}

// A plan, or why there is none.
struct AttentionPlan {
  std::optional<CudnnPlan> plan;
  std::string reason;
  bool has_failed = false; // for a reason that another run may not meet
};

// cuDNN for attention, and what has been chosen for each shape.
class CudnnAttention {
public:
  CudnnAttention() = default;
  ~CudnnAttention() {
    plans.clear();
    if (handle)
      cudnnDestroy(handle);
  }
  CudnnAttention(const CudnnAttention &) = delete;
  CudnnAttention &operator=(const CudnnAttention &) = delete;

  // Returns the plan for a graph, which is made once. The first one also makes
  // the handle: most programs that compute attention need none.
  const AttentionPlan &plan(const AttentionGraph &graph,
                            int64_t workspace_limit) {
    const std::string content = content_of(graph);
    const auto found = plans.find(content);
    if (found != plans.end())
      return found->second;
    return plans.emplace(content, make_plan(graph, workspace_limit))
        .first->second;
  }

  // Says once for each call that cuDNN does not compute it.
  void warn_of_own_kernels(const std::string &call, const std::string &why) {
    if (warned.insert(call).second)
      fprintf(stderr,
              "warning: %s is computed by the runtime's own kernels, not by "
              "cuDNN: %s\n",
              call.c_str(), why.c_str());
  }

  cudnnHandle_t handle = nullptr;
  std::unordered_map<std::string, AttentionPlan> plans; // by a graph's content
  // Whether cuDNN computes a shape, by its description.
  std::unordered_map<std::string, bool> chosen;

private:
  AttentionPlan make_plan(const AttentionGraph &graph,
                          int64_t workspace_limit) {
    // A program may run with an older library than it was built with, or on a
    // device that cuDNN does not take.
    if (cudnnGetVersion() < size_t(CUDNN_VERSION))
      return {std::nullopt,
              "cuDNN is older than the one that the program was built with",
              true};
    if (!handle)
      if (const cudnnStatus_t status = cudnnCreate(&handle)) {
        handle = nullptr;
        return {std::nullopt,
                std::string("cuDNN cannot be used: ") +
                    cudnnGetErrorString(status),
                true};
      }
    try {
      const CudnnPlanResult planned =
          plan_attention(PlanDevice(handle), graph, workspace_limit);
      return {planned.plan, planned.reason};
    } catch (const Error &error) { // of cuDNN, NVRTC or their libraries
      return {std::nullopt, error.what(), true};
    }
  }

  std::set<std::string> warned;
};

// Compares what two ways have written.
template <class T>
class AttentionComparison {
public:
  AttentionComparison(Context &ctx, const AttentionShape &s, const T *y,
                      const float *statistics)
      : ctx(ctx), s(s), y(y), statistics(statistics) {}

  // Keeps what is there for the comparison.
  void keep() { kept = read(); }
  // Whether what is there now differs by roundings alone. Both ways round a
  // probability before it is multiplied, and a sum at the end.
  bool agrees() const {
    const Written now = read();
    constexpr double kTolerance = std::is_same_v<T, f16> ? 4e-3 : 3e-2;
    constexpr double kSmallest = 6e-5; // that f16 has with all of its bits
    Difference of_y(kSmallest), of_sums(1);
    for (int64_t b = 0; b < batch_elements(s); b++)
      for (int64_t row = 0; row < s.queries; row++)
        for (int64_t i = 0; i < s.value_size; i++) {
          const auto at = size_t(offset(b) + row * s.y_row + i);
          of_y.add(double(load_scalar(&kept.y[at])),
                   double(load_scalar(&now.y[at])));
        }
    const size_t rows = now.statistics.size() / 2;
    const auto sum_of = [&](const Written &written, size_t row) {
      return double(written.statistics[row]) +
             double(written.statistics[rows + row]);
    };
    for (size_t row = 0; row < rows; row++)
      of_sums.add(sum_of(kept, row), sum_of(now, row));
    return of_y.relative() <= kTolerance && of_sums.relative() <= 1e-3;
  }

private:
  struct Written {
    std::vector<T> y;
    std::vector<float> statistics;
  };
  // The largest difference as a part of the largest value, or of a smallest
  // one. What is not finite has to be the same.
  struct Difference {
    explicit Difference(double smallest) : largest(smallest) {}
    void add(double a, double b) {
      if (a == b || (std::isnan(a) && std::isnan(b)))
        return;
      if (!std::isfinite(a) || !std::isfinite(b))
        difference = std::numeric_limits<double>::infinity();
      else
        difference = std::max(difference, std::abs(a - b));
      if (std::isfinite(a))
        largest = std::max(largest, std::abs(a));
    }
    double relative() const { return difference / largest; }
    double largest, difference = 0;
  };

  int64_t offset(int64_t element) const {
    const int64_t inner = element / s.batch[2];
    return inner / s.batch[1] * s.y_batch[0] +
           inner % s.batch[1] * s.y_batch[1] +
           element % s.batch[2] * s.y_batch[2];
  }
  Written read() const {
    const int64_t last = offset(batch_elements(s) - 1) +
                         (s.queries - 1) * s.y_row + s.value_size;
    Written written{
        std::vector<T>(size_t(last)),
        std::vector<float>(size_t(2 * batch_elements(s) * s.queries))};
    copy_to_host(ctx, written.y.data(), y, written.y.size() * sizeof(T));
    copy_to_host(ctx, written.statistics.data(), statistics,
                 written.statistics.size() * sizeof(float));
    return written;
  }

  Context &ctx;
  const AttentionShape &s;
  const T *y;
  const float *statistics;
  Written kept;
};

// The two ways to compute a forward, and the comparison of their results.
struct AttentionRuns {
  std::function<void()> own;
  std::function<void(const CudnnPlan &)> cudnn;
  std::function<void()> keep_result;
  std::function<bool()> agrees;
};

// A call that cuDNN may compute.
struct AttentionCall {
  std::string description;
  // Null with a reason where its tensors lie as cuDNN does not take them.
  AttentionGraphResult asked;
  int64_t workspace_limit;
};

// Chooses by the record, or by the time that both take, which goes into the
// record. Without one nothing is timed, and the own kernels are taken.
class TimedAttention {
public:
  TimedAttention(Context &ctx, CudnnAttention &library,
                 const AttentionCall &call)
      : ctx(ctx), library(library), call(call),
        name(call.description +
             (ctx.multiplies_by_warpgroups ? ", own by warpgroups" : "") +
             ", workspace " + std::to_string(call.workspace_limit)) {}

  // Whether cuDNN computes all calls like this one.
  bool choose(const AttentionRuns &runs) {
    if (!call.asked.graph)
      return false;
    AutotuneRecord &record = *ctx.autotune_record();
    const std::string machine =
        machine_name("cuDNN " + std::to_string(cudnnGetVersion()));
    if (const std::string *choice = record.find(machine, name))
      return accepts(record, *choice);
    if (!record.is_kept() || is_capturing(ctx))
      return false;
    const AttentionPlan &planned =
        library.plan(*call.asked.graph, call.workspace_limit);
    std::string failure = planned.has_failed ? planned.reason : "";
    bool is_better = false;
    if (planned.plan)
      is_better = beats_own(*planned.plan, runs, failure);
    else
      library.warn_of_own_kernels(call.description, planned.reason);
    if (!failure.empty())
      return false; // for this run alone
    const std::string *choice =
        record.add(machine, name, is_better ? kCudnn : kOwn);
    return choice && accepts(record, *choice);
  }

private:
  static constexpr const char *kOwn = "own", *kCudnn = "cudnn";

  // `failure` becomes why cuDNN could not compute, if it could not.
  bool beats_own(const CudnnPlan &plan, const AttentionRuns &runs,
                 std::string &failure) {
    const double own = time_of(ctx, [&] {
      runs.own();
      return true;
    });
    runs.keep_result();
    const double other = time_of(ctx, [&] {
      try {
        runs.cudnn(plan);
      } catch (const CudnnError &error) {
        failure = error.what();
      }
      return failure.empty();
    });
    if (!failure.empty()) {
      library.warn_of_own_kernels(call.description, failure);
      return false;
    }
    if (runs.agrees())
      return other < own;
    library.warn_of_own_kernels(call.description,
                                "its results differ by more than roundings");
    return false;
  }
  bool accepts(const AutotuneRecord &record, const std::string &choice) {
    if (choice == kOwn)
      return false;
    std::string reason =
        "'" + choice + "' is neither '" + kOwn + "' nor '" + kCudnn + "'";
    if (choice == kCudnn) {
      const AttentionPlan &planned =
          library.plan(*call.asked.graph, call.workspace_limit);
      if (planned.plan)
        return true;
      reason = planned.reason;
    }
    throw refused_choice(record, name, reason);
  }

  Context &ctx;
  CudnnAttention &library;
  const AttentionCall &call;
  const std::string name;
};

// Returns cuDNN's plan if it computes a call, or null.
inline const CudnnPlan *attention_plan(Context &ctx, CudnnAttention &library,
                                       const AttentionCall &call,
                                       const AttentionRuns &runs) {
  if (ctx.attention_library == AttentionLibrary::Auto) {
    auto found = library.chosen.find(call.description);
    if (found == library.chosen.end())
      found = library.chosen
                  .emplace(call.description,
                           TimedAttention(ctx, library, call).choose(runs))
                  .first;
    if (!found->second)
      return nullptr;
  }
  if (!call.asked.graph) {
    library.warn_of_own_kernels(call.description, call.asked.reason);
    return nullptr;
  }
  const AttentionPlan &planned =
      library.plan(*call.asked.graph, call.workspace_limit);
  if (!planned.plan) {
    library.warn_of_own_kernels(call.description, planned.reason);
    return nullptr;
  }
  return &*planned.plan;
}

// Computes a forward by cuDNN, or returns false: the own kernels, which
// `run_own` launches, have to compute it.
template <class T, class Run>
bool attention_by_cudnn(Context &ctx, const AttentionShape &s, const T *q,
                        const T *k, const T *v, T *y, float *statistics,
                        const AttentionOptions &o, const Run &run_own) {
  const AttentionLibrary wanted = ctx.attention_library;
  if (wanted == AttentionLibrary::Own ||
      (wanted == AttentionLibrary::Auto && !ctx.autotune_record()))
    return false;
  constexpr cudnnDataType_t kType = attention_type<T>();
  auto &library = ctx.library<CudnnAttention>();
  AttentionCall call{
      description_of(kType, s), attention_graph_of(kType, s, o),
      std::min(int64_t(ctx.given_workspace_bytes()), kAttentionPlanWorkspace)};
  if (attention_cudnn_lacks(kType, s, o)) {
    if (wanted == AttentionLibrary::Cudnn)
      library.warn_of_own_kernels(call.description, call.asked.reason);
    return false;
  }
  if (call.asked.graph && std::min({alignment_of(q), alignment_of(k),
                                    alignment_of(v), alignment_of(y)}) < 16)
    call.asked = {std::nullopt, "a tensor begins at no multiple of 16 bytes"};
  const int64_t rows = batch_elements(s) * s.queries;
  AttentionComparison<T> comparison(ctx, s, y, statistics);
  const AttentionRuns runs{
      run_own,
      [&](const CudnnPlan &plan) {
        CHECK_CUDNN(cudnnSetStream(library.handle, ctx.stream));
        void *workspace = plan.workspace_bytes()
                              ? ctx.workspace(size_t(plan.workspace_bytes()))
                              : nullptr;
        execute_attention(plan, call.asked.graph->is_causal, library.handle,
                          {q, k, v, y, statistics}, float(o.scale), workspace);
        // The backward adds the second statistic to the first one, which has
        // both parts already.
        set_zero(ctx, statistics + rows, size_t(rows) * sizeof(float));
      },
      [&] { comparison.keep(); }, [&] { return comparison.agrees(); }};
  const CudnnPlan *plan = attention_plan(ctx, library, call, runs);
  if (plan)
    runs.cudnn(*plan);
  return plan != nullptr;
}

} // namespace gpuopt::detail
#endif // GPUOPT_HAS_ATTENTION_PLANS
