//===- Weights.cpp - First values of a program's state --------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Files/Weights.h"

#include "gpuopt/Dialect/Device/IR/DeviceDialect.h"
#include "gpuopt/Dialect/Train/IR/TrainDialect.h"
#include "gpuopt/Support/RowPitch.h"
#include "gpuopt/trainer/checkpoints/checkpoint_names.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace mlir;
using namespace gpuopt;

namespace {

/// A tensor of a safetensors file. Its bytes are at an offset of a file, or in
/// this object.
struct Stored {
  std::string name;
  RankedTensorType type;
  std::string file;
  int64_t offset = 0,
          sizeInBytes = 0; ///< The size is that in the weights file.
  std::string bytes;
  Type storedElement; ///< f16 or bf16 if it is to be widened to f32; else null.
  bool isTrained = false;

  int64_t bytesInFile() const {
    return storedElement ? sizeInBytes / 2 : sizeInBytes;
  }
};

} // namespace

static StringRef dtypeOf(Type element) {
  std::string text;
  llvm::raw_string_ostream(text) << element;
  return llvm::StringSwitch<StringRef>(text)
      .Case("f64", "F64")
      .Case("f32", "F32")
      .Case("f16", "F16")
      .Case("bf16", "BF16")
      .Case("i64", "I64")
      .Case("i32", "I32")
      .Case("i16", "I16")
      .Case("i8", "I8")
      .Case("i1", "BOOL")
      .Default("U8");
}

/// Returns the elements in the machine's byte order, with one byte for each
/// boolean.
static std::string bytesOf(ElementsAttr value) {
  auto dense = cast<DenseElementsAttr>(value);
  RankedTensorType type = cast<RankedTensorType>(dense.getType());
  int64_t count = type.getNumElements(),
          width = device::sizeInBytes(type) / std::max<int64_t>(count, 1);
  std::string bytes(count * width, '\0');
  int64_t index = 0;
  auto put = [&](const APInt &bits) {
    uint64_t word = bits.getZExtValue();
    memcpy(bytes.data() + index++ * width, &word, width);
  };
  if (isa<FloatType>(type.getElementType()))
    for (const APFloat &number : dense.getValues<APFloat>())
      put(number.bitcastToAPInt());
  else
    for (const APInt &number : dense.getValues<APInt>())
      put(number);
  return bytes;
}

static void writeWidened(StringRef bytes, bool isBF16,
                         llvm::raw_ostream &stream) {
  for (size_t i = 0; i < bytes.size(); i += 2) {
    uint16_t half;
    memcpy(&half, bytes.data() + i, 2);
    float wide = isBF16 ? llvm::bit_cast<float>(uint32_t(half) << 16)
                        : float(llvm::bit_cast<_Float16>(half));
    stream.write(reinterpret_cast<const char *>(&wide), sizeof wide);
  }
}

/// Returns whether a tensor holds numbers that no weight has: exporters fold
/// the masks of attention, -inf or the lowest number of the type, into
/// initializers.
static bool holdsMask(const Stored &tensor, StringRef bytes) {
  constexpr float kLeast = 1e30f;
  if (!tensor.isTrained || tensor.storedElement ||
      !tensor.type.getElementType().isF32())
    return false;
  bool found = false;
  for (size_t i = 0; i + sizeof(float) <= bytes.size(); i += sizeof(float)) {
    float number;
    memcpy(&number, bytes.data() + i, sizeof number);
    found |= std::fabs(number) >= kLeast;
  }
  return found;
}

