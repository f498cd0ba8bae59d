# cuBLASLt and cuDNN as imported targets nvidia::cublasLt and nvidia::cudnn, from
# the CUDA toolkit, from the wheels that PyTorch's users have, or from /usr.
find_package(CUDAToolkit REQUIRED)
include(${CMAKE_CURRENT_LIST_DIR}/nvidia-wheels.cmake)

# Header and library from one root; ARGN: file names of the library. `title` and
# `wheel` are for the error where it is not found.
function(nvidia_library name title wheel header)
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
  list(JOIN ARGN " or " files)
  set(places ${CUDAToolkit_TARGET_DIR} ${nvidia_wheels} /usr)
  list(JOIN places "' and '" where)
  set(without "")
  if(NOT nvidia_wheels)
    set(without ", and python3 finds no wheels of NVIDIA")
  endif()
  message(FATAL_ERROR "${title} is not found: '${where}' lack ${header} with ${files}${without}; "
    "install it by 'pip install ${wheel}' and, where python3 does not find that, set the "
    "environment variable NVIDIA_WHEELS to site-packages/nvidia")
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

# The wheels of CUDA 13 have no number in their names, but that of cuDNN has.
set(major ${CUDAToolkit_VERSION_MAJOR})
if(NOT major)
  set(major 13)
endif()
set(cublas_wheel nvidia-cublas)
if(major EQUAL 12)
  set(cublas_wheel nvidia-cublas-cu12)
endif()
nvidia_library(cublasLt cuBLASLt ${cublas_wheel} cublasLt.h libcublasLt.so libcublasLt.so.13 libcublasLt.so.12)
nvidia_library(cudnn "cuDNN 9" nvidia-cudnn-cu${major} cudnn.h libcudnn.so libcudnn.so.9)
