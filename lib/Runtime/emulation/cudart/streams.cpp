#include "emulation/cudart/streams.h"

#include "emulation/cudart/device.h"

#include <algorithm>

namespace gpuopt::emulation {

void refuse(cudaError_t status, const std::string &message) {
  throw Refusal<cudaError_t>(status, message);
}

static std::set<CUstream_st *> &streams() {
  static std::set<CUstream_st *> all;
  return all;
}

static CUstream_st &legacy_stream() {
  static CUstream_st stream;
  return stream;
}

CUstream_st &stream_of(cudaStream_t handle) {
  if (!handle || handle == cudaStreamLegacy)
    return legacy_stream();
  if (!streams().count(handle))
    refuse(cudaErrorInvalidResourceHandle, "there is no such stream");
  return *handle;
}

CUstream_st *create_stream(bool is_blocking) {
  static int number = 0;
  auto *stream = new CUstream_st;
  stream->number = ++number;
  stream->is_blocking = is_blocking;
  streams().insert(stream);
  return stream;
}

void destroy_stream(CUstream_st *stream) {
  streams().erase(stream);
  delete stream; // its work still runs
}

bool is_captured(const CUstream_st &stream) {
  return stream.capture != nullptr;
}

// ---- Work ------------------------------------------------------------------

// Adds the order of the legacy default stream, which runs after all blocking
// streams, and they after it.
static void add_legacy_order(const CUstream_st &stream, Completions &after) {
  if (&stream != &legacy_stream()) {
    if (stream.is_blocking)
      after.push_back(legacy_stream().last);
    return;
  }
  for (const CUstream_st *other : streams())
    if (other->is_blocking)
      after.push_back(other->last);
}

static Completions begin_work(CUstream_st &stream) {
  Completions after = std::move(stream.waits);
  stream.waits.clear();
  after.push_back(stream.last);
  add_legacy_order(stream, after);
  return after;
}

static void enqueue_node(CUstream_st &stream, Work work) {
  Capture &capture = *stream.capture;
  capture.nodes.push_back(
      {std::move(work), stream.number, stream.captured_last});
  stream.captured_last = {capture.nodes.size() - 1};
}

static CompletionPtr add(CUstream_st &stream, std::function<void()> function) {
  const Completions after = begin_work(stream);
  stream.last = device().schedule.add(make_work(std::move(function)), after,
                                      stream.number);
  return stream.last;
}

CompletionPtr enqueue(CUstream_st &stream, std::function<void()> function,
                      const Activity &activity) {
  if (is_captured(stream)) {
    enqueue_node(stream, make_work(std::move(function)));
    return nullptr;
  }
  ActivityListener *listener = *gpuopt_activity_listener();
  if (!listener || activity.kind == ActivityKind::None)
    return add(stream, std::move(function));
  const uint32_t number = listener->begin_call(activity, stream.number);
  auto timed = [listener, number, body = std::move(function)] {
    const auto begin = std::chrono::steady_clock::now();
    body();
    listener->end_work(number, begin, std::chrono::steady_clock::now());
  };
  const CompletionPtr done = add(stream, std::move(timed));
  listener->end_call(number);
  return done;
}

// ---- Events ----------------------------------------------------------------

void record(CUevent_st &event, CUstream_st &stream) {
  event.capture = stream.capture;
  event.captured_last = stream.captured_last;
  if (is_captured(stream))
    return;
  const Completions after = begin_work(stream);
  stream.last = device().schedule.add(nullptr, after, stream.number);
  event.completion = stream.last;
}

static void wait_in_capture(CUstream_st &stream, const CUevent_st &event) {
  if (is_captured(stream) && stream.capture != event.capture)
    refuse(cudaErrorStreamCaptureMerge,
           "a captured stream waits for an event of another capture");
  if (!is_captured(stream)) {
    stream.capture = event.capture;
    stream.captured_last.clear();
    event.capture->streams.insert(&stream);
  }
  stream.captured_last.insert(event.captured_last.begin(),
                              event.captured_last.end());
}

void wait(CUstream_st &stream, CUevent_st &event) {
  if (event.capture) {
    if (!event.capture->origin)
      refuse(cudaErrorCapturedEvent,
             "a stream waits for an event that was last recorded in a capture "
             "that has ended");
    wait_in_capture(stream, event);
  } else if (is_captured(stream) && event.completion) {
    stream.capture->broken = cudaErrorStreamCaptureIsolation;
    refuse(cudaErrorStreamCaptureIsolation,
           "a captured stream waits for an event that was recorded outside of "
           "the capture");
  } else if (event.completion) {
    stream.waits.push_back(event.completion);
  }
}

// ---- Graphs ----------------------------------------------------------------

static std::set<CapturePtr> &captures() {
  static std::set<CapturePtr> active;
  return active;
}

void begin_capture(CUstream_st &stream) {
  if (&stream == &legacy_stream() || is_captured(stream))
    refuse(cudaErrorIllegalState,
           "the stream is captured already, or is the legacy default stream");
  auto capture = std::make_shared<Capture>();
  capture->origin = &stream;
  capture->thread = std::this_thread::get_id();
  capture->streams.insert(&stream);
  captures().insert(capture);
  stream.capture = capture;
  stream.captured_last.clear();
}

// Returns all nodes that `from` comes after, including `from`.
static std::set<size_t> ancestors(const std::vector<Node> &nodes,
                                  std::set<size_t> from) {
  for (size_t i = nodes.size(); i-- > 0;)
    if (from.count(i))
      from.insert(nodes[i].after.begin(), nodes[i].after.end());
  return from;
}

static cudaError_t check_joined(const Capture &capture) {
  const std::set<size_t> joined =
      ancestors(capture.nodes, capture.origin->captured_last);
  for (const CUstream_st *stream : capture.streams)
    for (size_t node : stream->captured_last)
      if (!joined.count(node))
        return cudaErrorStreamCaptureUnjoined;
  return cudaSuccess;
}

CUgraph_st *end_capture(CUstream_st &stream) {
  const CapturePtr capture = stream.capture;
  if (!capture || capture->origin != &stream)
    refuse(cudaErrorIllegalState, "no capture began on this stream");
  const cudaError_t joined = check_joined(*capture);
  for (CUstream_st *member : capture->streams) {
    member->capture = nullptr;
    member->captured_last.clear();
  }
  capture->origin = nullptr;
  captures().erase(capture);
  if (capture->broken != cudaSuccess)
    refuse(cudaErrorStreamCaptureInvalidated,
           "a call that the capture forbids has broken it");
  if (joined != cudaSuccess)
    refuse(joined, "a stream that joined the capture has work that its first "
                   "stream does not wait for");
  return new CUgraph_st{std::move(capture->nodes)};
}

void launch_graph(const CUgraphExec_st &graph, CUstream_st &stream) {
  if (is_captured(stream))
    refuse(cudaErrorStreamCaptureUnsupported,
           "the emulation has no graphs in graphs");
  const Completions before = begin_work(stream);
  Completions all;
  for (const Node &node : graph.nodes) {
    Completions after;
    for (size_t earlier : node.after)
      after.push_back(all[earlier]);
    if (node.after.empty())
      after = before;
    all.push_back(device().schedule.add(node.work, after, node.stream));
  }
  all.insert(all.end(), before.begin(), before.end());
  stream.last = device().schedule.add(nullptr, all, stream.number);
}

void forbid_in_capture(const char *function) {
  for (const CapturePtr &capture : captures())
    if (capture->thread == std::this_thread::get_id()) {
      capture->broken = cudaErrorStreamCaptureUnsupported;
      refuse(cudaErrorStreamCaptureUnsupported,
             std::string(function) + " is called while a stream is captured");
    }
}

} // namespace gpuopt::emulation

[[gnu::visibility("default"), gnu::used]] gpuopt::emulation::ActivityListener **
gpuopt_activity_listener() {
  static gpuopt::emulation::ActivityListener *listener = nullptr;
  return &listener;
}
