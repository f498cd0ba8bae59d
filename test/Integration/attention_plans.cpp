// Asks cuDNN for the plans of attention on a GPU that need not be there, and
// prints a line for each: what it is, and the engine with its workspace or why
// there is none. test_attention_plans.py reads them.
#include "gpuopt/ops/attention_plan_cuda.h"

#include <cstdio>
#include <fstream>
#include <iterator>

using namespace gpuopt;

namespace {

// Heads of a fused projection [b, L, 3, h, d], of L tokens, or of a query and
// fewer heads of keys and values, apart.
struct Shape {
  const char *name;
  int64_t batch, heads, key_heads, queries, keys, key_size, value_size;
  bool is_causal;
};

// As the models of the zoo have them, and as larger ones do.
constexpr Shape kShapes[] = {
    {"gpt2", 64, 12, 12, 1024, 1024, 64, 64, true},
    {"gpt2-bench", 8, 4, 4, 128, 128, 32, 32, true},
    {"bert", 64, 12, 12, 128, 128, 64, 64, false},
    {"vit", 128, 12, 12, 197, 197, 64, 64, false},
    {"llama", 8, 12, 4, 1024, 1024, 64, 64, true},
    {"multi-query", 8, 8, 1, 1024, 1024, 128, 128, true},
    {"cross", 8, 8, 8, 256, 77, 40, 40, false},
    {"large heads", 8, 4, 4, 1024, 1024, 256, 256, true},
    {"narrow heads", 8, 8, 8, 50, 50, 16, 16, true},
    {"other values", 2, 4, 4, 128, 128, 32, 64, true}};

AttentionShape shape_of(const Shape &s) {
  AttentionShape a{};
  const int64_t group = s.heads / s.key_heads;
  const bool is_fused = s.queries == s.keys && s.key_heads == s.heads &&
                        s.key_size == s.value_size;
  a.batch[0] = s.batch;
  a.batch[1] = s.key_heads;
  a.batch[2] = group;
  a.queries = s.queries, a.keys = s.keys;
  a.key_size = s.key_size, a.value_size = s.value_size;
  const auto place = [&](int64_t (&batch)[3], int64_t &row, int64_t rows,
                         int64_t size, bool is_shared, int64_t parts) {
    row = parts * s.key_heads * (is_shared ? 1 : group) * size;
    batch[0] = rows * row;
    batch[1] = (is_shared ? 1 : group) * size;
    batch[2] = is_shared ? 0 : size;
  };
  const bool shares_keys = group > 1;
  place(a.q_batch, a.q_row, s.queries, s.key_size, false, is_fused ? 3 : 1);
  place(a.k_batch, a.k_row, s.keys, s.key_size, shares_keys, is_fused ? 3 : 1);
  place(a.v_batch, a.v_row, s.keys, s.value_size, shares_keys,
        is_fused ? 3 : 1);
  place(a.y_batch, a.y_row, s.queries, s.value_size, false, 1);
  if (s.is_causal)
    a.last_key = 0;
  return a;
}

} // namespace

int main(int, char **argv) {
  std::ifstream file(argv[1]);
  const PlanDevice device(
      std::string(std::istreambuf_iterator<char>(file), {}));
  for (const Shape &shape : kShapes)
    for (cudnnDataType_t type : {CUDNN_DATA_HALF, CUDNN_DATA_BFLOAT16}) {
      const AttentionGraphResult graph =
          attention_graph_of(type, shape_of(shape), {});
      CudnnPlanResult found{std::nullopt, graph.reason};
      if (graph.graph)
        found = plan_attention(device, *graph.graph, kAttentionPlanWorkspace);
      printf("%s\t%s\t", shape.name, type == CUDNN_DATA_HALF ? "f16" : "bf16");
      if (found.plan)
        printf("engine %lld\t%lld\n",
               static_cast<long long>(found.plan->engine()),
               static_cast<long long>(found.plan->workspace_bytes()));
      else
        printf("none\t%s\n", found.reason.c_str());
    }
}
