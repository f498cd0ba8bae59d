// The forward of attention as a graph of cuDNN, and the plan that cuDNN makes
// for it: two products with a softmax between them, which cuDNN computes
// without a matrix of queries x keys in memory. The graph is the one that
// NVIDIA's cudnn-frontend builds, whose engines cuDNN has since 8.9; the single
// operation CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR has no causal mask
// before 9.21. docs/rationale/attention.md compares the ways.
//
// Its engines are compiled by NVRTC when a plan is made.
#pragma once

#include "gpuopt/ops/attention_shape.h"
#include "gpuopt/ops/cudnn_plan.h"

// cuDNN 9.10.0 and 9.10.1 compute wrong forwards.
#if defined(GPUOPT_HAS_CUDNN_PLANS) && CUDNN_VERSION >= 91002
#define GPUOPT_HAS_ATTENTION_PLANS
#endif

#ifdef GPUOPT_HAS_ATTENTION_PLANS
namespace gpuopt {

// Strides of [batch, heads, rows, elements of a row], in elements; the last one
// is 1.
struct AttentionStrides {
  int64_t batch, head, row;
};

// All that a plan depends on beside the device. There are as many heads of K
// and V as of Q, or fewer, each of which serves a group.
struct AttentionGraph {
  int64_t type; // cudnnDataType_t of Q, K, V and Y
  int64_t is_causal;
  int64_t batch, heads, key_heads, queries, keys, key_size, value_size;
  AttentionStrides q, k, v, y;
};

struct AttentionTensors {
  const void *q, *k, *v;
  void *y;
  float *log_sum; // [batch, heads, queries]: ln(sum of exp(score))
};

// A graph, or why cuDNN is not asked.
struct AttentionGraphResult {
  std::optional<AttentionGraph> graph;
  std::string reason;
};

namespace detail {

// cuDNN reads and writes 16 bytes, 8 halves, at a time.
constexpr int64_t kHalvesOfVector = 8;

// The three dimensions of the batch as two, [batch, heads].
class AttentionBatch {
public:
  explicit AttentionBatch(const AttentionShape &s) : s(s) {
    const bool shares_keys =
        s.batch[2] > 1 && s.k_batch[2] == 0 && s.v_batch[2] == 0;
    merges_heads =
        merges(s.q_batch, 1) && merges(s.y_batch, 1) &&
        (shares_keys || (merges(s.k_batch, 1) && merges(s.v_batch, 1)));
    is_possible =
        merges_heads ||
        (!shares_keys && merges(s.q_batch, 0) && merges(s.k_batch, 0) &&
         merges(s.v_batch, 0) && merges(s.y_batch, 0));
    batch = s.batch[0] * (merges_heads ? 1 : s.batch[1]);
    heads = s.batch[2] * (merges_heads ? s.batch[1] : 1);
    key_heads = shares_keys ? s.batch[1] : heads;
  }

  // Returns the strides of a tensor that has so many heads. Those of a
  // dimension with one element do not matter, but cuDNN wants a number.
  AttentionStrides strides(const int64_t (&own)[3], int64_t row, int64_t rows,
                           int64_t own_heads) const {
    AttentionStrides found{merges_heads ? own[0] : merged(own, 0),
                           own_heads < heads ? own[1]
                           : merges_heads    ? merged(own, 1)
                                             : own[2],
                           row};
    if (own_heads == 1)
      found.head = rows * row;
    if (batch == 1)
      found.batch = own_heads * found.head;
    return found;
  }

  bool is_possible;
  int64_t batch, heads, key_heads;

private:
  // Whether dimensions d and d + 1 of a tensor are one, with a single stride.
  bool merges(const int64_t (&own)[3], int d) const {
    return s.batch[d] == 1 || s.batch[d + 1] == 1 ||
           own[d] == s.batch[d + 1] * own[d + 1];
  }
  int64_t merged(const int64_t (&own)[3], int d) const {
    return s.batch[d + 1] == 1 ? own[d] : own[d + 1];
  }

