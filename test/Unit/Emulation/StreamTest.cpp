// Streams, events, copies and graphs: what has an order keeps it, and what has
// none shows it.
#include "Machine.h"

#include <cstring>

namespace {

__global__ void set_to(int *p, int value) { *p = value; }
__global__ void copy_from(const int *from, int *to) { *to = *from; }

using StreamTest = Emulation;

TEST_F(StreamTest, WorkWaitsUntilSomebodyWaits) {
  Stream stream;
  int *pinned = nullptr;
  cudaMallocHost(reinterpret_cast<void **>(&pinned), sizeof(int));
  *pinned = 1;
  OnDevice<int> value(std::vector<int>{5});
  cudaDeviceSynchronize();
  cudaMemcpyAsync(pinned, value.data, sizeof(int), cudaMemcpyDeviceToHost,
                  stream);
  EXPECT_EQ(*pinned, 1);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(*pinned, 5);
  cudaFreeHost(pinned);
}

TEST_F(StreamTest, RowsAreCopiedWithTheirStrides) {
  Stream stream;
  OnDevice<int> from(std::vector<int>{1, 2, 3, 4, 5, 6});
  OnDevice<int> to(std::vector<int>{0, 0, 0, 0});
  cudaDeviceSynchronize();
  cudaMemcpy2DAsync(to.data + 1, 2 * sizeof(int), from.data + 2,
                    3 * sizeof(int), sizeof(int), 2, cudaMemcpyDeviceToDevice,
                    stream);
  EXPECT_EQ(to.values(), (std::vector<int>{0, 3, 0, 6}));
  cudaMemcpy2DAsync(to.data, 8, from.data, 8, 8, 1, cudaMemcpyDeviceToHost,
                    stream);
  EXPECT_STREQ(cudaGetErrorString(cudaErrorInvalidMemcpyDirection),
               "the emulation copies rows on the device alone");
  cudaMemcpy2DAsync(to.data, 4, from.data, 8, 8, 1, cudaMemcpyDeviceToDevice,
                    stream);
  EXPECT_STREQ(cudaGetErrorString(cudaErrorInvalidPitchValue),
               "a row is longer than a pitch");
}

// One stream writes 2, another one reads: 1 is what was there before.
bool reads_too_early(bool has_event) {
  Stream writer, reader;
  Event written;
  OnDevice<int> value(std::vector<int>{1}), seen(1);
  cudaDeviceSynchronize();
  run(writer, 1, 1, set_to, value.data, 2);
  cudaEventRecord(written, writer);
  if (has_event)
    cudaStreamWaitEvent(reader, written);
  run(reader, 1, 1, copy_from, static_cast<const int *>(value.data), seen.data);
  return seen.values()[0] != 2;
}

TEST_F(StreamTest, EventsOrderStreams) {
  EXPECT_EQ(count_seeds(40, [] { return reads_too_early(true); }), 0);
}

TEST_F(StreamTest, MissingEventShows) {
  const int early = count_seeds(40, [] { return reads_too_early(false); });
  EXPECT_GT(early, 10);
  EXPECT_LT(early, 40);
}

TEST_F(StreamTest, StreamsKeepTheirOrder) {
  Stream stream;
  OnDevice<int> value(1);
  for (int i = 0; i < 20; i++)
    run(stream, 1, 1, set_to, value.data, i);
  EXPECT_EQ(value.values()[0], 19);
}

TEST_F(StreamTest, AnEventIsWhatWasRecordedLast) {
  Stream stream, other;
  Event event;
  OnDevice<int> value(1), seen(1);
  run(stream, 1, 1, set_to, value.data, 1);
  cudaEventRecord(event, stream);
  cudaStreamWaitEvent(other, event);
  run(other, 1, 1, copy_from, static_cast<const int *>(value.data), seen.data);
  EXPECT_EQ(cudaStreamSynchronize(other), cudaSuccess);
  EXPECT_EQ(seen.values()[0], 1);
  float milliseconds = -1;
  Event later;
  cudaEventRecord(later, stream);
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, event, later),
            cudaErrorNotReady);
  EXPECT_STREQ(cudaGetErrorString(cudaErrorNotReady),
               "an event has not happened yet");
  cudaEventSynchronize(later);
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, event, later), cudaSuccess);
  EXPECT_GE(milliseconds, 0);
  Event never;
  cudaEventElapsedTime(&milliseconds, event, never);
  EXPECT_STREQ(cudaGetErrorString(cudaErrorInvalidResourceHandle),
               "the event records no time, or was never recorded");
}

