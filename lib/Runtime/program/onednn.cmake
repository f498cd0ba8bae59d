# Finds oneDNN: DNNL is its library, DNNL_INCLUDE the folder of its headers, and ONEDNN_LIBRARIES what to link.
find_library(DNNL NAMES dnnl libdnnl.so.3 libdnnl.so.2)
find_path(DNNL_INCLUDE dnnl.hpp)
set(ONEDNN_HELP "apt install libdnnl-dev ocl-icd-opencl-dev, or name another installation by CMAKE_PREFIX_PATH")
if(NOT DNNL OR NOT DNNL_INCLUDE)
  message(FATAL_ERROR "oneDNN 2.6 or later is not found: ${ONEDNN_HELP}")
endif()

set(header ${DNNL_INCLUDE}/oneapi/dnnl/dnnl_version.h)
if(NOT EXISTS ${header})
  message(FATAL_ERROR "'${DNNL_INCLUDE}' has dnnl.hpp, but not oneapi/dnnl/dnnl_version.h, which oneDNN 2.6 or later has: "
    "${ONEDNN_HELP}")
endif()
foreach(part MAJOR MINOR)
  file(STRINGS ${header} line REGEX "define DNNL_VERSION_${part} ")
  string(REGEX MATCH "[0-9]+$" ONEDNN_${part} "${line}")
endforeach()
# One of two installations may have the library, and the other one the headers.
get_filename_component(file ${DNNL} REALPATH)
if(file MATCHES "\\.so\\.([0-9]+)" AND NOT CMAKE_MATCH_1 STREQUAL ONEDNN_MAJOR)
  message(FATAL_ERROR "'${file}' is oneDNN ${CMAKE_MATCH_1}, but '${header}' is of oneDNN ${ONEDNN_MAJOR}: "
    "set DNNL and DNNL_INCLUDE to the library and the headers of one installation")
endif()
set(version ${ONEDNN_MAJOR}.${ONEDNN_MINOR})
if(version VERSION_LESS 2.6 OR version VERSION_GREATER_EQUAL 4)
  message(FATAL_ERROR "'${header}' is of oneDNN ${version}, but one from 2.6 to 3.x is needed: ${ONEDNN_HELP}")
endif()

set(ONEDNN_LIBRARIES ${DNNL})
find_library(OPENCL NAMES OpenCL libOpenCL.so.1)
if(OPENCL)
  list(APPEND ONEDNN_LIBRARIES ${OPENCL})
elseif(ONEDNN_MAJOR EQUAL 2) # Debian's is built with it
  message(FATAL_ERROR "OpenCL, which oneDNN 2 is built with, is not found: ${ONEDNN_HELP}")
endif()
