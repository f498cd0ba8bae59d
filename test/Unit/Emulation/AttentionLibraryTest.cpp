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
    emulation::device().machine.engine_failure = 0;
    emulation::device().machine.cudnn_version = 0;
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

// How many graphs cuDNN has computed.
int64_t count_plans(Context &ctx) {
  int64_t count = 0;
  for (const auto &[content, planned] :
       ctx.library<detail::CudnnAttention>().plans)
    count += planned.plan.has_value();
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
    execute_attention(plan, graph.is_causal, handle,
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
            "cuDNN computes attention in half precision only");
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
  // Only `auto` reads and writes the record.
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
      "\tattention of f16, 2 x 3 x 1 of 60 x 60 x 16 and 16, causal, "
      "own by warpgroups, workspace 5888\t";
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
      error("cudnn"), "has a choice that cannot be kept for the attention of f16"));
  EXPECT_TRUE(contains(error("cudnn"), "cuDNN proposes no engine; remove the "
                                       "file to have calls timed anew"));
  EXPECT_EQ(error("own"), "");
}

// Where cuDNN has no plan, the own kernels are the choice, which holds even if
// a later run finds what cuDNN lacks now.
TEST_F(AttentionLibraryTest, KeepsOwnKernelsWhereCudnnHasNoPlan) {
  emulation::device().machine.has_engines = false;
  testing::internal::CaptureStderr();
  const std::vector<f16> own = forward(kCase, file);
  const std::string warning = testing::internal::GetCapturedStderr();
  EXPECT_EQ(warning.find("warning: attention of f16, 2 x 3 x 1 of 60 x 60 x 16 "
                         "and 16, causal is computed by the runtime's own "
                         "kernels, not by cuDNN: cuDNN proposes no engine"),
            0u)
      << warning;
  emulation::device().machine.has_engines = true;
  EXPECT_TRUE(contains(read_file(file), "\town\n"));
  EXPECT_TRUE(are_same(forward(kCase, file), own));
}

std::string with_choice(const std::string &record, const std::string &choice) {
  return record.substr(0, record.rfind('\t') + 1) + choice + "\n";
}

// A failure of cuDNN ends no training that the own kernels can do. It is not
// recorded, since the next run may be without it.
TEST_F(AttentionLibraryTest, TakesOwnKernelsWhereCudnnFails) {
  const std::vector<f16> own = forward(kCase, "", AttentionLibrary::Own);
  forward(kCase, file);
  const std::string record = read_file(file);
  std::filesystem::remove(file);
  emulation::device().machine.engine_failure =
      CUDNN_STATUS_INTERNAL_ERROR_COMPILATION_FAILED;
  for (AttentionLibrary library :
       {AttentionLibrary::Auto, AttentionLibrary::Cudnn}) {
    testing::internal::CaptureStderr();
    EXPECT_TRUE(are_same(forward(kCase, file, library), own));
    const std::string warning = testing::internal::GetCapturedStderr();
    EXPECT_TRUE(contains(warning, "the runtime's own kernels, not by cuDNN: "))
        << warning;
    EXPECT_TRUE(contains(warning, "the emulated heuristic was told to fail"))
        << warning;
  }
  EXPECT_EQ(read_file(file).find("attention"), std::string::npos);
  write_file(file, with_choice(record, "cudnn"));
  const std::string error = ::error_of([&] { forward(kCase, file); });
  EXPECT_TRUE(contains(error, "has a choice that cannot be kept"));
  EXPECT_TRUE(contains(error, "the emulated heuristic was told to fail"));
}