  const AttentionShape &s;
  bool merges_heads; // dimensions 1 and 2, or 0 and 1 otherwise
};

} // namespace detail

// Returns what cuDNN's attention lacks, or does in another way; null if it
// computes what is asked for, wherever the tensors lie.
inline const char *attention_cudnn_lacks(cudnnDataType_t type,
                                         const AttentionShape &s,
                                         const AttentionOptions &o) {
  if (type != CUDNN_DATA_HALF && type != CUDNN_DATA_BFLOAT16)
    return "cuDNN computes attention in half precision only";
  const bool sees_first = s.first_key <= 1 - s.queries;
  const bool sees_last = s.last_key >= s.keys - 1;
  if (o.dropout != 0)
    return "its dropout draws other random numbers";
  if (o.mask || o.added_mask)
    return "it has a mask, whose rows may hide all keys";
  if (o.bias)
    return "it has a bias";
  if (o.softcap != 0)
    return "its scores have a soft cap";
  if (!sees_first || !(sees_last || s.last_key == 0))
    return "its band of keys is not that of a causal mask";
  if (s.key_size % detail::kHalvesOfVector != 0 ||
      s.value_size % detail::kHalvesOfVector != 0)
    return "the sizes of its heads are no multiples of 8";
  return nullptr;
}

namespace detail {

inline bool are_strides_of_cudnn(const AttentionGraph &g) {
  for (const AttentionStrides &strides : {g.q, g.k, g.v, g.y})
    for (int64_t stride : {strides.batch, strides.head, strides.row})
      if (stride < 1 || stride % kHalvesOfVector != 0)
        return false;
  return true;
}

} // namespace detail

// Returns the graph of attention on elements of a type.
inline AttentionGraphResult attention_graph_of(cudnnDataType_t type,
                                               const AttentionShape &s,
                                               const AttentionOptions &o) {
  if (const char *lack = attention_cudnn_lacks(type, s, o))
    return {std::nullopt, lack};
  const detail::AttentionBatch all(s);
  if (!all.is_possible)
    return {std::nullopt, "its batch has three dimensions, each with a stride"};
  const AttentionGraph graph{
      type,
      s.last_key < s.keys - 1,
      all.batch,
      all.heads,
      all.key_heads,
      s.queries,
      s.keys,
      s.key_size,
      s.value_size,
      all.strides(s.q_batch, s.q_row, s.queries, all.heads),
      all.strides(s.k_batch, s.k_row, s.keys, all.key_heads),
      all.strides(s.v_batch, s.v_row, s.keys, all.key_heads),
      all.strides(s.y_batch, s.y_row, s.queries, all.heads)};
  if (!detail::are_strides_of_cudnn(graph))
    return {std::nullopt, "a stride of its tensors is no multiple of 8"};
  return {graph, ""};
}

namespace detail {

// The names by which a plan knows its tensors when it is executed.
constexpr int64_t kAttentionQ = 'q', kAttentionK = 'k', kAttentionV = 'v';
constexpr int64_t kAttentionY = 'y', kAttentionLogSum = 'l';
constexpr int64_t kAttentionScale = 'a', kAttentionHidden = 'h';

// Builds the operations of a graph, one after the other.
class AttentionOperations {
public:
  explicit AttentionOperations(const AttentionGraph &g) : g(g) {}

  std::vector<CudnnDescriptor> build() {
    const cudnnDataType_t type = cudnnDataType_t(g.type);
    const auto operand = [&](int64_t id, int64_t heads, int64_t rows,
                             int64_t size, const AttentionStrides &s) {
      return tensor(id, type, {g.batch, heads, rows, size},
                    {s.batch, s.head, s.row, 1});
    };
    const CudnnDescriptor q = operand(kAttentionQ, g.heads, g.queries,
                                      g.key_size, g.q),
                          keys =
                              tensor(kAttentionK, type,
                                     {g.batch, g.key_heads, g.key_size, g.keys},
                                     {g.k.batch, g.k.head, 1, g.k.row}),
                          v = operand(kAttentionV, g.key_heads, g.keys,
                                      g.value_size, g.v),
                          y = operand(kAttentionY, g.heads, g.queries,
                                      g.value_size, g.y);
    const CudnnDescriptor products = scores();
    multiply(q, keys, products);
    const CudnnDescriptor scaled =
        compute(CUDNN_POINTWISE_MUL, products, value(kAttentionScale));
    multiply(softmax(g.is_causal ? hide_later_keys(scaled) : scaled), v, y);
    return std::move(all);
  }

private:
  // ---- Tensors -------------------------------------------------------------

