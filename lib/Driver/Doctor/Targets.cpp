//===- Targets.cpp - What programs are built with and run on --------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Build/Tools.h"
#include "Doctor/Libraries.h"
#include "Flags/CudaDriver.h"
#include "gpuopt/Planning/Bytes.h"
#include "gpuopt/device/least_versions.h"
#include "llvm/Support/Regex.h"

using namespace llvm;
using namespace gpuopt;

using State = Finding::State;

namespace {
/// The requirements for a tool.
struct Wanted {
  StringRef name;
  VersionTuple least;
  StringRef advice;
};
} // namespace

static VersionTuple tuple(LeastVersion version) {
  return VersionTuple(version.major, version.minor);
}

static StringRef cudaAdvice() {
  static const std::string advice = "install the CUDA toolkit " +
                                    tuple(kLeastCuda).getAsString() +
                                    " or later";
  return advice;
}

/// Returns the first number with dots in a text.
static VersionTuple versionIn(StringRef text) {
  SmallVector<StringRef> matches;
  VersionTuple version;
  if (Regex("[0-9]+\\.[0-9]+(\\.[0-9]+)?").match(text, &matches))
    (void)version.tryParse(matches[0]);
  return version;
}

static Finding describe(const Tool &tool, const Wanted &wanted) {
  if (tool.path.empty())
    return {State::Missing, wanted.name.str(),
            "is not found: " + wanted.advice.str()};
  VersionTuple version = versionIn(tool.output);
  std::string text = version.getAsString() + " (" + tool.path + ")";
  if (version < wanted.least)
    return {State::Unfit, wanted.name.str(),
            text + ", but " + wanted.least.getAsString() +
                " or later is needed: " + wanted.advice.str()};
  return {State::Found, wanted.name.str(), text};
}

/// CMake and the compiler, which all targets need.
static std::vector<Finding> findBuildTools() {
  return {describe(findTool({"cmake"}),
                   {"cmake", tuple(kLeastCmake), "apt install cmake"}),
          describe(findTool({"make", "gmake"}),
                   {"make", VersionTuple(), "apt install make"}),
          describe(findCxxCompiler(),
                   {"C++ compiler", VersionTuple(10), "apt install g++"})};
}

/// Splits 10000 major + 100 minor + patch.
static VersionTuple splitVersion(uint64_t number) {
  return VersionTuple(unsigned(number / 10000), unsigned(number / 100 % 100),
                      unsigned(number % 100));
}

static Finding findOneDnn() {
  struct Version {
    int major, minor, patch;
  };
  static constexpr StringRef files[] = {"libdnnl.so.2", "libdnnl.so.3",
                                        "libdnnl.so"};
  return findLibrary({"oneDNN", files, "dnnl.hpp",
                      [](void *function) {
                        const auto *version =
                            reinterpret_cast<const Version *(*)()>(function)();
                        return VersionTuple(unsigned(version->major),
                                            unsigned(version->minor),
                                            unsigned(version->patch));
                      },
                      "dnnl_version", tuple(kLeastOneDnn),
                      VersionTuple(kLatestOneDnnMajor + 1),
                      "apt install libdnnl-dev ocl-icd-opencl-dev"});
}

static Finding findOpenMp() {
  static constexpr StringRef files[] = {"libgomp.so.1", "libomp.so.5"};
  return findLibrary({"OpenMP",
                      files,
                      "omp.h",
                      nullptr,
                      nullptr,
                      {},
                      {},
                      "apt install libgomp1"});
}

/// Returns the command that installs NVIDIA's wheel of a library for a CUDA, or
/// for the newest if there is no toolkit.
static std::string wheelOf(StringRef library, VersionTuple cuda) {
  unsigned major = cuda.empty() ? 13 : cuda.getMajor();
  return "pip install nvidia-" + library.str() + "-cu" + std::to_string(major);
}