// A handle takes time and memory of the device.
TEST_F(AttentionLibraryTest, MakesNoHandleWhereCudnnIsNotAsked) {
  const auto has_handle = [&](const auto &in, const Case &c,
                              AttentionLibrary library) {
    bool found = false;
    run(c, in,
        {[&](Context &ctx) {
           ctx.use_attention_library(library);
           ctx.use_autotune_record(file);
         },
         [&](Context &ctx) {
           found = ctx.library<detail::CudnnAttention>().handle != nullptr;
         }});
    return found;
  };
  Case dropping = kCase, masked = kCase;
  dropping.dropout = 0.5;
  masked.extra = Case::Extra::Mask;
  for (AttentionLibrary library :
       {AttentionLibrary::Auto, AttentionLibrary::Cudnn}) {
    EXPECT_FALSE(has_handle(Inputs<float>(kCase), kCase, library));
    EXPECT_FALSE(has_handle(Inputs<f16>(dropping), dropping, library));
    EXPECT_FALSE(has_handle(Inputs<f16>(masked), masked, library));
  }
  EXPECT_TRUE(has_handle(Inputs<f16>(kCase), kCase, AttentionLibrary::Auto));
  write_file(file, with_choice(read_file(file), "own"));
  EXPECT_FALSE(has_handle(Inputs<f16>(kCase), kCase, AttentionLibrary::Auto));
}

// ---- What is timed ---------------------------------------------------------

// Chooses between the own kernels and a cuDNN that does something else.
struct TimedAttentionTest : AttentionLibraryTest {
  bool choose(const std::function<void(Context &, OnDevice<f16> &y,
                                       OnDevice<float> &statistics)> &cudnn) {
    const Inputs<f16> in(kCase);
    const AttentionShape s = shape_of(kCase);
    Context ctx;
    ctx.use_autotune_record(file);
    const OnDevice<f16> q(in.q), k(in.k), v(in.v);
    OnDevice<f16> y(in.dy.size());
    OnDevice<float> statistics(size_t(2 * batch_elements(kCase) * s.queries));
    cudaDeviceSynchronize();
    AttentionOptions o;
    o.scale = kCase.scale;
    const detail::AttentionCall call{
        "attention", attention_graph_of(CUDNN_DATA_HALF, s, o), 1024};
    detail::AttentionComparison<f16> comparison(ctx, s, y.data,
                                                statistics.data);
    const auto own = [&] {
      detail::launch_forward<64, AttentionScores::Products>(
          ctx, s, q.data, k.data, v.data, y.data, statistics.data, o);
    };
    testing::internal::CaptureStderr();
    const bool is_cudnn =
        detail::TimedAttention(ctx, ctx.library<detail::CudnnAttention>(), call)
            .choose({own, [&](const CudnnPlan &) { cudnn(ctx, y, statistics); },
                     [&] { comparison.keep(); },
                     [&] { return comparison.agrees(); }});
    warning = testing::internal::GetCapturedStderr();
    return is_cudnn;
  }
  std::string warning;
};

// What is there already is right, and takes no time.
TEST_F(TimedAttentionTest, TakesWhatIsFasterAndRight) {
  EXPECT_TRUE(choose([](Context &, auto &, auto &) {}));
  EXPECT_EQ(warning, "");
  EXPECT_TRUE(contains(read_file(file), "\tcudnn\n"));
}
TEST_F(TimedAttentionTest, TakesNoWrongResult) {
  EXPECT_FALSE(choose([](Context &ctx, auto &y, auto &) {
    set_zero(ctx, y.data + y.n - 4, 4 * sizeof(f16));
  }));
  EXPECT_EQ(warning,
            "warning: attention is computed by the runtime's own kernels, not "
            "by cuDNN: its results differ by more than roundings\n");
  EXPECT_TRUE(contains(read_file(file), "\town\n"));
}
TEST_F(TimedAttentionTest, TakesNoWrongStatistic) {
  EXPECT_FALSE(choose([](Context &ctx, auto &, auto &statistics) {
    set_zero(ctx, statistics.data + statistics.n - 4, 4 * sizeof(float));
  }));
  EXPECT_TRUE(contains(warning, "its results differ by more than roundings"));
}
TEST_F(TimedAttentionTest, RecordsNothingWhereARunFails) {
  EXPECT_FALSE(choose([](Context &, auto &, auto &) {
    throw CudnnError(CUDNN_STATUS_EXECUTION_FAILED, "it has failed");
  }));
  EXPECT_EQ(warning,
            "warning: attention is computed by the runtime's own kernels, not "
            "by cuDNN: it has failed\n");
  EXPECT_FALSE(std::filesystem::exists(file));
}