// cudaMemset belongs to the legacy default stream, which non-blocking streams
// do not wait for.
TEST_F(StreamTest, LegacyStreamWaitsForBlockingStreamsAlone) {
  auto is_overwritten = [](unsigned flags) {
    cudaStream_t stream = nullptr;
    cudaStreamCreateWithFlags(&stream, flags);
    OnDevice<int> value(1);
    cudaMemset(value.data, 0, sizeof(int));
    run(stream, 1, 1, set_to, value.data, 3);
    const bool wrong = value.values()[0] != 3;
    cudaStreamDestroy(stream);
    return wrong;
  };
  EXPECT_EQ(count_seeds(30, [&] { return is_overwritten(cudaStreamDefault); }),
            0);
  EXPECT_GT(
      count_seeds(30, [&] { return is_overwritten(cudaStreamNonBlocking); }),
      2);
}

// ---- Copies ----------------------------------------------------------------

TEST_F(StreamTest, PageableMemoryIsReadAtTheCallAndPinnedMemoryLater) {
  Stream stream;
  OnDevice<int> one(1), other(1);
  int pageable = 1, *pinned = nullptr;
  cudaMallocHost(reinterpret_cast<void **>(&pinned), sizeof(int));
  *pinned = 1;
  cudaMemcpyAsync(one.data, &pageable, sizeof(int), cudaMemcpyHostToDevice,
                  stream);
  cudaMemcpyAsync(other.data, pinned, sizeof(int), cudaMemcpyHostToDevice,
                  stream);
  pageable = *pinned = 2; // too early for the second copy
  EXPECT_EQ(one.values()[0], 1);
  EXPECT_EQ(other.values()[0], 2);
  cudaFreeHost(pinned);
}

TEST_F(StreamTest, CopiesSayTheirDirection) {
  OnDevice<int> value(1);
  int host = 0;
  EXPECT_EQ(cudaMemcpy(&host, value.data, sizeof(int), cudaMemcpyHostToDevice),
            cudaErrorLaunchFailure);
  EXPECT_TRUE(contains(cudaGetErrorString(cudaErrorLaunchFailure),
                       "the destination of a copy with "
                       "cudaMemcpyHostToDevice is not memory of the device"));
}

TEST_F(StreamTest, CopiesStayInTheirAllocation) {
  OnDevice<int> value(10);
  int host[12] = {};
  cudaMemcpy(value.data, host, 12 * sizeof(int), cudaMemcpyHostToDevice);
  EXPECT_TRUE(contains(cudaGetErrorString(cudaErrorLaunchFailure),
                       "8 bytes past the end of an allocation of 40 bytes"));
}

TEST_F(StreamTest, HostCannotTouchTheDevice) {
  OnDevice<int> value(1);
  EXPECT_DEATH(*value.data = 1, "the host.*of the device|AddressSanitizer");
}

__global__ void read_far(const int *p, int *to, int at) { *to = p[at]; }

TEST_F(StreamTest, NobodyReadsPastAnAllocation) {
  OnDevice<int> value(64), to(1);
  EXPECT_DEATH(
      {
        run(nullptr, 1, 1, read_far, static_cast<const int *>(value.data),
            to.data, 64);
        cudaDeviceSynchronize();
      },
      "block 0, thread 0 touches byte 256 of an allocation of 256 bytes, past "
      "its end|AddressSanitizer");
}

__global__ void read_at(uint64_t address, int *to) {
  *to = *reinterpret_cast<const int *>(address);
}

