// Streams, events and graphs. A stream is the completion of its last work; an
// event is the completion that its stream had when it was recorded. While a
// stream is captured, nodes of a graph take the place of completions.
#pragma once

#include "emulation/cudart/activity.h"
#include "emulation/cudart/schedule.h"

#include <cuda_runtime_api.h>

#include <set>
#include <thread>

namespace gpuopt::emulation {

struct Node {
  Work work;
  int stream = 0;
  std::set<size_t> after; // earlier nodes of the graph
};

struct Capture {
  std::vector<Node> nodes;
  CUstream_st *origin = nullptr;
  std::set<CUstream_st *> streams;
  std::thread::id thread;
  cudaError_t broken = cudaSuccess; // set by a forbidden call
};
using CapturePtr = std::shared_ptr<Capture>;

} // namespace gpuopt::emulation

struct CUstream_st {
  int number = 0;
  bool is_blocking = true; // orders its work with the legacy default stream's
  gpuopt::emulation::CompletionPtr last;
  gpuopt::emulation::Completions waits; // events that its next work waits for
  gpuopt::emulation::CapturePtr capture;
  std::set<size_t> captured_last;
};

struct CUevent_st {
  bool has_time = true;
  gpuopt::emulation::CompletionPtr completion; // null: it was never recorded
  gpuopt::emulation::CapturePtr capture;       // null: it was not captured
  std::set<size_t> captured_last;
};

struct CUgraph_st {
  std::vector<gpuopt::emulation::Node> nodes;
};
struct CUgraphExec_st {
  std::vector<gpuopt::emulation::Node> nodes;
};

namespace gpuopt::emulation {

// Returns the stream of a handle; null is the legacy default stream.
CUstream_st &stream_of(cudaStream_t handle);
bool is_captured(const CUstream_st &stream);

// Adds work to a stream, or a node to the graph that it is captured into.
CompletionPtr enqueue(CUstream_st &stream, std::function<void()> work,
                      const Activity &activity = {});

void record(CUevent_st &event, CUstream_st &stream);
void wait(CUstream_st &stream, CUevent_st &event);

void begin_capture(CUstream_st &stream);
CUgraph_st *end_capture(CUstream_st &stream);
void launch_graph(const CUgraphExec_st &graph, CUstream_st &stream);

// A thread that captures must not make calls that wait, allocate or free. They
// break its capture.
void forbid_in_capture(const char *function);

CUstream_st *create_stream(bool is_blocking);
void destroy_stream(CUstream_st *stream);

[[noreturn]] void refuse(cudaError_t status, const std::string &message);

} // namespace gpuopt::emulation
