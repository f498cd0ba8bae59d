// CUPTI, which tells when each kernel, copy and fill ran. It is loaded when it
// is asked for, so a program runs where it is missing: the CUDA toolkit has it,
// and so has the wheel nvidia-cuda-cupti.
//
// Records are read up to what CUpti_ActivityKernel9 and the structs beside it
// have, with which those of all later versions of CUPTI begin.
#pragma once

#include <cuda_runtime.h>
#include <cupti.h>

#include <dlfcn.h>

#include <string>

namespace gpuopt {

// The functions of CUPTI that a profile calls.
struct Cupti {
#define GPUOPT_CUPTI_FUNCTIONS(each)                                           \
  each(cuptiActivityDisable) each(cuptiActivityEnable)                         \
      each(cuptiActivityFlushAll) each(cuptiActivityGetNextRecord)             \
          each(cuptiActivityGetNumDroppedRecords)                              \
              each(cuptiActivityPopExternalCorrelationId)                      \
                  each(cuptiActivityPushExternalCorrelationId)                 \
                      each(cuptiActivityRegisterCallbacks)                     \
                          each(cuptiActivityRegisterTimestampCallback)         \
                              each(cuptiGetCallbackName)                       \
                                  each(cuptiGetResultString)                   \
                                      each(cuptiSetThreadIdType)
#define GPUOPT_CUPTI_MEMBER(name) decltype(&::name) name = nullptr;
  GPUOPT_CUPTI_FUNCTIONS(GPUOPT_CUPTI_MEMBER)
#undef GPUOPT_CUPTI_MEMBER

  // Loads the library of the version of CUDA that the program was built with.
  // Returns why there is none, or an empty text.
  std::string load() {
    const std::string file =
        "libcupti.so." + std::to_string(CUDART_VERSION / 1000);
    // What is loaded stays: CUPTI has threads of its own.
    void *library = nullptr;
    for (const char *folder :
         {"", "/usr/local/cuda/extras/CUPTI/lib64/", "/usr/local/cuda/lib64/"})
      if (!library)
        library = dlopen((folder + file).c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library)
      return file + " is not found; the CUDA toolkit has it, and the wheel "
                    "nvidia-cuda-cupti, whose folder LD_LIBRARY_PATH must name";
    std::string missing;
    auto find = [&](auto &function, const char *name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(
          dlsym(library, name));
      if (!function)
        missing = file + " lacks " + name;
    };
#define GPUOPT_CUPTI_FIND(name) find(name, #name);
    GPUOPT_CUPTI_FUNCTIONS(GPUOPT_CUPTI_FIND)
#undef GPUOPT_CUPTI_FIND
#undef GPUOPT_CUPTI_FUNCTIONS
    return missing;
  }

  std::string text_of(CUptiResult result) const {
    const char *text = nullptr;
    cuptiGetResultString(result, &text);
    return text ? text : "error " + std::to_string(int(result));
  }
  // Returns the name of a function of CUDA by its number in CUPTI.
  std::string function_of(CUpti_CallbackDomain domain,
                          CUpti_CallbackId number) const {
    const char *name = nullptr;
    if (cuptiGetCallbackName(domain, number, &name) != CUPTI_SUCCESS || !name)
      return "";
    // "cudaLaunchKernelExC_v11060".
    const std::string text = name;
    return text.substr(0, text.find("_v"));
  }
};

} // namespace gpuopt
