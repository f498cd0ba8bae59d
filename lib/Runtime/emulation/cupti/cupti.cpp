// The functions of CUPTI that a profile calls, of the emulated device: a
// library of its own, which a program loads as it loads CUPTI. Records are
// written into the caller's buffers as CUPTI lays them out, and given back when
// the caller asks for them, on a thread of this library.
#include "emulation/cupti/recorder.h"

#include <cstring>
#include <thread>

using namespace gpuopt::emulation;

static Recorder &recorder() {
  static Recorder &the_recorder = *new Recorder;
  return the_recorder;
}

CUptiResult cuptiGetResultString(CUptiResult result, const char **text) {
  *text = result == CUPTI_SUCCESS ? "CUPTI_SUCCESS"
          : result == CUPTI_ERROR_INVALID_PARAMETER
              ? "CUPTI_ERROR_INVALID_PARAMETER"
          : result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED
              ? "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED"
              : "an error of CUPTI";
  return CUPTI_SUCCESS;
}

CUptiResult
cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc function) {
  if (!function || recorder().is_enabled())
    return CUPTI_ERROR_INVALID_PARAMETER;
  recorder().now = function;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiSetThreadIdType(CUpti_ActivityThreadIdType type) {
  return type == CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM
             ? CUPTI_SUCCESS
             : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult
cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                               CUpti_BuffersCallbackCompleteFunc complete) {
  if (!request || !complete)
    return CUPTI_ERROR_INVALID_PARAMETER;
  recorder().request = request;
  recorder().complete = complete;
  return CUPTI_SUCCESS;
}

// As where another tool, such as Nsight, has the device already.
static bool is_taken() { return getenv("GPUOPT_EMULATED_CUPTI_IS_TAKEN"); }

CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
  if (is_taken())
    return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  if (!recorder().request || !recorder().attach())
    return CUPTI_ERROR_NOT_INITIALIZED;
  recorder().enable(kind, true);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind) {
  recorder().enable(kind, false);
  return CUPTI_SUCCESS;
}

CUptiResult
cuptiActivityPushExternalCorrelationId(CUpti_ExternalCorrelationKind kind,
                                       uint64_t id) {
  if (kind != CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0)
    return CUPTI_ERROR_INVALID_PARAMETER;
  recorder().push(id);
  return CUPTI_SUCCESS;
}
CUptiResult
cuptiActivityPopExternalCorrelationId(CUpti_ExternalCorrelationKind kind,
                                      uint64_t *last) {
  if (kind != CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0)
    return CUPTI_ERROR_INVALID_PARAMETER;
  return recorder().pop(last) ? CUPTI_SUCCESS : CUPTI_ERROR_QUEUE_EMPTY;
}

// Without the flag, work that is not done keeps everything.
CUptiResult cuptiActivityFlushAll(uint32_t flag) {
  if (flag == CUPTI_ACTIVITY_FLAG_FLUSH_FORCED || !recorder().has_pending())
    std::thread([] { recorder().flush(); }).join();
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid,
                                       CUpti_Activity **record) {
  uint8_t *next = *record
                      ? reinterpret_cast<uint8_t *>(*record) + size_of(**record)
                      : buffer;
  if (next >= buffer + valid)
    return CUPTI_ERROR_MAX_LIMIT_REACHED;
  *record = reinterpret_cast<CUpti_Activity *>(next);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext, uint32_t,
                                              size_t *dropped) {
  *dropped = recorder().take_dropped();
  return CUPTI_SUCCESS;
}

// The names of the functions that the recorder writes.
CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain domain, uint32_t number,
                                 const char **name) {
  if (domain == CUPTI_CB_DOMAIN_DRIVER_API)
    *name = "cuLaunchKernelEx";
  else
    *name = number == CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernelExC_v11060
                ? "cudaLaunchKernelExC_v11060"
            : number == CUPTI_RUNTIME_TRACE_CBID_cudaMemsetAsync_v3020
                ? "cudaMemsetAsync_v3020"
                : "cudaMemcpyAsync_v3020";
  return CUPTI_SUCCESS;
}
