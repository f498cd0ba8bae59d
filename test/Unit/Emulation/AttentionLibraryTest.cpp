// The forward of attention by the emulated cuDNN, which computes the graph that
// the runtime describes, with the runtime's own backward; and the choice
// between cuDNN and the own kernels.
#include "AttentionCase.h"

#include "../Runtime/Files.h"
#include "emulation/cudart/device.h"

#include <filesystem>

using namespace gpuopt;

namespace {

struct AttentionLibraryTest : Emulation {
  ~AttentionLibraryTest() override {
    emulation::device().machine.has_engines = true;
  }
  TemporaryFolder folder;
  std::string file = folder / "autotune.txt";
};

Case of_heads(int64_t length, int64_t size) {
  Case c;
  c.queries = c.keys = length;
  c.key_size = c.value_size = size;
  c.batch[0] = 2;
  c.batch[1] = 3;
  return c;
}
Case causal(Case c) {
  c.last_key = 0;
  return c;
}
Case fused(Case c) {
  c.is_fused = true;
  return c;
}
// Four heads share each of the two heads of keys.
Case grouped(Case c) {
  c.batch[1] = 2;
  c.batch[2] = 4;
  c.shares_keys = true;
  return c;
}
Case between(Case c, int64_t queries, int64_t keys) {
  c.queries = queries;
  c.keys = keys;
  return c;
}

// How many shapes cuDNN has computed.
int64_t count_plans(Context &ctx) {
  int64_t count = 0;
  for (const auto &[content, plan] :
       ctx.library<detail::CudnnAttention>().chosen)
    count += plan.has_value();
  return count;
}
const ContextHooks kByCudnn{
    [](Context &ctx) { ctx.use_attention_library(AttentionLibrary::Cudnn); },
    [](Context &ctx) { EXPECT_EQ(count_plans(ctx), 1); }};

// ---- Results ---------------------------------------------------------------

std::vector<Case> supported_cases() {
  const Case plain = of_heads(40, 16);
  Case other_values = plain;
  other_values.value_size = 24;
  Case with_gaps = causal(plain);
  with_gaps.gap = 8;
  Case three_dimensions = plain;
  three_dimensions.batch[2] = 2;
  Case one_head = grouped(plain); // multi-query attention
  one_head.batch[1] = 1;
  return {plain,
          causal(plain),
          fused(plain),
          causal(fused(plain)),
          grouped(plain),
          causal(grouped(plain)),
          one_head,
          between(plain, 33, 50),
          causal(between(plain, 50, 33)),
          causal(of_heads(49, 64)),
          other_values,
          with_gaps,
          three_dimensions};
}

TEST_F(AttentionLibraryTest, ComputesTheFormulaInF16) {
  for (const Case &c : supported_cases()) {
    SCOPED_TRACE(describe(c));
    expect_right<f16>(c, kByCudnn);
  }
}
TEST_F(AttentionLibraryTest, ComputesTheFormulaInBF16) {
  for (const Case &c : supported_cases()) {
    SCOPED_TRACE(describe(c));
    expect_right<bf16>(c, kByCudnn);
  }
}

// What lies between the rows keeps the bytes that it had.
TEST_F(AttentionLibraryTest, WritesItsOwnElementsAlone) {
  Case c = of_heads(20, 16);
  c.gap = 8;
  const Outputs<f16> out = run(c, Inputs<f16>(c), kByCudnn);
  EXPECT_EQ(count_strangers(out.y, Places(c).y, c, c.queries, c.value_size), 0);
}

TEST_F(AttentionLibraryTest, GivesTheSameBitsInAnyOrderOfWork) {
  const Case c = causal(fused(of_heads(40, 16)));
  const Inputs<f16> in(c);
  std::vector<f16> first;
  EXPECT_EQ(count_seeds(3,
                        [&] {
                          const auto y = run(c, in, kByCudnn).y;
                          if (first.empty())
                            first = y;
                          return memcmp(y.data(), first.data(),
                                        y.size() * sizeof(f16)) != 0;
                        }),
            0);
}

// ---- The graph -------------------------------------------------------------

// Y by a graph whose strides were changed.
template <class Change>
std::vector<f16> by_changed_graph(const Case &c, const Inputs<f16> &in,
                                  const Change &change) {
  const Places p(c);
  AttentionGraph graph =
      *attention_graph_of(CUDNN_DATA_HALF, shape_of(c), {}).graph;
  change(graph);
  cudnnHandle_t handle = nullptr;
  cudnnCreate(&handle);
  std::vector<f16> y;
  {
    const CudnnPlan plan =
        *plan_attention(PlanDevice(handle), graph, 1024).plan;
    // Behind what the tensors have, room for wrong strides.
    const OnDevice<f16> q(in.q), k(in.k), v(in.v), to(in.dy.size());
    const OnDevice<float> log_sum(size_t(batch_elements(c) * c.queries));
    const OnDevice<char> workspace(1024);
    execute_attention(plan, handle,
                      {q.data, k.data, v.data, to.data, log_sum.data},
                      float(c.scale), workspace.data);
    y = to.values();
  }
  cudnnDestroy(handle);
  return y;
}

TEST_F(AttentionLibraryTest, WrongStridesShow) {
  Case c = of_heads(24, 16);
  c.gap = 8;
  const Inputs<f16> in(c);
  const auto error_with = [&](const auto &change) {
    Outputs<f16> out;
    out.y = by_changed_graph(c, in, change);
    out.dq = in.q, out.dk = in.k, out.dv = in.v;
    return distance(out.results(c).y, reference(c, in).y);
  };
  EXPECT_LT(error_with([](AttentionGraph &) {}), kTolerance<f16>);
  for (AttentionStrides AttentionGraph::*tensor :
       {&AttentionGraph::q, &AttentionGraph::k, &AttentionGraph::v,
        &AttentionGraph::y})
    for (int64_t AttentionStrides::*stride :
         {&AttentionStrides::batch, &AttentionStrides::head,
          &AttentionStrides::row})
      EXPECT_GT(error_with([&](AttentionGraph &g) { g.*tensor.*stride -= 8; }),
                0.1);
  EXPECT_GT(error_with([](AttentionGraph &g) { g.is_causal = 1; }), 0.1);
}

TEST_F(AttentionLibraryTest, SaysWhatCudnnIsNotAskedFor) {
  const auto reason = [](const Case &c, const AttentionOptions &o = {},
                         cudnnDataType_t type = CUDNN_DATA_HALF) {
    return attention_graph_of(type, shape_of(c), o).reason;
  };
  const Case plain = of_heads(40, 16);
  EXPECT_EQ(reason(plain), "");
  EXPECT_EQ(reason(plain, {}, CUDNN_DATA_FLOAT),
            "cuDNN's has to be in half precision");
  AttentionOptions o;
  o.dropout = 0.1;
  EXPECT_EQ(reason(plain, o), "its dropout draws other random numbers");
  o = {};
  const uint8_t mask = 0;
  o.mask = &mask;
  EXPECT_EQ(reason(plain, o), "it has a mask, whose rows may hide all keys");
  o = {};
  const float bias = 0;
  o.bias = &bias;
  EXPECT_EQ(reason(plain, o), "it has a bias");
  o = {};
  o.softcap = 50;
  EXPECT_EQ(reason(plain, o), "its scores have a soft cap");
  Case window = causal(plain);
  window.first_key = -8;
  EXPECT_EQ(reason(window), "its band of keys is not that of a causal mask");
  Case narrow = of_heads(40, 20);
  EXPECT_EQ(reason(narrow), "the sizes of its heads are no multiples of 8");
  Case uneven = plain;
  uneven.gap = 4;
  EXPECT_EQ(reason(uneven), "a stride of its tensors is no multiple of 8");
  AttentionShape apart = shape_of(plain);
  apart.batch[2] = 2; // beside the other dimensions, with strides of their own
  apart.q_batch[2] = apart.k_batch[2] = apart.v_batch[2] = apart.y_batch[2] =
      1 << 20;
  apart.q_batch[0] += 8;
  EXPECT_EQ(attention_graph_of(CUDNN_DATA_HALF, apart, {}).reason,
            "its batch has three dimensions, each with a stride");
}

// ---- The choice ------------------------------------------------------------

std::vector<f16> forward(const Case &c, const std::string &record,
                         AttentionLibrary library = AttentionLibrary::Auto) {
  return run(c, Inputs<f16>(c),
             {[&](Context &ctx) {
                ctx.use_attention_library(library);
                if (!record.empty())
                  ctx.use_autotune_record(record);
              },
              [](Context &) {}})
      .y;
}
bool are_same(const std::vector<f16> &a, const std::vector<f16> &b) {
  return a.size() == b.size() &&
         memcmp(a.data(), b.data(), a.size() * sizeof(f16)) == 0;
}
// Both ways round differently, so the bits tell which one was taken.
const Case kCase = causal(of_heads(60, 16));

TEST_F(AttentionLibraryTest, TakesOwnKernelsWithoutARecord) {
  const std::vector<f16> own = forward(kCase, "", AttentionLibrary::Own),
                         other = forward(kCase, "", AttentionLibrary::Cudnn);
  EXPECT_FALSE(are_same(own, other));
  EXPECT_TRUE(are_same(forward(kCase, ""), own));
  // A record is for those who let choose.
  forward(kCase, file, AttentionLibrary::Own);
  forward(kCase, file, AttentionLibrary::Cudnn);
  EXPECT_EQ(read_file(file).find("attention"), std::string::npos);
}

TEST_F(AttentionLibraryTest, KeepsWhatItChose) {
  const std::vector<f16> own = forward(kCase, "", AttentionLibrary::Own),
                         other = forward(kCase, "", AttentionLibrary::Cudnn);
  const std::vector<f16> first = forward(kCase, file);
  const std::string record = read_file(file);
  const std::string call =
      ", cuDNN " + std::to_string(cudnnGetVersion()) +
      "\tattention of f16, 2 x 3 of 60 x 60 x 16 and 16, heads of keys 3, "
      "strides q 2880 960 16 k 2880 960 16 v 2880 960 16 y 2880 960 16, "
      "causal, workspace 5888\t";
  const size_t found = record.find(call);
  ASSERT_NE(found, std::string::npos) << record;
  const std::string choice = record.substr(found + call.size());
  EXPECT_TRUE(choice == "own\n" || choice == "cudnn\n") << choice;
  EXPECT_TRUE(are_same(first, choice == "own\n" ? own : other));
  for (const std::string other_choice : {"own", "cudnn"}) {
    write_file(file,
               record.substr(0, found + call.size()) + other_choice + "\n");
    EXPECT_TRUE(
        are_same(forward(kCase, file), other_choice == "own" ? own : other));
  }
}

TEST_F(AttentionLibraryTest, RefusesARecordThatCannotBeKept) {
  forward(kCase, file);
  const std::string record = read_file(file);
  const std::string before = record.substr(0, record.rfind('\t') + 1);
  const auto error = [&](const std::string &choice) {
    write_file(file, before + choice + "\n");
    return ::error_of([&] { forward(kCase, file); });
  };
  EXPECT_TRUE(contains(error("fa3"), "'fa3' is neither 'own' nor 'cudnn'"));
  emulation::device().machine.has_engines = false;
  EXPECT_TRUE(contains(
      error("cudnn"), "has a choice that cannot be kept for attention of f16"));
  EXPECT_TRUE(contains(error("cudnn"), "cuDNN proposes no engine; remove the "
                                       "file to have calls timed anew"));
  EXPECT_EQ(error("own"), "");
}

// Where cuDNN has no plan, the own kernels are the choice, which holds even if
// a later run finds what cuDNN lacks now.
TEST_F(AttentionLibraryTest, KeepsOwnKernelsWhereCudnnHasNoPlan) {
  emulation::device().machine.has_engines = false;
  const std::vector<f16> own = forward(kCase, file);
  emulation::device().machine.has_engines = true;
  EXPECT_TRUE(contains(read_file(file), "\town\n"));
  EXPECT_TRUE(are_same(forward(kCase, file), own));
}

std::string warning_of(const Case &c) {
  testing::internal::CaptureStderr();
  forward(c, "", AttentionLibrary::Cudnn);
  return testing::internal::GetCapturedStderr();
}

TEST_F(AttentionLibraryTest, WarnsWhereCudnnWasAskedFor) {
  EXPECT_EQ(warning_of(kCase), "");
  EXPECT_EQ(warning_of(of_heads(40, 20)),
            "warning: attention of 2 x 3 x 1 of 40 x 40 x 20 and 20 is "
            "computed by the runtime's own kernels, not by cuDNN: the sizes "
            "of its heads are no multiples of 8\n");
  Case shifted = of_heads(40, 16);
  shifted.shift = 4;
  EXPECT_TRUE(contains(warning_of(shifted),
                       "a tensor begins at no multiple of 16 bytes"));
  emulation::device().machine.has_engines = false;
  EXPECT_TRUE(contains(warning_of(kCase),
                       "is computed by the runtime's own kernels, not by "
                       "cuDNN: cuDNN proposes no engine"));
}

// A program may run where cuDNN is older than the one that it was built with.
TEST_F(AttentionLibraryTest, DoesWithoutAnOlderCudnn) {
  emulation::device().machine.cudnn_version = 90100;
  const std::string warning = warning_of(kCase);
  emulation::device().machine.cudnn_version = 0;
  EXPECT_TRUE(contains(warning, "cuDNN is older than the one that the program "
                                "was built with"))
      << warning;
}

TEST_F(AttentionLibraryTest, SaysWhyCudnnCannotBeUsed) {
  emulation::device().lost = "a kernel has failed";
  detail::CudnnAttention library;
  const AttentionGraph graph =
      *attention_graph_of(CUDNN_DATA_HALF, shape_of(kCase), {}).graph;
  const std::string reason = library.plan(graph, 0).reason;
  EXPECT_EQ(reason, "cuDNN cannot be used: a kernel has failed");
}

TEST_F(AttentionLibraryTest, IsCapturedAndReplayed) {
  const Case c = kCase;
  const Inputs<f16> in(c);
  Context ctx;
  ctx.use_attention_library(AttentionLibrary::Cudnn);
  const OnDevice<char> workspace(1024);
  ctx.use_workspace(workspace.data, workspace.n);
  const OnDevice<f16> q(in.q), k(in.k), v(in.v), y(in.dy.size());
  const OnDevice<float> statistics(size_t(2 * batch_elements(c) * c.queries));
  cudaDeviceSynchronize();
  Replay replay;
  AttentionOptions o;
  o.scale = c.scale;
  std::vector<f16> first;
  for (int i = 0; i < 3; i++) {
    replay.run(ctx, [&] {
      attention(ctx, shape_of(c), q.data, k.data, v.data, y.data,
                statistics.data, o);
    });
    const std::vector<f16> result = y.values();
    if (i == 0)
      first = result;
    EXPECT_TRUE(are_same(result, first));
    cudaMemset(y.data, 0xff, in.dy.size() * sizeof(f16));
    cudaDeviceSynchronize();
  }
}

} // namespace
