# What the emulation is built with. Sets nvidia_includes, boost_context_include
# and boost_context_library, and missing_packages to what is not found. Who
# includes this has nvidia_wheels from nvidia-wheels.cmake of the program.

# NVIDIA's own headers give all types and enumerators.
set(nvidia_roots)
find_program(GPUOPT_NVCC nvcc PATHS /usr/local/cuda/bin)
if(GPUOPT_NVCC)
  file(REAL_PATH ${GPUOPT_NVCC} nvcc)
  cmake_path(GET nvcc PARENT_PATH nvcc_folder)
  list(APPEND nvidia_roots ${nvcc_folder}/..)
endif()
list(APPEND nvidia_roots /usr/local/cuda)
foreach(root IN LISTS nvidia_wheels)
  list(APPEND nvidia_roots ${root}/cu13 ${root}/cublas ${root}/cudnn)
endforeach()

set(missing_packages)
set(missing_headers)
set(nvidia_includes)
foreach(header cuda_runtime.h cublasLt.h cudnn.h)
  set(folder NOTFOUND)
  find_path(folder ${header} PATHS ${nvidia_roots} PATH_SUFFIXES include NO_CACHE)
  if(folder)
    list(APPEND nvidia_includes ${folder})
  else()
    list(APPEND missing_headers ${header})
  endif()
endforeach()
list(REMOVE_DUPLICATES nvidia_includes)
if(missing_headers)
  list(JOIN missing_headers ", " missing_headers)
  string(APPEND missing_packages "headers of NVIDIA's are not found (${missing_headers}): install "
    "the CUDA toolkit, nvidia-cublas and nvidia-cudnn-cu13, and set NVIDIA_WHEELS to "
    "site-packages/nvidia. ")
endif()

set(boost_context_include NOTFOUND)
set(boost_context_library NOTFOUND)
find_path(boost_context_include boost/context/detail/fcontext.hpp NO_CACHE)
find_library(boost_context_library boost_context NO_CACHE)
if(NOT boost_context_include OR NOT boost_context_library)
  string(APPEND missing_packages "Boost.Context is not found: apt install libboost-context1.74-dev. ")
endif()