/// Writes a safetensors file. Appends the names of trained tensors that look
/// like masks to `masks`.
static llvm::Error writeFile(StringRef path, ArrayRef<Stored> tensors,
                             std::vector<std::string> &masks) {
  llvm::json::Object header;
  int64_t offset = 0;
  for (const Stored &tensor : tensors) {
    llvm::json::Array shape;
    for (int64_t size : tensor.type.getShape())
      shape.push_back(size);
    header[tensor.name] = llvm::json::Object{
        {"dtype", dtypeOf(tensor.type.getElementType())},
        {"shape", std::move(shape)},
        {"data_offsets",
         llvm::json::Array{offset, offset + tensor.sizeInBytes}}};
    offset += tensor.sizeInBytes;
  }
  std::string text;
  llvm::raw_string_ostream(text) << llvm::json::Value(std::move(header));
  text.append((8 - text.size() % 8) % 8, ' ');
  std::error_code code;
  llvm::raw_fd_ostream stream(path, code);
  if (code)
    return llvm::createStringError("cannot write '" + path +
                                   "': " + code.message());
  uint64_t size = text.size();
  stream.write(reinterpret_cast<const char *>(&size), 8);
  stream << text;
  llvm::StringMap<std::unique_ptr<llvm::MemoryBuffer>> mapped;
  for (const Stored &tensor : tensors) {
    if (tensor.file.empty()) {
      stream << tensor.bytes;
      if (holdsMask(tensor, tensor.bytes))
        masks.push_back(tensor.name);
      continue;
    }
    std::unique_ptr<llvm::MemoryBuffer> &buffer = mapped[tensor.file];
    if (!buffer) {
      auto opened = llvm::MemoryBuffer::getFile(
          tensor.file, /*IsText=*/false, /*RequiresNullTerminator=*/false);
      if (!opened)
        return llvm::createStringError("cannot read '" + tensor.file +
                                       "': " + opened.getError().message());
      buffer = std::move(*opened);
    }
    if (tensor.offset + tensor.bytesInFile() > (int64_t)buffer->getBufferSize())
      return llvm::createStringError("'" + tensor.file +
                                     "' ends before tensor '" + tensor.name +
                                     "' does");
    StringRef bytes =
        buffer->getBuffer().substr(tensor.offset, tensor.bytesInFile());
    if (tensor.storedElement)
      writeWidened(bytes, tensor.storedElement.isBF16(), stream);
    else
      stream << bytes;
    if (holdsMask(tensor, bytes))
      masks.push_back(tensor.name);
  }
  stream.close();
  code = stream.error();
  stream.clear_error();
  return code ? llvm::createStringError("cannot write '" + path +
                                        "': " + code.message())
              : llvm::Error::success();
}

llvm::Error gpuopt::writeWeights(ModuleOp module, StringRef folder,
                                 std::vector<std::string> &masks) {
  std::vector<Stored> weights, constants;
  for (train::VariableOp variable : module.getOps<train::VariableOp>()) {
    if (!variable.isWeight())
      continue;
    Stored stored;
    stored.type = withoutPads(cast<RankedTensorType>(variable.getType()));
    stored.sizeInBytes = device::sizeInBytes(stored.type);
    stored.isTrained = variable.isTrained();
    if (variable.getFile()) {
      stored.file = variable.getFile()->str();
      stored.offset = *variable.getOffset();
      stored.storedElement = variable.getStoredElementType().value_or(Type());
      // A program that rounds weights as it loads them takes those of a
      // training, so the file has them as a training would.
      auto f32 = Float32Type::get(module.getContext());
      if (stored.storedElement && !stored.type.getElementType().isF32()) {
        stored.type = stored.type.clone(f32);
        stored.sizeInBytes = device::sizeInBytes(stored.type);
      }
      if (stored.storedElement == f32)
        stored.storedElement = nullptr;
    } else {
      stored.bytes = variable.getValue()
                         ? bytesOf(*variable.getValue())
                         : std::string(stored.sizeInBytes, '\0');
    }
    SmallVector<std::string> names;
    for (Attribute name : variable.getSavedAs())
      names.push_back(cast<StringAttr>(name).str());
    if (names.empty())
      names.push_back(variable.getSymName().str());
    for (const std::string &name : names) {
      stored.name = name;
      weights.push_back(stored);
    }
  }
  for (device::BufferOp buffer : module.getOps<device::BufferOp>())
    if (buffer.getKind() == device::BufferKind::Constant) {
      auto type = cast<RankedTensorType>(buffer.getType());
      constants.push_back({("constant." + buffer.getSymName()).str(), type, "",
                           0, device::sizeInBytes(type),
                           bytesOf(*buffer.getValue()), Type(), false});
    }
  auto pathOf = [&](StringRef name) {
    SmallString<256> path(folder);
    llvm::sys::path::append(path, name);
    return path.str().str();
  };
  if (llvm::Error error = writeFile(pathOf(kModelFile), weights, masks))
    return error;
  return constants.empty()
             ? llvm::Error::success()
             : writeFile(pathOf(kConstantsFile), constants, masks);
}
