// Makes cuDNN's plans. A plan says how cuDNN computes a graph: by which engine
// (a family of kernels), with which of its knobs' values, and in how much
// workspace.
//
// It is made for a device that is there, or, without a GPU, for the
// description of one. Only engines that always give the same bits are taken.
#pragma once

#include "gpuopt/device/error.h"
#include "gpuopt/ops/cudnn_descriptor.h"

#include <algorithm>
#include <optional>
#include <set>

// Descriptions of devices came with cuDNN 9.8.
#if CUDNN_VERSION >= 90800
#define GPUOPT_HAS_CUDNN_PLANS
#endif

#ifdef GPUOPT_HAS_CUDNN_PLANS
namespace gpuopt {

// Returns how cuDNN describes the GPU of a handle.
inline std::string describe_device(cudnnHandle_t handle) {
  CudnnDescriptor device(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
  device.set(CUDNN_ATTR_DEVICEPROP_HANDLE, handle).finalize();
  const auto text =
      device.get_all<char>(CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION);
  return std::string(text.begin(), text.end()).c_str();
}

// The device that a plan is for: a GPU that is there, or a description.
class PlanDevice {
public:
  explicit PlanDevice(cudnnHandle_t handle) : handle(handle) {}
  // `json` is what describe_device has returned on such a device.
  explicit PlanDevice(const std::string &json)
      : description(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR) {
    description
        ->set(CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION,
              std::vector<char>(json.begin(), json.end()))
        .finalize();
  }

  cudnnHandle_t handle = nullptr;
  std::optional<CudnnDescriptor> description;
};

// The tensors of a graph when it is computed: the names that it has for them,
// and where they lie.
struct CudnnOperands {
  std::vector<int64_t> ids;
  std::vector<void *> pointers;

  void add(int64_t id, const void *pointer) {
    ids.push_back(id);
    pointers.push_back(const_cast<void *>(pointer));
  }
};

namespace detail {

// Returns the number that cuDNN gives the engine of a configuration among those
// of the graph.
inline int64_t engine_of(const CudnnDescriptor &configuration) {
  const auto engines = configuration.get_descriptors(
      CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  return engines.at(0).get<int64_t>(CUDNN_ATTR_ENGINE_GLOBAL_INDEX);
}

// Returns "engine 62, knobs 2=4 13=0": what tells a configuration from the
// others that the same version of cuDNN proposes for a graph.
inline std::string name_of(const CudnnDescriptor &configuration) {
  std::string name = "engine " + std::to_string(engine_of(configuration));
  const auto knobs = configuration.get_descriptors(
      CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR,
      CUDNN_KNOB_TYPE_COUNTS);
  for (const CudnnDescriptor &knob : knobs) {
    const auto type =
        knob.get<cudnnBackendKnobType_t>(CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE);
    const auto value = knob.get<int64_t>(CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE);
    name += (&knob == knobs.data() ? ", knobs " : " ") +
            std::to_string(int(type)) + "=" + std::to_string(value);
  }
  return name;
}

} // namespace detail

class CudnnPlan {
public:
  explicit CudnnPlan(const CudnnDescriptor &finalized)
      : plan(finalized),
        bytes(plan.get<int64_t>(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE)) {}

  int64_t workspace_bytes() const { return bytes; }
  int64_t engine() const { return detail::engine_of(configuration()); }
  // Returns the name of the engine and its knobs, for find_plan.
  std::string name() const { return detail::name_of(configuration()); }
  // The text from which read_cudnn_plan makes the same plan, for the same
  // version of cuDNN.
  std::string serialize() const {
    const auto text =
        plan.get_all<char>(CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION);
    return std::string(text.begin(), text.end());
  }
  // Enqueues the graph in the handle's stream; `workspace` has
  // workspace_bytes().
  void execute(cudnnHandle_t handle, const CudnnOperands &operands,
               void *workspace) const {
    CudnnDescriptor pack(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    pack.set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, operands.ids)
        .set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, operands.pointers)
        .set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, workspace)
        .finalize();
    CHECK_CUDNN(cudnnBackendExecute(handle, plan.get(), pack.get()));
  }

private:
  CudnnDescriptor configuration() const {
    return plan
        .get_descriptors(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG,
                         CUDNN_BACKEND_ENGINECFG_DESCRIPTOR)
        .at(0);
  }

  CudnnDescriptor plan;
  int64_t bytes;
};

// A plan, or why there is none.
struct CudnnPlanResult {
  std::optional<CudnnPlan> plan;
  std::string reason;
};

// Plans, the one that cuDNN takes for the fastest first; where there are none,
// the reason.
struct CudnnPlansResult {
  std::vector<CudnnPlan> plans;
  std::string reason;
};

// What an engine may do and need beside giving the same bits each time.
struct EngineRules {
  bool may_be_compiled_at_run_time = false; // by NVRTC
  bool may_round_to_tf32 = true;
  // Whether an engine without any numerical note is left: such a one says
  // nothing of its bits.
  bool must_have_notes = false;
  int64_t workspace_limit = 0; // in bytes
};

namespace detail {

// A graph of operations.
inline CudnnDescriptor
operation_graph_of(const std::vector<CudnnDescriptor> &operations,
                   const PlanDevice &device) {
  CudnnDescriptor graph(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  graph.set(CUDNN_ATTR_OPERATIONGRAPH_OPS, operations);
  if (device.handle)
    graph.set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, device.handle);
  return graph.finalize();
}

// Returns the engines that cuDNN proposes, the fastest by its estimate first;
// none if it knows none.
inline std::vector<CudnnDescriptor>
propose_engines(const CudnnDescriptor &operations, const PlanDevice &device,
                cudnnBackendHeurMode_t mode) {
  CudnnDescriptor heuristic(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  heuristic.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, operations)
      .set(CUDNN_ATTR_ENGINEHEUR_MODE, mode);
  if (device.description)
    heuristic.set(CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, *device.description);
  if (!heuristic.try_finalize())
    return {};
  return heuristic.get_descriptors(CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                   CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
}

// Returns why an engine is not taken, null if it is.
inline const char *objection_to(const CudnnDescriptor &configuration,
                                const EngineRules &rules) {
  const auto engines = configuration.get_descriptors(
      CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  const auto numerics = engines.at(0).get_all<cudnnBackendNumericalNote_t>(
      CUDNN_ATTR_ENGINE_NUMERICAL_NOTE);
  const auto behaviors = engines.at(0).get_all<cudnnBackendBehaviorNote_t>(
      CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE);
  const auto has = [](const auto &notes, auto note) {
    return std::find(notes.begin(), notes.end(), note) != notes.end();
  };
  if (has(numerics, CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC))
    return "an engine does not always give the same bits";
  if (rules.must_have_notes && numerics.empty())
    return "an engine does not say whether it always gives the same bits";
  if (has(numerics, CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION))
    return "an engine adds in half precision";
  if (!rules.may_be_compiled_at_run_time &&
      has(behaviors, CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION))
    return "an engine is compiled when it is needed";
  if (!rules.may_round_to_tf32 &&
      (has(numerics, CUDNN_NUMERICAL_NOTE_TENSOR_CORE) ||
       has(numerics, CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS)))
    return "an engine rounds operands to TF32";
  return nullptr;
}

// Asks for an engine's plan.
inline CudnnPlanResult try_engine(const CudnnDescriptor &configuration,
                                  const EngineRules &rules) {
  if (const char *objection = objection_to(configuration, rules))
    return {std::nullopt, objection};
  CudnnDescriptor plan(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
  plan.set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, configuration);
  if (!plan.try_finalize())
    return {std::nullopt,
            "cuDNN refuses its own proposal: " + last_cudnn_message()};
  const CudnnPlan found(plan);
  if (found.workspace_bytes() <= rules.workspace_limit)
    return {found, ""};
  return {std::nullopt, "an engine needs a workspace of " +
                            human_bytes(double(found.workspace_bytes()))};
}

// Calls `visit` with the engines that cuDNN proposes for the graph whose
// descriptor `make_graph()` returns, the fastest by its estimate first, until
// it returns true; the fallbacks come last, if `wants_fallbacks()` then.
// Returns why cuDNN refuses the graph, if it does. Throws where cuDNN fails for
// another reason than that it cannot compute the graph.
template <class MakeGraph, class Visit, class WantsFallbacks>
std::string visit_engines(const PlanDevice &device, const MakeGraph &make_graph,
                          const Visit &visit,
                          const WantsFallbacks &wants_fallbacks) {
  try {
    const CudnnDescriptor graph = make_graph();
    for (auto mode : {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK}) {
      if (mode == CUDNN_HEUR_MODE_FALLBACK && !wants_fallbacks())
        break;
      for (const CudnnDescriptor &configuration :
           propose_engines(graph, device, mode))
        if (visit(configuration))
          return "";
    }
  } catch (const CudnnError &refused) {
    if (!is_refusal(refused.status))
      throw Error(std::string(refused.what()) +
                  ", which says: " + last_cudnn_message());
    return last_cudnn_message() + ": " + refused.what();
  }
  return "";
}

} // namespace detail

// Returns the plans of the first `most` engines of cuDNN's heuristic that the
// rules allow, each once, and, if there is none, why. A fallback is taken where
// there is no other: those of cuDNN 9.19 are far slower, and one reads memory
// that is not there (the gradient of the weights of 64 filters of 4 x 4 x 16,
// with two rows of zeros before and one behind, on an H200).
template <class MakeGraph>
CudnnPlansResult plans_of_graph(const PlanDevice &device,
                                const EngineRules &rules, size_t most,
                                const MakeGraph &make_graph) {
  CudnnPlansResult result{{}, "cuDNN proposes no engine"};
  std::set<std::string> names; // it proposes some twice
  const auto try_one = [&](const CudnnDescriptor &configuration) {
    if (most > 1 && !names.insert(detail::name_of(configuration)).second)
      return false;
    try {
      const CudnnPlanResult tried = detail::try_engine(configuration, rules);
      if (tried.plan)
        result.plans.push_back(*tried.plan);
      else
        result.reason = tried.reason;
    } catch (const CudnnError &) {
      if (result.plans.empty())
        throw;
      // Another engine is enough.
    }
    return result.plans.size() == most;
  };
  const std::string refusal = detail::visit_engines(
      device, make_graph, try_one, [&] { return result.plans.empty(); });
  if (!refusal.empty())
    result.reason = refusal;
  return result;
}

// Returns the plan of the first engine of cuDNN's heuristic that the rules
// allow.
template <class MakeGraph>
CudnnPlanResult plan_graph(const PlanDevice &device, const EngineRules &rules,
                           const MakeGraph &make_graph) {
  const CudnnPlansResult found = plans_of_graph(device, rules, 1, make_graph);
  if (found.plans.empty())
    return {std::nullopt, found.reason};
  return {found.plans.front(), ""};
}

// Returns the plan that has the name, if cuDNN proposes its engine and the
// rules allow it.
template <class MakeGraph>
CudnnPlanResult find_plan(const PlanDevice &device, const EngineRules &rules,
                          const std::string &name,
                          const MakeGraph &make_graph) {
  CudnnPlanResult result{std::nullopt, "cuDNN does not propose '" + name + "'"};
  const auto try_named = [&](const CudnnDescriptor &configuration) {
    if (detail::name_of(configuration) != name)
      return false;
    result = detail::try_engine(configuration, rules);
    return true;
  };
  const std::string refusal =
      detail::visit_engines(device, make_graph, try_named, [] { return true; });
  if (!refusal.empty())
    result.reason = refusal;
  return result;
}

// Makes a plan from what CudnnPlan::serialize has returned, for a description.
inline CudnnPlan read_cudnn_plan(const PlanDevice &device,
                                 const std::string &text) {
  CudnnDescriptor plan(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
  plan.set(CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION,
           std::vector<char>(text.begin(), text.end()))
      .set(CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, device.description.value())
      .finalize();
  return CudnnPlan(plan);
}

} // namespace gpuopt
#endif // GPUOPT_HAS_CUDNN_PLANS
