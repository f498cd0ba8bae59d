//===- TextHasher.h - A hash of a list of texts -----------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DRIVER_FILES_TEXTHASHER_H
#define GPUOPT_LIB_DRIVER_FILES_TEXTHASHER_H

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SHA256.h"
#include <string>

namespace gpuopt {

/// Hashes a list of texts.
class TextHasher {
public:
  /// The length goes before each text, so that different lists of texts are
  /// hashed as different bytes.
  void add(llvm::StringRef text) {
    hash.update(std::to_string(text.size()) + ":");
    hash.update(text);
  }
  /// Returns the first `count` hexadecimal digits of the hash, of up to 64.
  std::string digits(size_t count) {
    return llvm::toHex(hash.final(), /*LowerCase=*/true).substr(0, count);
  }

private:
  llvm::SHA256 hash;
};

} // namespace gpuopt

#endif // GPUOPT_LIB_DRIVER_FILES_TEXTHASHER_H