  CudnnDescriptor tensor(int64_t id, cudnnDataType_t type,
                         const std::vector<int64_t> &sizes,
                         const std::vector<int64_t> &strides,
                         bool is_virtual = false, bool is_value = false) {
    CudnnDescriptor made(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
    made.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, id)
        .set(CUDNN_ATTR_TENSOR_DATA_TYPE, type)
        .set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, int64_t(16))
        .set(CUDNN_ATTR_TENSOR_DIMENSIONS, sizes)
        .set(CUDNN_ATTR_TENSOR_STRIDES, strides)
        .set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, is_virtual)
        .set(CUDNN_ATTR_TENSOR_IS_BY_VALUE, is_value);
    return made.finalize();
  }
  // A matrix of queries x keys for each head, which is never in memory.
  CudnnDescriptor scores(cudnnDataType_t type = CUDNN_DATA_FLOAT) {
    return tensor(next_id++, type, {g.batch, g.heads, g.queries, g.keys},
                  {g.heads * g.queries * g.keys, g.queries * g.keys, g.keys, 1},
                  true);
  }
  // A number for each query.
  CudnnDescriptor rows(int64_t id, bool is_virtual) {
    return tensor(id, CUDNN_DATA_FLOAT, {g.batch, g.heads, g.queries, 1},
                  {g.heads * g.queries, g.queries, 1, 1}, is_virtual);
  }
  CudnnDescriptor rows() { return rows(next_id++, true); }
  // A float that is given when the graph is executed, from the host's memory.
  CudnnDescriptor value(int64_t id) {
    return tensor(id, CUDNN_DATA_FLOAT, {1, 1, 1, 1}, {1, 1, 1, 1}, false,
                  true);
  }

  // ---- Operations ----------------------------------------------------------

  void multiply(const CudnnDescriptor &a, const CudnnDescriptor &b,
                const CudnnDescriptor &c) {
    CudnnDescriptor product(CUDNN_BACKEND_MATMUL_DESCRIPTOR);
    product.set(CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_DATA_FLOAT).finalize();
    CudnnDescriptor operation(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR);
    operation.set(CUDNN_ATTR_OPERATION_MATMUL_ADESC, a)
        .set(CUDNN_ATTR_OPERATION_MATMUL_BDESC, b)
        .set(CUDNN_ATTR_OPERATION_MATMUL_CDESC, c)
        .set(CUDNN_ATTR_OPERATION_MATMUL_DESC, product);
    all.push_back(operation.finalize());
  }
  // y[i] = mode(x[i], b[i]), or where t[i], x[i], and else b[i].
  void compute(cudnnPointwiseMode_t mode, const CudnnDescriptor &x,
               const std::optional<CudnnDescriptor> &b,
               const CudnnDescriptor &y,
               cudnnDataType_t computed_in = CUDNN_DATA_FLOAT,
               const std::optional<CudnnDescriptor> &t = std::nullopt,
               std::optional<int64_t> axis = std::nullopt) {
    CudnnDescriptor pointwise(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
    pointwise.set(CUDNN_ATTR_POINTWISE_MODE, mode)
        .set(CUDNN_ATTR_POINTWISE_MATH_PREC, computed_in);
    if (axis)
      pointwise.set(CUDNN_ATTR_POINTWISE_AXIS, *axis);
    pointwise.finalize();
    CudnnDescriptor operation(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
    operation.set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, pointwise)
        .set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, x)
        .set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, y);
    if (b)
      operation.set(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, *b);
    if (t)
      operation.set(CUDNN_ATTR_OPERATION_POINTWISE_TDESC, *t);
    all.push_back(operation.finalize());
  }
  // Returns a matrix of scores that is computed so.
  CudnnDescriptor
  compute(cudnnPointwiseMode_t mode, const CudnnDescriptor &x,
          const std::optional<CudnnDescriptor> &b = std::nullopt) {
    const CudnnDescriptor y = scores();
    compute(mode, x, b, y);
    return y;
  }
  void reduce(cudnnReduceTensorOp_t mode, const CudnnDescriptor &x,
              const CudnnDescriptor &y) {
    CudnnDescriptor reduction(CUDNN_BACKEND_REDUCTION_DESCRIPTOR);
    reduction.set(CUDNN_ATTR_REDUCTION_OPERATOR, mode)
        .set(CUDNN_ATTR_REDUCTION_COMP_TYPE, CUDNN_DATA_FLOAT)
        .finalize();
    CudnnDescriptor operation(CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR);
    operation.set(CUDNN_ATTR_OPERATION_REDUCTION_XDESC, x)
        .set(CUDNN_ATTR_OPERATION_REDUCTION_YDESC, y)
        .set(CUDNN_ATTR_OPERATION_REDUCTION_DESC, reduction);
    all.push_back(operation.finalize());
  }

  // ---- The parts of attention ----------------------------------------------

  CudnnDescriptor hide_later_keys(const CudnnDescriptor &x) {
    constexpr int64_t kQueries = 2, kKeys = 3; // dimensions
    const CudnnDescriptor query = scores(CUDNN_DATA_INT32),
                          key = scores(CUDNN_DATA_INT32),
                          is_seen = scores(CUDNN_DATA_BOOLEAN), y = scores();
    const auto index = [&](const CudnnDescriptor &to, int64_t axis) {
      compute(CUDNN_POINTWISE_GEN_INDEX, x, std::nullopt, to, CUDNN_DATA_INT32,
              std::nullopt, axis);
    };
    index(query, kQueries);
    index(key, kKeys);
    compute(CUDNN_POINTWISE_CMP_GE, query, key, is_seen, CUDNN_DATA_BOOLEAN);
    compute(CUDNN_POINTWISE_BINARY_SELECT, x, value(kAttentionHidden), y,
            CUDNN_DATA_FLOAT, is_seen);
    return y;
  }
  // Returns the probabilities, rounded for the product with the values; also
  // writes the logarithms of the sums.
  CudnnDescriptor softmax(const CudnnDescriptor &x) {
    const CudnnDescriptor largest = rows(), sum = rows(), log_sum = rows(),
                          probabilities = scores(cudnnDataType_t(g.type));
    reduce(CUDNN_REDUCE_TENSOR_MAX, x, largest);
    const CudnnDescriptor powers =
        compute(CUDNN_POINTWISE_EXP, compute(CUDNN_POINTWISE_SUB, x, largest));
    reduce(CUDNN_REDUCE_TENSOR_ADD, powers, sum);
    compute(CUDNN_POINTWISE_LOG, sum, std::nullopt, log_sum);
    compute(CUDNN_POINTWISE_ADD, largest, log_sum,
            rows(kAttentionLogSum, false));
    compute(CUDNN_POINTWISE_DIV, powers, sum, probabilities);
    return probabilities;
  }

  const AttentionGraph &g;
  std::vector<CudnnDescriptor> all;
  int64_t next_id = 1000; // of tensors that are never in memory
};

} // namespace detail

