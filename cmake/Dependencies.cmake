# Everything that gpuopt itself is built on. scripts/install-dependencies.sh
# installs the packages; emitted programs have a CMake file of their own.

find_package(Python3 REQUIRED COMPONENTS Interpreter)
find_package(Threads REQUIRED)

set(MLIR_BINARY_DIR ${CMAKE_BINARY_DIR}) # where the mlir-doc target copies to
find_program(LLVM_LIT lit PATHS /usr/lib/llvm-22/bin NO_DEFAULT_PATH)
set(LLVM_EXTERNAL_LIT "${LLVM_LIT}" CACHE STRING "lit, which Debian ships outside the LLVM prefix's default name")
find_package(MLIR 22.1 REQUIRED CONFIG HINTS /usr/lib/llvm-22/lib/cmake/mlir)
message(STATUS "MLIR ${MLIR_VERSION} in ${MLIR_DIR}")

list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
include(TableGen)
include(AddLLVM)
include(AddMLIR)
separate_arguments(GPUOPT_LLVM_DEFINITIONS NATIVE_COMMAND "${LLVM_DEFINITIONS}")
add_definitions(${GPUOPT_LLVM_DEFINITIONS})
include_directories(SYSTEM ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})

find_package(Protobuf REQUIRED)

find_program(GPUOPT_CCACHE ccache)
if(GPUOPT_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER
    ${CMAKE_COMMAND} -E env
    CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_ctime,include_file_mtime
    ${GPUOPT_CCACHE})
endif()
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  # Lets ccache hit on objects that were compiled with a precompiled header.
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang -fno-pch-timestamp>")
endif()
find_program(GPUOPT_LLD ld.lld PATHS /usr/lib/llvm-22/bin)
if(GPUOPT_LLD)
  get_filename_component(GPUOPT_LLD_FOLDER ${GPUOPT_LLD} DIRECTORY)
  add_link_options(-B${GPUOPT_LLD_FOLDER} -fuse-ld=lld)
endif()
