# How gpuopt's libraries are declared.
#
#   gpuopt_add_library(NAME SOURCES... [DEPENDS TARGET...] [LINK LIBRARY...])
#     Plain C++: knows nothing of MLIR.
#   gpuopt_add_mlir_library(NAME SOURCES... [DEPENDS ...] [LINK ...])
#     Linked against the MLIR and LLVM shared libraries and compiled with the
#     project's precompiled MLIR headers, which cost more than our own code.

function(gpuopt_warnings target)
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wno-unused-parameter>)
endfunction()

function(gpuopt_add_library name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  gpuopt_warnings(${name})
  target_link_libraries(${name} PUBLIC ${ARG_LINK})
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
endfunction()

add_library(GpuoptPrecompiledHeaders OBJECT ${CMAKE_CURRENT_LIST_DIR}/PrecompiledHeaders.cpp)
target_precompile_headers(GpuoptPrecompiledHeaders PRIVATE
  <mlir/Dialect/Arith/IR/Arith.h>
  <mlir/Dialect/Math/IR/Math.h>
  <mlir/IR/Builders.h>
  <mlir/IR/BuiltinAttributes.h>
  <mlir/IR/BuiltinOps.h>
  <mlir/IR/BuiltinTypes.h>
  <mlir/IR/OpImplementation.h>
  <mlir/IR/PatternMatch.h>
  <mlir/Interfaces/InferTypeOpInterface.h>
  <mlir/Interfaces/SideEffectInterfaces.h>
  <mlir/Pass/Pass.h>)
gpuopt_warnings(GpuoptPrecompiledHeaders)

function(gpuopt_reuse_precompiled_headers target)
  target_precompile_headers(${target} REUSE_FROM GpuoptPrecompiledHeaders)
endfunction()

function(gpuopt_add_mlir_library name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;LINK" ${ARGN})
  gpuopt_add_library(${name} ${ARG_UNPARSED_ARGUMENTS}
    DEPENDS ${ARG_DEPENDS} LINK ${ARG_LINK} MLIR LLVM)
  gpuopt_reuse_precompiled_headers(${name})
endfunction()

function(gpuopt_add_tool name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  gpuopt_warnings(${name})
  target_link_libraries(${name} PRIVATE ${ARG_LINK})
  install(TARGETS ${name} RUNTIME DESTINATION bin)
endfunction()
