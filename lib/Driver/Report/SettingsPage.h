//===- SettingsPage.h - docs/settings.md ------------------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DRIVER_REPORT_SETTINGSPAGE_H
#define GPUOPT_LIB_DRIVER_REPORT_SETTINGSPAGE_H

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace gpuopt {

/// Prints the tables of settings and optimizers as Markdown.
void printSettingsPage(llvm::raw_ostream &os);

} // namespace gpuopt

#endif // GPUOPT_LIB_DRIVER_REPORT_SETTINGSPAGE_H
