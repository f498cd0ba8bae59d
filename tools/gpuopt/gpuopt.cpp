//===- gpuopt.cpp - The gpuopt command ------------------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Driver/Driver.h"

int main(int argc, char **argv) { return gpuopt::driverMain(argc, argv); }
