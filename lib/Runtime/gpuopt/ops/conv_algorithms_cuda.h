// How cuDNN computes a convolution: by a plan of its graph interface, which is
// the first that its heuristic names, or the fastest of several by measurement,
// which autotune_record.h keeps; where it makes none, by its older calls.
#pragma once

#include "gpuopt/device/plain_numbers.h"
#include "gpuopt/ops/conv_legacy_cuda.h"
#include "gpuopt/ops/conv_plan_cuda.h"
#include "gpuopt/ops/timed_choice_cuda.h"

#include <optional>
#include <unordered_map>

namespace gpuopt {

namespace detail {

template <class T>
constexpr cudnnDataType_t cudnn_type() {
  if constexpr (std::is_same_v<T, double>)
    return CUDNN_DATA_DOUBLE;
  else if constexpr (std::is_same_v<T, float>)
    return CUDNN_DATA_FLOAT;
  else if constexpr (std::is_same_v<T, f16>)
    return CUDNN_DATA_HALF;
  else
    return CUDNN_DATA_BFLOAT16;
}

// The convolution that an algorithm is chosen for.
struct ConvKey {
  ConvShape shape;
  int64_t kind, type;
  int64_t allows_tf32, adds_bias, adds_sums;
  int64_t alignment; // of all tensors, in bytes
};

// A plan or an older call, and whether it adds up channels, if it is to.
struct Conv {
  bool adds_sums = true;
#ifdef GPUOPT_HAS_CUDNN_PLANS
  std::optional<CudnnPlan> plan;
#endif
  std::optional<LegacyConv> legacy;
};

// 92800 is 9.28.0.
inline std::string cudnn_version_text(size_t version) {
  return std::to_string(version / 10000) + "." +
         std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

// A program may call what an older library lacks.
inline void check_cudnn_version() {
  if (cudnnGetVersion() < size_t(CUDNN_VERSION))
    throw Error("this program was built with cuDNN " +
                cudnn_version_text(CUDNN_VERSION) + ", but finds " +
                cudnn_version_text(cudnnGetVersion()) +
                " when it runs; install the newer one, or build with the "
                "older one");
}

#ifdef GPUOPT_HAS_CUDNN_PLANS
// "forward convolution of f16, ...": all of a key and of the room for a
// workspace, to read and to compare.
inline std::string description_of(const ConvKey &key, size_t room) {
  constexpr const char *kKinds[] = {"forward convolution",
                                    "gradient of a convolution's data",
                                    "gradient of a convolution's weights"};
  const ConvShape &s = key.shape;
  PlainStream text;
  text << kKinds[key.kind] << " of "
       << (key.type == CUDNN_DATA_DOUBLE  ? "f64"
           : key.type == CUDNN_DATA_FLOAT ? "f32"
           : key.type == CUDNN_DATA_HALF  ? "f16"
                                          : "bf16")
       << ", x " << s.n << "x" << s.h << "x" << s.w << "x" << s.c
       << ", weights " << s.oc << "x" << s.kh << "x" << s.kw << "x"
       << s.c / s.groups << ", y " << s.oh << "x" << s.ow;
  const auto add_pair = [&](const char *name, const int64_t (&values)[2]) {
    text << ", " << name << " " << values[0] << " " << values[1];
  };
  add_pair("strides", s.stride);
  add_pair("zeros before", s.pad_begin);
  add_pair("zeros behind", s.pad_end);
  add_pair("dilations", s.dilation);
  text << ", groups " << s.groups << ", aligned " << key.alignment;
  if (key.adds_sums)
    text << ", sums of channels";
  if (key.allows_tf32)
    text << ", tf32";
  text << ", workspace " << room;
  return text.str();
}

// Chooses a plan for a convolution; its tensors and the workspace are there to
// be timed with.
class TimedConvolution {
public:
  TimedConvolution(Context &ctx, cudnnHandle_t handle, const ConvKey &key,
                   size_t room, const ConvTensors &tensors, void *workspace)
      : ctx(ctx), handle(handle), device(handle), key(key),
        graph{key.shape,       key.kind,      key.type,
              key.allows_tf32, key.alignment, key.adds_sums},
        room(int64_t(room)), tensors(tensors), workspace(workspace) {}

  // Returns the record's plan, or the fastest, which goes into the record; the
  // heuristic's first where there is no record or nothing can be timed.
  CudnnPlanResult choose() {
    if (AutotuneRecord *record = ctx.autotune_record()) {
      const std::string machine = machine_name(
                            "cuDNN " + std::to_string(cudnnGetVersion())),
                        call = description_of(key, size_t(room));
      const std::string *choice = record->find(machine, call);
      if (!choice && record->is_kept() && !is_capturing(ctx))
        if (const std::optional<CudnnPlan> fastest = fastest_plan())
          choice = record->add(machine, call, fastest->name());
      if (choice)
        return accepted(*record, call, *choice);
    }
    return plan_convolution(device, graph, room);
  }

private:
  // Returns none if none could run.
  std::optional<CudnnPlan> fastest_plan() {
    const std::vector<CudnnPlan> plans =
        plans_of_convolution(device, graph, room, kTimedPlans).plans;
    const CudnnPlan *fastest = fastest_of(plans, [&](const CudnnPlan &plan) {
      return time_of(ctx, [&] { return can_run(plan); });
    });
    return fastest ? std::optional(*fastest) : std::nullopt;
  }
  bool can_run(const CudnnPlan &plan) {
    try {
      execute_convolution(plan, handle, tensors, workspace);
      return true;
    } catch (const CudnnError &error) {
      if (!is_refusal(error.status))
        throw;
      return false;
    }
  }
  // Returns the plan of a record, which another library may have written.
  CudnnPlanResult accepted(const AutotuneRecord &record,
                           const std::string &call, const std::string &choice) {
    CudnnPlanResult found = find_convolution_plan(device, graph, room, choice);
    if (!found.plan)
      throw refused_choice(record, call, found.reason);
    return found;
  }

  Context &ctx;
  const cudnnHandle_t handle;
  const PlanDevice device;
  const ConvKey &key;
  const ConvGraph graph;
  const int64_t room; // for a workspace, in bytes
  const ConvTensors &tensors;
  void *const workspace;
};
#endif // GPUOPT_HAS_CUDNN_PLANS

class Cudnn {
public:
  Cudnn() { CHECK_CUDNN(cudnnCreate(&handle)); }
  ~Cudnn() {
    for (auto &[content, c] : by_content)
      if (c.legacy)
        destroy_legacy_conv(*c.legacy);
    by_content.clear();
    cudnnDestroy(handle);
  }
  Cudnn(const Cudnn &) = delete;
  Cudnn &operator=(const Cudnn &) = delete;

  // Returns what was chosen for a convolution, or chooses it, within the `room`
  // bytes of the workspace.
  const Conv &conv(Context &ctx, const ConvKey &key, const ConvTensors &tensors,
                   void *workspace, size_t room) {
    const std::string content = content_of(key);
    auto found = by_content.find(content);
    if (found == by_content.end())
      found =
          by_content
              .emplace(content, choose_conv(ctx, key, tensors, workspace, room))
              .first;
    return found->second;
  }

  cudnnHandle_t handle;

private:
  // Where there is no plan that adds up channels, there may be one without.
  Conv choose_conv(Context &ctx, const ConvKey &key, const ConvTensors &tensors,
                   void *workspace, size_t room) {
    Conv chosen;
    std::string reason;
#ifdef GPUOPT_HAS_CUDNN_PLANS
    if (!key.adds_bias) {
      CudnnPlanResult planned =
          TimedConvolution(ctx, handle, key, room, tensors, workspace).choose();
      chosen.plan = planned.plan;
      reason = planned.reason;
    }
    if (chosen.plan)
      return chosen;
#endif
    if (key.adds_sums) {
      ConvKey without_sums = key;
      without_sums.adds_sums = 0;
      chosen = choose_conv(ctx, without_sums, {tensors.x, tensors.w, tensors.y},
                           workspace, room);
      chosen.adds_sums = false;
      return chosen;
    }
    try {
      chosen.legacy =
          make_legacy_conv(handle, key.shape, key.kind,
                           cudnnDataType_t(key.type), key.allows_tf32, room);
    } catch (const Error &error) {
      throw Error(error.what() +
                  (reason.empty() ? "" : "; it has no plan either: " + reason));
    }
    return chosen;
  }

  std::unordered_map<std::string, Conv> by_content;
};

} // namespace detail
} // namespace gpuopt
