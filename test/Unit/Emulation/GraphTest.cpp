// Captured streams: what is recorded, what is forbidden, and replay.
#include "Machine.h"

namespace {

__global__ void add_to(int *p, int value) { *p += value; }
__global__ void twice(int *p) { *p *= 2; }

using GraphTest = Emulation;

struct Captured {
  ~Captured() {
    cudaGraphExecDestroy(executable);
    cudaGraphDestroy(graph);
  }
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
};

TEST_F(GraphTest, CapturesAndReplays) {
  Stream stream;
  OnDevice<int> value(std::vector<int>{1});
  cudaDeviceSynchronize();
  Captured captured;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
  run(stream, 1, 1, add_to, value.data, 3);
  run(stream, 1, 1, twice, value.data);
  EXPECT_EQ(cudaStreamEndCapture(stream, &captured.graph), cudaSuccess);
  cudaGraphInstantiate(&captured.executable, captured.graph, 0);
  EXPECT_EQ(value.values()[0], 1); // nothing has run
  cudaGraphLaunch(captured.executable, stream);
  cudaGraphLaunch(captured.executable, stream);
  EXPECT_EQ(value.values()[0], ((1 + 3) * 2 + 3) * 2);
}

// A second stream adds 10 between (or, without events, beside) two kernels.
cudaError_t capture_fork(Captured &captured, int *value, bool joins) {
  Stream stream, other;
  Event forked, joined;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
  run(stream, 1, 1, twice, value);
  cudaEventRecord(forked, stream);
  cudaStreamWaitEvent(other, forked);
  run(other, 1, 1, add_to, value, 10);
  cudaEventRecord(joined, other);
  if (joins)
    cudaStreamWaitEvent(stream, joined);
  run(stream, 1, 1, twice, value);
  return cudaStreamEndCapture(stream, &captured.graph);
}

TEST_F(GraphTest, EventsForkAndJoin) {
  EXPECT_EQ(count_seeds(20,
                        [] {
                          OnDevice<int> value(std::vector<int>{1});
                          cudaDeviceSynchronize();
                          Captured captured;
                          capture_fork(captured, value.data, true);
                          cudaGraphInstantiate(&captured.executable,
                                               captured.graph, 0);
                          cudaGraphLaunch(captured.executable, nullptr);
                          return value.values()[0] != (1 * 2 + 10) * 2;
                        }),
            0);
}

TEST_F(GraphTest, RefusesWhatIsNotJoined) {
  OnDevice<int> value(std::vector<int>{1});
  Captured captured;
  EXPECT_EQ(capture_fork(captured, value.data, false),
            cudaErrorStreamCaptureUnjoined);
  EXPECT_STREQ(cudaGetErrorString(cudaErrorStreamCaptureUnjoined),
               "a stream that joined the capture has work that its first "
               "stream does not wait for");
}

TEST_F(GraphTest, RefusesEventsFromOutside) {
  Stream stream, other;
  Event event;
  cudaEventRecord(event, other);
  Captured captured;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
  EXPECT_EQ(cudaStreamWaitEvent(stream, event),
            cudaErrorStreamCaptureIsolation);
  EXPECT_STREQ(cudaGetErrorString(cudaErrorStreamCaptureIsolation),
               "a captured stream waits for an event that was recorded outside "
               "of the capture");
  EXPECT_EQ(cudaStreamEndCapture(stream, &captured.graph),
            cudaErrorStreamCaptureInvalidated);
}

TEST_F(GraphTest, RefusesToWaitOrAllocate) {
  Stream stream;
  Captured captured;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
  void *p = nullptr;
  EXPECT_EQ(cudaMalloc(&p, 4), cudaErrorStreamCaptureUnsupported);
  EXPECT_STREQ(cudaGetErrorString(cudaErrorStreamCaptureUnsupported),
               "cudaMalloc is called while a stream is captured");
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaErrorStreamCaptureUnsupported);
  EXPECT_EQ(cudaStreamEndCapture(stream, &captured.graph),
            cudaErrorStreamCaptureInvalidated);
  EXPECT_STREQ(cudaGetErrorString(cudaErrorStreamCaptureInvalidated),
               "a call that the capture forbids has broken it");
}

TEST_F(GraphTest, RefusesPageableMemory) {
  Stream stream;
  OnDevice<int> value(1);
  int host = 1;
  Captured captured;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
  EXPECT_EQ(cudaMemcpyAsync(value.data, &host, sizeof host,
                            cudaMemcpyHostToDevice, stream),
            cudaErrorStreamCaptureUnsupported);
  EXPECT_STREQ(cudaGetErrorString(cudaErrorStreamCaptureUnsupported),
               "a copy of pageable memory is captured");
  cudaStreamEndCapture(stream, &captured.graph);
}

TEST_F(GraphTest, EventsOfACaptureTellNothingAfterIt) {
  Stream stream;
  Event event;
  OnDevice<int> value(std::vector<int>{1});
  Captured captured;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
  run(stream, 1, 1, twice, value.data);
  cudaEventRecord(event, stream);
  cudaStreamEndCapture(stream, &captured.graph);
  EXPECT_EQ(cudaEventSynchronize(event), cudaErrorCapturedEvent);
  EXPECT_STREQ(cudaGetErrorString(cudaErrorCapturedEvent),
               "the event was last recorded in a capture");
  EXPECT_EQ(cudaStreamWaitEvent(stream, event), cudaErrorCapturedEvent);
  EXPECT_STREQ(cudaGetErrorString(cudaErrorCapturedEvent),
               "a stream waits for an event that was last recorded in a "
               "capture that has ended");
}

TEST_F(GraphTest, RefusesStreamsThatCannotBeCaptured) {
  EXPECT_EQ(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeThreadLocal),
            cudaErrorIllegalState);
  EXPECT_STREQ(cudaGetErrorString(cudaErrorIllegalState),
               "the stream is captured already, or is the legacy default "
               "stream");
  Stream stream;
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaErrorIllegalState);
  EXPECT_STREQ(cudaGetErrorString(cudaErrorIllegalState),
               "no capture began on this stream");
}

TEST_F(GraphTest, RefusesToMergeCapturesAndToNestGraphs) {
  Stream stream, other;
  Event event;
  OnDevice<int> value(std::vector<int>{1});
  Captured captured, second;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
  run(stream, 1, 1, twice, value.data);
  cudaEventRecord(event, stream);
  cudaStreamBeginCapture(other, cudaStreamCaptureModeThreadLocal);
  EXPECT_EQ(cudaStreamWaitEvent(other, event), cudaErrorStreamCaptureMerge);
  EXPECT_STREQ(cudaGetErrorString(cudaErrorStreamCaptureMerge),
               "a captured stream waits for an event of another capture");
  cudaStreamEndCapture(stream, &captured.graph);
  cudaGraphInstantiate(&captured.executable, captured.graph, 0);
  cudaGraphLaunch(captured.executable, other);
  EXPECT_STREQ(cudaGetErrorString(cudaErrorStreamCaptureUnsupported),
               "the emulation has no graphs in graphs");
  cudaStreamEndCapture(other, &second.graph);
}

} // namespace
