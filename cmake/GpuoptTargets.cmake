# How gpuopt's libraries are declared.
#
#   gpuopt_add_library(NAME SOURCES... [DEPENDS TARGET...] [LINK LIBRARY...])
#     Plain C++: knows nothing of MLIR.
#   gpuopt_add_mlir_library(NAME SOURCES... [DEPENDS ...] [LINK ...] [HEADERS TARGET])
#     Linked against the MLIR and LLVM shared libraries and compiled with
#     precompiled headers, which cost more than our own code: those of MLIR, or
#     those of the target HEADERS, which have more.
#   gpuopt_add_precompiled_headers(NAME [HEADER...] [LINK ...])
#     The headers of MLIR and others. A library may reuse those that
#     scripts/audit_includes.py lets it include.

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

function(gpuopt_add_precompiled_headers name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_library(${name} OBJECT ${PROJECT_SOURCE_DIR}/cmake/PrecompiledHeaders.cpp)
  target_link_libraries(${name} PRIVATE ${ARG_LINK}) # their generated headers come before
  gpuopt_warnings(${name})
  target_precompile_headers(${name} PRIVATE
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
    <mlir/Pass/Pass.h>
    ${ARG_UNPARSED_ARGUMENTS})
endfunction()

gpuopt_add_precompiled_headers(GpuoptPrecompiledHeaders)
gpuopt_add_precompiled_headers(GpuoptDialectHeaders
  <gpuopt/Dialect/NN/IR/NNDialect.h>
  <gpuopt/Dialect/Train/IR/TrainDialect.h>
  <mlir/IR/Matchers.h>
  <mlir/IR/Remarks.h>
  LINK GpuoptNNDialect GpuoptTrainDialect)

function(gpuopt_reuse_precompiled_headers target)
  target_precompile_headers(${target} REUSE_FROM GpuoptPrecompiledHeaders)
endfunction()

function(gpuopt_add_mlir_library name)
  cmake_parse_arguments(ARG "" "HEADERS" "DEPENDS;LINK" ${ARGN})
  gpuopt_add_library(${name} ${ARG_UNPARSED_ARGUMENTS}
    DEPENDS ${ARG_DEPENDS} LINK ${ARG_LINK} MLIR LLVM)
  if(ARG_HEADERS)
    target_precompile_headers(${name} REUSE_FROM ${ARG_HEADERS})
  else()
    gpuopt_reuse_precompiled_headers(${name})
  endif()
endfunction()

function(gpuopt_add_tool name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  gpuopt_warnings(${name})
  target_link_libraries(${name} PRIVATE ${ARG_LINK})
  install(TARGETS ${name} RUNTIME DESTINATION bin)
endfunction()
