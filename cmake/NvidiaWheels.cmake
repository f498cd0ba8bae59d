# Where NVIDIA's wheels are, of which tests and tools of CUDA programs take
# headers and libraries: where programs look for them, or, if nobody has said
# where, in the tests' Python environment. That may be made after the first
# build, so each build looks again.
file(GLOB venv_wheels CONFIGURE_DEPENDS ${CMAKE_BINARY_DIR}/venv/lib/python3*/site-packages/nvidia)
if(venv_wheels AND NOT NVIDIA_WHEELS AND NOT DEFINED ENV{NVIDIA_WHEELS})
  set(NVIDIA_WHEELS ${venv_wheels})
endif()
include(${CMAKE_SOURCE_DIR}/lib/Runtime/program/nvidia-wheels.cmake)

# cuDNN as the target gpuopt_cudnn, where its headers and its library are found,
# and those of the CUDA runtime, which they include. It has to be 9.8 or later,
# with which plans for described devices came.
find_path(cuda_include cuda_runtime.h NO_CACHE
  PATHS /usr/local/cuda ${nvidia_wheels} PATH_SUFFIXES include cu13/include)
find_path(cudnn_include cudnn.h NO_CACHE PATHS ${nvidia_wheels} PATH_SUFFIXES cudnn/include)
find_library(cudnn_library NAMES libcudnn.so.9 NO_CACHE PATHS ${nvidia_wheels} PATH_SUFFIXES cudnn/lib)
set(cudnn_version 0)
if(cudnn_include)
  file(READ ${cudnn_include}/cudnn_version.h cudnn_version_text)
  string(REGEX REPLACE ".*CUDNN_MAJOR ([0-9]+).*CUDNN_MINOR ([0-9]+).*" "\\1.\\2"
    cudnn_version "${cudnn_version_text}")
endif()
if(cuda_include AND cudnn_library AND cudnn_version VERSION_GREATER_EQUAL 9.8)
  add_library(gpuopt_cudnn INTERFACE)
  target_include_directories(gpuopt_cudnn SYSTEM INTERFACE ${cudnn_include} ${cuda_include})
  target_link_libraries(gpuopt_cudnn INTERFACE ${cudnn_library})
endif()