// ---- A forward that is computed again --------------------------------------

std::vector<f16> forward_in(Context &ctx, const Case &c) {
  const Inputs<f16> in(c);
  const Places p(c);
  const OnDevice<f16> q(in.q), k(in.k), v(in.v), y(in.dy.size());
  const OnDevice<float> statistics(size_t(2 * batch_elements(c) * c.queries));
  cudaDeviceSynchronize();
  AttentionOptions o;
  o.scale = c.scale;
  attention(ctx, shape_of(c), q.data + p.q.offset,
            (c.is_fused ? q : k).data + p.k.offset,
            (c.is_fused ? q : v).data + p.v.offset, y.data + p.y.offset,
            statistics.data, o);
  synchronize(ctx);
  return y.values();
}

// Its tensors may lie elsewhere than those of the first one.
struct AgainTest : AttentionLibraryTest {
  // Expects which ways two calls of a run take, "own" or "cudnn", with a choice
  // in the record.
  void expect_ways(const std::string &choice, const Case (&cases)[2],
                   const std::string (&ways)[2]) {
    for (const std::string &recorded : {std::string(), choice}) {
      if (!recorded.empty())
        write_file(file, with_choice(read_file(file), recorded));
      Context ctx;
      const OnDevice<char> workspace(1024);
      ctx.use_workspace(workspace.data, workspace.n);
      ctx.use_autotune_record(file);
      if (recorded.empty()) {
        forward_in(ctx, kCase); // makes the record
        continue;
      }
      testing::internal::CaptureStderr();
      for (int i = 0; i < 2; i++) {
        const AttentionLibrary way =
            ways[i] == "own" ? AttentionLibrary::Own : AttentionLibrary::Cudnn;
        EXPECT_TRUE(
            are_same(forward_in(ctx, cases[i]), forward(cases[i], "", way)))
            << i;
      }
      warning = testing::internal::GetCapturedStderr();
    }
    // The header and one choice: nothing was timed apart.
    const std::string record = read_file(file);
    EXPECT_EQ(std::count(record.begin(), record.end(), '\n'), 2) << record;
  }
  std::string warning;
};

TEST_F(AgainTest, HasTheChoiceOfTheFirst) {
  for (const std::string choice : {"own", "cudnn"}) {
    expect_ways(choice, {kCase, fused(kCase)}, {choice, choice});
    EXPECT_EQ(warning, "");
  }
}
TEST_F(AgainTest, IsOwnWhereTheFirstLiesAsCudnnDoesNotTakeIt) {
  Case shifted = kCase;
  shifted.shift = 4;
  expect_ways("cudnn", {shifted, kCase}, {"own", "own"});
  EXPECT_EQ(warning, "");
}
TEST_F(AgainTest, WarnsWhereItLiesAsCudnnDoesNotTakeIt) {
  Case shifted = kCase;
  shifted.shift = 4;
  expect_ways("cudnn", {kCase, shifted}, {"cudnn", "own"});
  EXPECT_TRUE(contains(warning, "a tensor begins at no multiple of 16 bytes"))
      << warning;
}

// ---- Warnings --------------------------------------------------------------

std::string warning_of(const Case &c) {
  testing::internal::CaptureStderr();
  forward(c, "", AttentionLibrary::Cudnn);
  return testing::internal::GetCapturedStderr();
}

TEST_F(AttentionLibraryTest, WarnsWhereCudnnWasAskedFor) {
  EXPECT_EQ(warning_of(kCase), "");
  EXPECT_EQ(warning_of(of_heads(40, 20)),
            "warning: attention of f16, 2 x 3 x 1 of 40 x 40 x 20 and 20 is "
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
  testing::internal::CaptureStderr();
  run(kCase, Inputs<f16>(kCase),
      {[](Context &ctx) {
         ctx.use_attention_library(AttentionLibrary::Cudnn);
         // Convolutions refuse it at the start.
         emulation::device().machine.cudnn_version = 90100;
       },
       [](Context &) {}});
  const std::string warning = testing::internal::GetCapturedStderr();
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