TEST_F(StreamTest, SaysWhereTheProcessorTellsNoAddress) {
  OnDevice<int> to(1);
  EXPECT_DEATH(
      {
        run(nullptr, 1, 1, read_at, uint64_t(1) << 63, to.data);
        cudaDeviceSynchronize();
      },
      "block 0, thread 0 touches a misaligned or non-canonical address"
      "|AddressSanitizer");
}

TEST_F(StreamTest, WhatLiesBehindTenNumbersIsNoNumber) {
  OnDevice<float> values(10);
  OnDevice<int> to(1);
  run(nullptr, 1, 1, read_far, reinterpret_cast<const int *>(values.data),
      to.data, 10);
  EXPECT_EQ(to.values(), std::vector<int>{-1}); // the bits of a NaN
}

TEST_F(StreamTest, KernelsTakeNoAddressesOfTheHost) {
  int here = 0;
  OnDevice<int> to(1);
  run(nullptr, 1, 1, read_far, static_cast<const int *>(&here), to.data, 0);
  EXPECT_TRUE(
      contains(error_of_work(),
               "a kernel is given an address of the host's own memory"));
}

// Work that a fault has discarded is waited for by nobody.
TEST_F(StreamTest, StreamsGoOnAfterAReset) {
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  int here = 0;
  for (int i = 0; i < 3; i++) {
    OnDevice<int> value(std::vector<int>{7}), to(1);
    cudaDeviceSynchronize();
    run(stream, 1, 1, read_far, static_cast<const int *>(value.data), to.data,
        0);
    run(stream, 1, 1, read_far, static_cast<const int *>(&here), to.data, 0);
    EXPECT_NE(cudaStreamSynchronize(stream), cudaSuccess);
    cudaDeviceReset();
  }
  OnDevice<int> value(std::vector<int>{7}), to(1);
  cudaDeviceSynchronize();
  run(stream, 1, 1, read_far, static_cast<const int *>(value.data), to.data, 0);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  cudaStreamDestroy(stream);
}

TEST_F(StreamTest, AllocationsEnd) {
  void *p = nullptr;
  EXPECT_EQ(cudaMalloc(&p, size_t(1) << 40), cudaErrorMemoryAllocation);
  EXPECT_STREQ(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory");
  EXPECT_EQ(cudaGetLastError(), cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  int host = 0;
  EXPECT_EQ(cudaFree(&host), cudaErrorInvalidValue);
  EXPECT_STREQ(cudaGetErrorString(cudaErrorInvalidValue),
               "cudaFree of what was not allocated so");
}

TEST_F(StreamTest, CopiesDoNotOverlap) {
  OnDevice<int> value(4);
  cudaMemcpy(value.data + 1, value.data, 8, cudaMemcpyDeviceToDevice);
  EXPECT_STREQ(cudaGetErrorString(cudaErrorLaunchFailure),
               "the source of a copy overlaps its destination");
  cudaDeviceReset();
  cudaMemcpy(value.data + 2, value.data, 8, cudaMemcpyDeviceToHost);
  EXPECT_STREQ(cudaGetErrorString(cudaErrorLaunchFailure),
               "the destination of a copy with cudaMemcpyDeviceToHost is "
               "memory of the device");
  cudaDeviceReset();
  cudaMemcpy(value.data + 2, value.data, 8, cudaMemcpyDefault);
  EXPECT_STREQ(cudaGetErrorString(cudaErrorInvalidMemcpyDirection),
               "the emulation copies between host and device, and on the "
               "device");
}

TEST_F(StreamTest, ThereIsOneDevice) {
  EXPECT_EQ(cudaSetDevice(1), cudaErrorInvalidDevice);
  EXPECT_STREQ(cudaGetErrorString(cudaErrorInvalidDevice),
               "the emulation has one device, number 0");
  Stream stream;
  cudaStreamDestroy(stream);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaErrorInvalidResourceHandle);
  EXPECT_STREQ(cudaGetErrorString(cudaErrorInvalidResourceHandle),
               "there is no such stream");
  stream.handle = nullptr;
}

} // namespace
