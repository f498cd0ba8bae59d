//===- RegisterAll.cpp - Every dialect, pass and pipeline of gpuopt -------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Pipelines/RegisterAll.h"

#include "gpuopt/Conversion/OnnxToNN/Passes.h"
#include "gpuopt/Conversion/ToDevice/Passes.h"
#include "gpuopt/Dialect/Device/IR/DeviceDialect.h"
#include "gpuopt/Dialect/Device/Transforms/Passes.h"
#include "gpuopt/Dialect/NN/IR/ElementwiseVjp.h"
#include "gpuopt/Dialect/NN/IR/NNDialect.h"
#include "gpuopt/Dialect/NN/Transforms/Passes.h"
#include "gpuopt/Dialect/Onnx/IR/OnnxDialect.h"
#include "gpuopt/Dialect/Train/IR/TrainDialect.h"
#include "gpuopt/Dialect/Train/Transforms/Passes.h"
#include "gpuopt/Pipelines/Passes.h"
#include "gpuopt/Pipelines/Pipelines.h"
#include "gpuopt/Transforms/Kernels/Passes.h"
#include "gpuopt/Transforms/Printing/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

void gpuopt::registerAllDialects(DialectRegistry &registry) {
  registry.insert<arith::ArithDialect, device::DeviceDialect, func::FuncDialect,
                  math::MathDialect, nn::NNDialect, onnx::OnnxDialect,
                  train::TrainDialect>();
  nn::registerElementwiseVjps(registry);
}

void gpuopt::registerAllPasses() {
  registerCanonicalizerPass();
  registerCSEPass();
  registerPipelines();
  registerPipelinesPasses();
  registerOnnxToNNPasses();
  registerToDevicePasses();
  device::registerDevicePasses();
  nn::registerNNPasses();
  kernels::registerKernelPasses();
  printing::registerPrintingPasses();
  train::registerTrainPasses();
}
