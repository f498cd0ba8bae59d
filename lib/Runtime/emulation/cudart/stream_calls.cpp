// The CUDA runtime's functions of streams, events and graphs.
#include "emulation/cudart/cudart.h"

using namespace gpuopt::emulation;

// ---- Streams ---------------------------------------------------------------

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags) {
  return cudart(
      [&] { *stream = create_stream(!(flags & cudaStreamNonBlocking)); });
}
cudaError_t cudaStreamCreate(cudaStream_t *stream) {
  return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return cudart([&] {
    if (!stream)
      refuse(cudaErrorInvalidResourceHandle,
             "the legacy default stream cannot be destroyed");
    destroy_stream(&stream_of(stream));
  });
}

cudaError_t cudaStreamSynchronize(cudaStream_t handle) {
  return cudart([&] {
    CUstream_st &stream = stream_of(handle);
    if (is_captured(stream))
      stream.capture->broken = cudaErrorStreamCaptureUnsupported;
    forbid_in_capture("cudaStreamSynchronize");
    // The wait counts even if no work follows in the stream.
    enqueue(stream, [] {});
    device().run_until(stream.last);
  });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event,
                                unsigned) {
  return cudart([&] { wait(stream_of(stream), *event); });
}

// ---- Events ----------------------------------------------------------------

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags) {
  return cudart([&] {
    *event = new CUevent_st;
    (*event)->has_time = !(flags & cudaEventDisableTiming);
  });
}
cudaError_t cudaEventCreate(cudaEvent_t *event) {
  return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return cudart([&] { delete event; });
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return cudart([&] { record(*event, stream_of(stream)); });
}

static void forbid_captured(const CUevent_st &event) {
  if (event.capture)
    refuse(cudaErrorCapturedEvent, "the event was last recorded in a capture");
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return cudart([&] {
    forbid_captured(*event);
    forbid_in_capture("cudaEventSynchronize");
    device().run_until(event->completion);
  });
}

// A query does not run work by itself, but a program may query until the work
// is done.
cudaError_t cudaEventQuery(cudaEvent_t event) {
  return cudart([&] {
    forbid_captured(*event);
    device().run_until(event->completion);
  });
}

static void expect_time(const CUevent_st &event) {
  forbid_captured(event);
  if (!event.has_time || !event.completion)
    refuse(cudaErrorInvalidResourceHandle,
           "the event records no time, or was never recorded");
  if (!event.completion->is_done)
    refuse(cudaErrorNotReady, "an event has not happened yet");
}

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t from,
                                 cudaEvent_t to) {
  return cudart([&] {
    expect_time(*from);
    expect_time(*to);
    *milliseconds = std::chrono::duration<float, std::milli>(
                        to->completion->time - from->completion->time)
                        .count();
  });
}

// ---- Graphs ----------------------------------------------------------------

cudaError_t cudaStreamIsCapturing(cudaStream_t stream,
                                  cudaStreamCaptureStatus *status) {
  return cudart([&] {
    *status = is_captured(stream_of(stream)) ? cudaStreamCaptureStatusActive
                                             : cudaStreamCaptureStatusNone;
  });
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  return cudart([&] { begin_capture(stream_of(stream)); });
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph) {
  return cudart([&] {
    *graph = nullptr;
    *graph = end_capture(stream_of(stream));
  });
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *executable, cudaGraph_t graph,
                                 unsigned long long) {
  return cudart([&] { *executable = new CUgraphExec_st{graph->nodes}; });
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream) {
  return cudart([&] { launch_graph(*graph, stream_of(stream)); });
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return cudart([&] { delete graph; });
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph) {
  return cudart([&] { delete graph; });
}
