// Which of two computes the forward of attention on a GPU: cuDNN, or the
// runtime's own kernels, which take all shapes. What is faster is measured once
// for a shape and kept by autotune_record.h, so that a forward that is computed
// again, or by the next run, has the same bits.
#pragma once

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
#include <set>
#include <sstream>
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

// "attention of f16, 8 x 12 of 1024 x 1024 x 64 ...": all of a graph, to read
// and to compare.
inline std::string description_of(const AttentionGraph &g,
                                  int64_t workspace_limit) {
  std::ostringstream text;
  text << "attention of " << (g.type == CUDNN_DATA_HALF ? "f16" : "bf16")
       << ", " << g.batch << " x " << g.heads << " of " << g.queries << " x "
       << g.keys << " x " << g.key_size << " and " << g.value_size
       << ", heads of keys " << g.key_heads << ", strides";
  const AttentionStrides *strides[] = {&g.q, &g.k, &g.v, &g.y};
  for (int i = 0; i < 4; i++)
    text << " " << "qkvy"[i] << " " << strides[i]->batch << " "
         << strides[i]->head << " " << strides[i]->row;
  text << (g.is_causal ? ", causal" : "") << ", workspace " << workspace_limit;
  return text.str();
}

// "attention of 8 x 12 x 1 of 1024 x 1024 x 64 and 64": what cuDNN is not asked
// for.
inline std::string description_of(const AttentionShape &s) {
  std::ostringstream text;
  text << "attention of " << s.batch[0] << " x " << s.batch[1] << " x "
       << s.batch[2] << " of " << s.queries << " x " << s.keys << " x "
       << s.key_size << " and " << s.value_size;
  return text.str();
}

// cuDNN for attention, and what has been chosen for each shape.
class CudnnAttention {
public:
  CudnnAttention() {
    // A program may run with an older library than it was built with, or on a
    // device that cuDNN does not take.
    if (cudnnGetVersion() < size_t(CUDNN_VERSION))
      reason = "cuDNN is older than the one that the program was built with";
    else if (const cudnnStatus_t status = cudnnCreate(&handle))
      reason =
          std::string("cuDNN cannot be used: ") + cudnnGetErrorString(status);
  }
  ~CudnnAttention() {
    chosen.clear();
    if (handle)
      cudnnDestroy(handle);
  }
  CudnnAttention(const CudnnAttention &) = delete;
  CudnnAttention &operator=(const CudnnAttention &) = delete;

  CudnnPlanResult plan(const AttentionGraph &graph, int64_t workspace_limit) {
    if (!handle)
      return {std::nullopt, reason};
    return plan_attention(PlanDevice(handle), graph, workspace_limit);
  }

  // Tells those who have asked for cuDNN, once for each call.
  void warn_of_own_kernels(const std::string &call, const std::string &why) {
    if (warned.insert(call).second)
      fprintf(stderr,
              "warning: %s is computed by the runtime's own kernels, not by "
              "cuDNN: %s\n",
              call.c_str(), why.c_str());
  }

  cudnnHandle_t handle = nullptr;
  // The plan by the content of a graph, or none: the runtime's own kernels.
  std::unordered_map<std::string, std::optional<CudnnPlan>> chosen;

private:
  std::string reason; // why there is no handle
  std::set<std::string> warned;
};

// The two ways to compute a forward.
struct AttentionRuns {
  std::function<void()> own;
  std::function<void(const CudnnPlan &)> cudnn;
};

// Chooses by the record, or by the time that both take, which goes into the
// record. Without one nothing is timed, and the own kernels are taken.
class TimedAttention {
public:
  TimedAttention(Context &ctx, CudnnAttention &library,
                 const AttentionGraph &graph, int64_t workspace_limit)
      : ctx(ctx), library(library), graph(graph),
        workspace_limit(workspace_limit),
        call(description_of(graph, workspace_limit)) {}