static Finding findCublasLt(ArrayRef<std::string> folders, VersionTuple cuda) {
  static constexpr StringRef files[] = {
      "libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so.13"};
  Library library{"cuBLASLt",
                  ArrayRef(files).take_front(2),
                  "cublasLt.h",
                  [](void *function) {
                    return splitVersion(
                        reinterpret_cast<size_t (*)()>(function)());
                  },
                  "cublasLtGetVersion",
                  tuple(kLeastCuda),
                  {},
                  {}};
  if (cuda.getMajor() == 12)
    library.files = ArrayRef(files).drop_front();
  // The wheel of CUDA 13 has no number in its name.
  std::string advice =
      "install the CUDA toolkit, or " +
      (cuda.getMajor() == 12 ? wheelOf("cublas", cuda)
                             : std::string("pip install nvidia-cublas"));
  library.advice = advice;
  library.cuda = cuda;
  library.cudaFunction = "cublasLtGetCudartVersion";
  return findLibrary(library, folders);
}

static Finding findCudnn(ArrayRef<std::string> folders, VersionTuple cuda) {
  static constexpr StringRef files[] = {"libcudnn.so.9"};
  std::string advice = wheelOf("cudnn", cuda);
  return findLibrary({"cuDNN", files, "cudnn.h",
                      [](void *function) {
                        return splitVersion(
                            reinterpret_cast<size_t (*)()>(function)());
                      },
                      "cudnnGetVersion", tuple(kLeastCudnn),
                      VersionTuple(kLeastCudnn.major + 1), advice, cuda,
                      "cudnnGetCudartVersion"},
                     folders);
}

/// The GPU and its driver. `toolkit` is the version of the CUDA compiler.
static std::vector<Finding> findGpu(VersionTuple toolkit) {
  Expected<CudaDriver> driver = CudaDriver::load();
  if (!driver)
    return {{State::Missing, "GPU",
             toString(driver.takeError()) +
                 "; programs can be built here and run where there is one"}};
  Expected<GpuSupport> gpu = driver->support();
  if (!gpu)
    return {{State::Unfit, "GPU", toString(gpu.takeError())}};
  std::vector<Finding> findings;
  VersionTuple runs(unsigned(gpu->driverVersion / 1000),
                    unsigned(gpu->driverVersion % 1000 / 10));
  Finding ofDriver{State::Found, "CUDA driver",
                   "for CUDA " + runs.getAsString()};
  // A driver runs programs of all toolkits of its major version.
  if (runs.getMajor() < toolkit.getMajor()) {
    ofDriver.state = State::Unfit;
    ofDriver.text += ", but nvcc is of CUDA " + toolkit.getAsString() +
                     ": install a newer driver, or an older toolkit";
  }
  findings.push_back(ofDriver);
  VersionTuple capability(unsigned(gpu->major), unsigned(gpu->minor));
  Finding ofGpu{State::Found, "GPU",
                gpu->name + ", compute capability " + capability.getAsString() +
                    ", " + planning::formatBytes(gpu->memoryBytes)};
  if (VersionTuple least = tuple(kLeastComputeCapability); capability < least) {
    ofGpu.state = State::Unfit;
    ofGpu.text +=
        ", but " + least.getAsString() + " (Ampere) or later is needed";
  }
  findings.push_back(ofGpu);
  return findings;
}

static Finding findBoostContext() {
  static constexpr StringRef files[] = {"libboost_context.so",
                                        "libboost_context.so.1.74.0"};
  return findLibrary({"Boost.Context",
                      files,
                      "boost/context/detail/fcontext.hpp",
                      nullptr,
                      nullptr,
                      {},
                      {},
                      "apt install libboost-context-dev"});
}

Findings gpuopt::examineTarget(const TargetInfo &target) {
  Findings found{"Programs for " + std::string(target.name), &target,
                 findBuildTools()};
  auto add = [&](Finding finding) { found.list.push_back(std::move(finding)); };
  if (!target.is_cuda) {
    add(findOpenMp());
    add(findOneDnn());
    return found;
  }
  if (target.is_emulated()) {
    add(findBoostContext());
    std::vector<std::string> folders = foldersOfNvidia();
    add(findHeader("CUDA", "cuda_runtime.h", folders, cudaAdvice()));
    add(findHeader("cuBLASLt", "cublasLt.h", folders,
                   "pip install nvidia-cublas"));
    add(findHeader("cuDNN", "cudnn.h", folders,
                   "pip install nvidia-cudnn-cu13"));
    return found;
  }
  Tool nvcc = findCudaCompiler();
  add(describe(nvcc, {"nvcc", tuple(kLeastCuda), cudaAdvice()}));
  std::vector<std::string> folders = foldersOfNvidia();
  VersionTuple cuda = versionIn(nvcc.output);
  add(findCublasLt(folders, cuda));
  add(findCudnn(folders, cuda));
  for (Finding &finding : findGpu(cuda))
    add(std::move(finding));
  return found;
}

