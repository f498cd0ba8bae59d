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

# Where a program finds CUPTI, which it loads if a profile is asked for, and its
# header. Without them profiles take their times from events.
set(cupti_header NOTFOUND)
set(cupti_library NOTFOUND)
set(cupti_roots ${CUDAToolkit_TARGET_DIR} ${CUDAToolkit_LIBRARY_ROOT}/extras/CUPTI)
foreach(root IN LISTS nvidia_wheels)
  list(APPEND cupti_roots ${root}/cu13 ${root}/cuda_cupti)
endforeach()
find_path(cupti_header cupti.h PATHS ${cupti_roots} PATH_SUFFIXES include NO_CACHE NO_DEFAULT_PATH)
find_library(cupti_library NAMES libcupti.so.${CUDAToolkit_VERSION_MAJOR} PATHS ${cupti_roots}
  PATH_SUFFIXES lib64 lib NO_CACHE NO_DEFAULT_PATH)
add_library(gpuopt_cupti INTERFACE)
if(cupti_header)
  target_include_directories(gpuopt_cupti SYSTEM INTERFACE ${cupti_header})
endif()
if(cupti_library)
  cmake_path(GET cupti_library PARENT_PATH cupti_folder)
  target_link_options(gpuopt_cupti INTERFACE -Wl,-rpath,${cupti_folder})
endif()
target_link_libraries(gpuopt_cupti INTERFACE ${CMAKE_DL_LIBS})

nvidia_library(cublasLt cublasLt.h libcublasLt.so libcublasLt.so.13 libcublasLt.so.12)
nvidia_library(cudnn cudnn.h libcudnn.so libcudnn.so.9)