  std::optional<CudnnPlan> choose(const AttentionRuns &runs) {
    AutotuneRecord &record = *ctx.autotune_record();
    const std::string machine =
        machine_name("cuDNN " + std::to_string(cudnnGetVersion()));
    if (const std::string *choice = record.find(machine, call))
      return accepted(record, *choice);
    if (!record.is_kept() || is_capturing(ctx))
      return std::nullopt;
    const CudnnPlanResult planned = library.plan(graph, workspace_limit);
    const bool is_faster = planned.plan && beats_own(*planned.plan, runs);
    const std::string *choice =
        record.add(machine, call, is_faster ? kCudnn : kOwn);
    if (!choice)
      return std::nullopt;
    return *choice == kCudnn && planned.plan ? planned.plan
                                             : accepted(record, *choice);
  }

private:
  static constexpr const char *kOwn = "own", *kCudnn = "cudnn";

  bool beats_own(const CudnnPlan &plan, const AttentionRuns &runs) {
    const double own = time_of(ctx, [&] {
      runs.own();
      return true;
    });
    const double other = time_of(ctx, [&] {
      try {
        runs.cudnn(plan);
      } catch (const CudnnError &) {
        return false;
      }
      return true;
    });
    return other < own;
  }
  std::optional<CudnnPlan> accepted(const AutotuneRecord &record,
                                    const std::string &choice) {
    if (choice == kOwn)
      return std::nullopt;
    CudnnPlanResult planned{std::nullopt, "'" + choice + "' is neither '" +
                                              kOwn + "' nor '" + kCudnn + "'"};
    if (choice == kCudnn)
      planned = library.plan(graph, workspace_limit);
    if (!planned.plan)
      throw Error("'" + record.path() +
                  "' has a choice that cannot be kept "
                  "for " +
                  call + ": " + planned.reason +
                  "; remove the file to have calls timed anew");
    return planned.plan;
  }

  Context &ctx;
  CudnnAttention &library;
  const AttentionGraph &graph;
  const int64_t workspace_limit;
  const std::string call;
};

// Returns cuDNN's plan if it computes a graph, or none.
inline const std::optional<CudnnPlan> &
attention_plan(Context &ctx, CudnnAttention &library,
               const AttentionGraph &graph, const AttentionRuns &runs) {
  const std::string content = content_of(graph);
  const auto found = library.chosen.find(content);
  if (found != library.chosen.end())
    return found->second;
  const int64_t workspace_limit =
      std::min(int64_t(ctx.given_workspace_bytes()), kAttentionPlanWorkspace);
  std::optional<CudnnPlan> plan;
  if (ctx.attention_library == AttentionLibrary::Cudnn) {
    CudnnPlanResult planned = library.plan(graph, workspace_limit);
    if (!planned.plan)
      library.warn_of_own_kernels(description_of(graph, workspace_limit),
                                  planned.reason);
    plan = planned.plan;
  } else {
    plan = TimedAttention(ctx, library, graph, workspace_limit).choose(runs);
  }
  return library.chosen.emplace(content, plan).first->second;
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
  AttentionGraphResult asked = attention_graph_of(attention_type<T>(), s, o);
  if (asked.graph && std::min({alignment_of(q), alignment_of(k),
                               alignment_of(v), alignment_of(y)}) < 16)
    asked = {std::nullopt, "a tensor begins at no multiple of 16 bytes"};
  auto &library = ctx.library<CudnnAttention>();
  if (!asked.graph) {
    if (wanted == AttentionLibrary::Cudnn)
      library.warn_of_own_kernels(description_of(s), asked.reason);
    return false;
  }
  const int64_t rows = batch_elements(s) * s.queries;
  const AttentionRuns runs{
      run_own, [&](const CudnnPlan &plan) {
        CHECK_CUDNN(cudnnSetStream(library.handle, ctx.stream));
        void *workspace = plan.workspace_bytes()
                              ? ctx.workspace(size_t(plan.workspace_bytes()))
                              : nullptr;
        execute_attention(plan, library.handle, {q, k, v, y, statistics},
                          float(o.scale), workspace);
        // The backward adds the second statistic to the first one, which has
        // both parts already.
        set_zero(ctx, statistics + rows, size_t(rows) * sizeof(float));
      }};
  const auto &plan = attention_plan(ctx, library, *asked.graph, runs);
  if (plan)
    runs.cudnn(*plan);
  return plan.has_value();
}

} // namespace gpuopt::detail
#endif // GPUOPT_HAS_ATTENTION_PLANS
