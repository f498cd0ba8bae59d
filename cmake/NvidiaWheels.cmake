# Where NVIDIA's wheels are, of which tests and tools of CUDA programs take
# headers and libraries. The tests' Python environment has them. It may be made
# after the first build, so each build looks again.
file(GLOB venv_wheels CONFIGURE_DEPENDS ${CMAKE_BINARY_DIR}/venv/lib/python3*/site-packages/nvidia)
set(NVIDIA_WHEELS "" CACHE STRING "site-packages/nvidia; empty: ask python3")
if(NOT NVIDIA_WHEELS)
  set(NVIDIA_WHEELS ${venv_wheels})
endif()

# cuDNN as the target gpuopt_cudnn, where its headers and its library are found,
# and those of the CUDA runtime, which they include. It has to be 9.8 or later,
# with which plans for described devices came.
find_path(cuda_include cuda_runtime.h NO_CACHE
  PATHS /usr/local/cuda ${NVIDIA_WHEELS} PATH_SUFFIXES include cu13/include)
find_path(cudnn_include cudnn.h NO_CACHE PATHS ${NVIDIA_WHEELS} PATH_SUFFIXES cudnn/include)
find_library(cudnn_library NAMES libcudnn.so.9 NO_CACHE PATHS ${NVIDIA_WHEELS} PATH_SUFFIXES cudnn/lib)
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
