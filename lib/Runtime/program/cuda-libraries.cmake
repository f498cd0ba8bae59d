# cuBLASLt and cuDNN as imported targets nvidia::cublasLt and nvidia::cudnn, from
# the CUDA toolkit, from the wheels that PyTorch's users have, or from /usr.
find_package(CUDAToolkit REQUIRED)
include(${CMAKE_CURRENT_LIST_DIR}/nvidia-wheels.cmake)

# Header and library from one root; ARGN: file names of the library.
function(nvidia_library name header)
  foreach(root ${CUDAToolkit_TARGET_DIR} ${nvidia_wheels} /usr)
    foreach(sub . cu13 cublas cudnn)
      set(inc NOTFOUND)
      set(lib NOTFOUND)
      find_path(inc ${header} PATHS ${root}/${sub}/include NO_CACHE NO_DEFAULT_PATH)
      find_library(lib NAMES ${ARGN} PATHS ${root}/${sub}/lib64 ${root}/${sub}/lib
        ${root}/${sub}/lib/x86_64-linux-gnu NO_CACHE NO_DEFAULT_PATH)
      if(inc AND lib)
        add_library(nvidia::${name} UNKNOWN IMPORTED GLOBAL)
        set_target_properties(nvidia::${name} PROPERTIES IMPORTED_LOCATION ${lib})
        if(NOT inc STREQUAL "/usr/include")
          target_include_directories(nvidia::${name} INTERFACE ${inc})
        endif()
        return()
      endif()
    endforeach()
  endforeach()
  message(FATAL_ERROR "no ${header} with ${ARGN}: install nvidia-cublas and nvidia-cudnn-cu13 "
    "with pip, and set NVIDIA_WHEELS to site-packages/nvidia")
endfunction()

nvidia_library(cublasLt cublasLt.h libcublasLt.so libcublasLt.so.13 libcublasLt.so.12)
nvidia_library(cudnn cudnn.h libcudnn.so libcudnn.so.9)
