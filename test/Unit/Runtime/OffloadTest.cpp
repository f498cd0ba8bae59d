// Tensors on the host: what comes back is what went, and is counted apart.

#include "gpuopt/device/offload.h"

#include <cstring>
#include <gtest/gtest.h>

using namespace gpuopt;

TEST(Offload, BringsBackWhatWent) {
  Context ctx(1);
  ctx.allocate_host(512);
  EXPECT_EQ(ctx.allocated_bytes, 0u);
  EXPECT_EQ(ctx.host_bytes, 512u);
  std::vector<float> tensor(64, 2.5f), other(64), place(64, 0.f);
  offload(ctx, 0, ctx.host_memory + 256, tensor.data(), 256);
  await(ctx, 0);
  tensor.assign(64, 0.f); // its memory is free
  offload(ctx, 1, ctx.host_memory, other.data(), 256);
  await(ctx, 1);
  reload(ctx, 2, place.data(), ctx.host_memory + 256, 256);
  await(ctx, 2);
  EXPECT_EQ(place, std::vector<float>(64, 2.5f));
}

TEST(Offload, AsksForNoMemoryWithoutNeed) {
  Context ctx(1);
  ctx.allocate_host(0);
  EXPECT_EQ(ctx.host_memory, nullptr);
}