// The most workspace that a plan may have. Engines without a matrix of queries
// x keys need some bytes, if any.
constexpr int64_t kAttentionPlanWorkspace = int64_t(64) << 10;

// Returns the plan of the first engine of cuDNN's heuristic that always gives
// the same bits and needs at most `workspace_limit` bytes, which are at most
// kAttentionPlanWorkspace.
inline CudnnPlanResult plan_attention(const PlanDevice &device,
                                      const AttentionGraph &graph,
                                      int64_t workspace_limit) {
  EngineRules rules;
  rules.may_be_compiled_at_run_time = true;
  rules.workspace_limit = std::min(workspace_limit, kAttentionPlanWorkspace);
  return plan_graph(device, rules, [&] {
    return detail::operation_graph_of(
        detail::AttentionOperations(graph).build(), device);
  });
}

// Enqueues attention in the handle's stream. cuDNN refuses operands that the
// graph does not have.
inline void execute_attention(const CudnnPlan &plan, bool is_causal,
                              cudnnHandle_t handle,
                              const AttentionTensors &tensors, float scale,
                              void *workspace) {
  const float hidden = -std::numeric_limits<float>::infinity();
  CudnnOperands operands;
  operands.add(detail::kAttentionQ, tensors.q);
  operands.add(detail::kAttentionK, tensors.k);
  operands.add(detail::kAttentionV, tensors.v);
  operands.add(detail::kAttentionY, tensors.y);
  operands.add(detail::kAttentionLogSum, tensors.log_sum);
  operands.add(detail::kAttentionScale, &scale);
  if (is_causal)
    operands.add(detail::kAttentionHidden, &hidden);
  plan.execute(handle, operands, workspace);
}

} // namespace gpuopt
#endif // GPUOPT_HAS_ATTENTION_PLANS
