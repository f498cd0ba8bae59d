//===- PageFiles.h - The styles and scripts of pages ------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The files of lib/Driver/Report/page, which the build makes part of gpuopt
// (cmake/EmbedFiles.cmake).
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DRIVER_REPORT_PAGEFILES_H
#define GPUOPT_LIB_DRIVER_REPORT_PAGEFILES_H

namespace gpuopt::page {

extern const char kPageStyle[];  ///< Colours and tables, of any page.
extern const char kRunStyle[];   ///< Of the page of runs.
extern const char kRunScripts[]; ///< They draw the page of runs.

} // namespace gpuopt::page

#endif // GPUOPT_LIB_DRIVER_REPORT_PAGEFILES_H
