# Where NVIDIA's wheels are, of which tests and tools of CUDA programs take
# headers and libraries. The tests' Python environment has them. It may be made
# after the first build, so each build looks again.
file(GLOB venv_wheels CONFIGURE_DEPENDS ${CMAKE_BINARY_DIR}/venv/lib/python3*/site-packages/nvidia)
set(NVIDIA_WHEELS "" CACHE STRING "site-packages/nvidia; empty: ask python3")
if(NOT NVIDIA_WHEELS)
  set(NVIDIA_WHEELS ${venv_wheels})
endif()

# cuDNN as the target gpuopt_cudnn, where its headers and its library are found,
# and those of the CUDA runtime, which they include.
find_path(cuda_include cuda_runtime.h NO_CACHE
  PATHS /usr/local/cuda/include ${NVIDIA_WHEELS}/cu13/include)
find_path(cudnn_include cudnn.h NO_CACHE PATHS ${NVIDIA_WHEELS}/cudnn/include)
find_library(cudnn_library NAMES libcudnn.so.9 NO_CACHE PATHS ${NVIDIA_WHEELS}/cudnn/lib)
if(cuda_include AND cudnn_include AND cudnn_library)
  add_library(gpuopt_cudnn INTERFACE)
  target_include_directories(gpuopt_cudnn SYSTEM INTERFACE ${cudnn_include} ${cuda_include})
  target_link_libraries(gpuopt_cudnn INTERFACE ${cudnn_library})
endif()