Findings gpuopt::examineProfiling() {
  // A program loads the one of the CUDA that it was built with.
  static constexpr StringRef any[] = {"libcupti.so.13", "libcupti.so.12"};
  unsigned major = versionIn(findCudaCompiler().output).getMajor();
  std::string own = "libcupti.so." + std::to_string(major);
  StringRef ownFiles[] = {own};
  ArrayRef<StringRef> files = major > 0 ? ArrayRef(ownFiles) : ArrayRef(any);
  std::vector<std::string> folders = foldersOfNvidia();
  folders.push_back("/usr/local/cuda/extras/CUPTI/lib64");
  return {"Profiles on a GPU (events take the place of CUPTI)",
          nullptr,
          {findLibrary({"CUPTI",
                        files,
                        "cupti.h",
                        nullptr,
                        nullptr,
                        {},
                        {},
                        "install the CUDA toolkit, or pip install "
                        "nvidia-cuda-cupti"},
                       folders)}};
}

static Finding findNccl(VersionTuple cuda) {
  static constexpr StringRef files[] = {"libnccl.so.2"};
  std::string advice = wheelOf("nccl", cuda) +
                       ", or apt install libnccl-dev from NVIDIA's "
                       "repository";
  return findLibrary({"NCCL",
                      files,
                      "nccl.h",
                      [](void *function) {
                        int number = 0;
                        reinterpret_cast<int (*)(int *)>(function)(&number);
                        return splitVersion(uint64_t(number));
                      },
                      "ncclGetVersion",
                      {},
                      {},
                      advice},
                     foldersOfNvidia());
}

static Finding findMpi() {
  static constexpr StringRef files[] = {"libmpi.so.40", "libmpi.so.12",
                                        "libmpich.so.12", "libmpi.so"};
  // Debian keeps headers where only the compiler of MPI looks.
  std::vector<std::string> folders;
  for (StringRef machine : {"x86_64", "aarch64"})
    for (StringRef library : {"openmpi", "mpich"})
      folders.push_back(
          ("/usr/lib/" + machine + "-linux-gnu/" + library + "/lib").str());
  return findLibrary({"MPI",
                      files,
                      "mpi.h",
                      [](void *function) {
                        constexpr int kMostLetters = 8192; // of MPICH
                        std::string text(kMostLetters, '\0');
                        int length = 0;
                        reinterpret_cast<int (*)(char *, int *)>(function)(
                            text.data(), &length);
                        return versionIn(text.c_str());
                      },
                      "MPI_Get_library_version",
                      {},
                      {},
                      "apt install libopenmpi-dev"},
                     folders);
}

Findings gpuopt::examineRanks() {
  return {"Several GPUs (programs of this version use one, and none of these)",
          nullptr,
          {findNccl(versionIn(findCudaCompiler().output)), findMpi()}};
}

Findings gpuopt::examineData() {
  static constexpr StringRef zlib[] = {"libz.so.1"};
  static constexpr StringRef jpeg[] = {"libjpeg.so.62", "libjpeg.so.8"};
  static constexpr StringRef png[] = {"libpng16.so.16"};
  auto parsed = [](void *function) {
    return versionIn(reinterpret_cast<const char *(*)()>(function)());
  };
  auto number = [](void *function) {
    return splitVersion(reinterpret_cast<unsigned (*)()>(function)());
  };
  return {"Compressed data (each is needed by data of its kind alone)",
          nullptr,
          {findLibrary({"zlib",
                        zlib,
                        "zlib.h",
                        parsed,
                        "zlibVersion",
                        {},
                        {},
                        "apt install zlib1g-dev"}),
           findLibrary({"libjpeg-turbo",
                        jpeg,
                        "jpeglib.h",
                        nullptr,
                        nullptr,
                        {},
                        {},
                        "apt install libjpeg62-turbo-dev"}),
           findLibrary({"libpng",
                        png,
                        "png.h",
                        number,
                        "png_access_version_number",
                        {},
                        {},
                        "apt install libpng-dev"})}};
}
