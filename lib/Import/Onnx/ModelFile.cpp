//===- ModelFile.cpp - A mapped ONNX file and its messages ----------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModelFile.h"

#include "mlir/Support/LLVM.h"
#include "llvm/Support/FileSystem.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

using namespace mlir;
using namespace gpuopt::onnx;
using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;
using google::protobuf::io::CodedOutputStream;

llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>>
gpuopt::onnx::mapFile(StringRef path) {
  llvm::sys::fs::file_status status;
  if (std::error_code error = llvm::sys::fs::status(path, status))
    return error;
  if (llvm::sys::fs::is_directory(status))
    return std::make_error_code(std::errc::is_a_directory);
  if (!llvm::sys::fs::is_regular_file(status)) // a pipe or device may not end
    return std::make_error_code(std::errc::not_supported);
  return llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                     /*RequiresNullTerminator=*/false);
}

namespace {
/// One field of a message: `bytes` from its tag to its end, `payload` the
/// content of a length-delimited field.
struct Field {
  uint32_t tag;
  StringRef bytes;
  StringRef payload;

  bool isMessageOrBytes(int number) const {
    return tag == WireFormatLite::MakeTag(
                      number, WireFormatLite::WIRETYPE_LENGTH_DELIMITED);
  }
};

/// Copies the messages of a file, all but the raw data of initializers.
class SkeletonCopier {
public:
  SkeletonCopier(StringRef file, const Reporter &reporter)
      : file(file), reporter(reporter) {}

  LogicalResult copyModel(std::string &skeleton);

  std::vector<std::optional<ByteRange>> takeRawData() {
    return std::move(rawData);
  }

private:
  LogicalResult copyGraph(StringRef graph, std::string &skeleton);
  LogicalResult copyInitializer(StringRef tensor, std::string &skeleton);
  LogicalResult
  forEachField(StringRef message,
               llvm::function_ref<LogicalResult(const Field &)> visit);
  int64_t offsetOf(StringRef bytes) const { return bytes.data() - file.data(); }

  StringRef file;
  const Reporter &reporter;
  std::vector<std::optional<ByteRange>> rawData;
};
} // namespace

static void appendMessage(uint32_t tag, StringRef content,
                          std::string &skeleton) {
  uint8_t head[2 * 5]; // two varints of up to 32 bits
  uint8_t *end = CodedOutputStream::WriteVarint32ToArray(tag, head);
  end = CodedOutputStream::WriteVarint32ToArray(content.size(), end);
  skeleton.append(head, end);
  skeleton.append(content.begin(), content.end());
}

LogicalResult SkeletonCopier::forEachField(
    StringRef message, llvm::function_ref<LogicalResult(const Field &)> visit) {
  CodedInputStream stream(message.bytes_begin(), message.size());
  while (stream.CurrentPosition() < static_cast<int>(message.size())) {
    size_t begin = stream.CurrentPosition();
    Field field{stream.ReadTag(), {}, {}};
    bool valid = field.tag != 0;
    if (valid && WireFormatLite::GetTagWireType(field.tag) ==
                     WireFormatLite::WIRETYPE_LENGTH_DELIMITED) {
      uint32_t size;
      valid = stream.ReadVarint32(&size);
      size_t payload = stream.CurrentPosition();
      if (valid && size > message.size() - payload)
        return reporter.error() << "is truncated or no ONNX model: at byte "
                                << offsetOf(message) + begin << ", a field of "
                                << size << " bytes begins, but "
                                << message.size() - payload << " are left";
      valid = valid && stream.Skip(size);
      field.payload = message.substr(payload, size);
    } else if (valid) {
      valid = WireFormatLite::SkipField(&stream, field.tag);
    }
    if (!valid)
      return reporter.error()
             << "is truncated or no ONNX model: malformed protobuf at byte "
             << offsetOf(message) + begin;
    field.bytes = message.slice(begin, stream.CurrentPosition());
    if (failed(visit(field)))
      return failure();
  }
  return success();
}

LogicalResult SkeletonCopier::copyModel(std::string &skeleton) {
  return forEachField(file, [&](const Field &field) {
    if (!field.isMessageOrBytes(proto::ModelProto::kGraphFieldNumber)) {
      skeleton.append(field.bytes.begin(), field.bytes.end());
      return success();
    }
    std::string graph;
    if (failed(copyGraph(field.payload, graph)))
      return failure();
    appendMessage(field.tag, graph, skeleton);
    return success();
  });
}

LogicalResult SkeletonCopier::copyGraph(StringRef graph,
                                        std::string &skeleton) {
  return forEachField(graph, [&](const Field &field) {
    if (!field.isMessageOrBytes(proto::GraphProto::kInitializerFieldNumber)) {
      skeleton.append(field.bytes.begin(), field.bytes.end());
      return success();
    }
    std::string initializer;
    if (failed(copyInitializer(field.payload, initializer)))
      return failure();
    appendMessage(field.tag, initializer, skeleton);
    return success();
  });
}

LogicalResult SkeletonCopier::copyInitializer(StringRef tensor,
                                              std::string &skeleton) {
  std::optional<ByteRange> &range = rawData.emplace_back();
  return forEachField(tensor, [&](const Field &field) {
    if (field.isMessageOrBytes(proto::TensorProto::kRawDataFieldNumber))
      range = ByteRange{offsetOf(field.payload),
                        static_cast<int64_t>(field.payload.size())};
    else
      skeleton.append(field.bytes.begin(), field.bytes.end());
    return success();
  });
}

std::unique_ptr<ModelFile> ModelFile::open(StringRef path,
                                           const Reporter &reporter) {
  auto result = std::make_unique<ModelFile>();
  auto buffer = mapFile(path);
  if (!buffer) {
    reporter.error() << "cannot be read: " << buffer.getError().message();
    return nullptr;
  }
  result->buffer = std::move(*buffer);
  StringRef file = result->buffer->getBuffer();
  if (file.empty()) {
    reporter.error() << "is empty";
    return nullptr;
  }
  if (file.size() > INT32_MAX) { // protobuf's own limit
    reporter.error() << "is larger than 2 GiB, which protobuf cannot hold: "
                        "export the weights as external data";
    return nullptr;
  }
  std::string skeleton;
  SkeletonCopier copier(file, reporter);
  if (failed(copier.copyModel(skeleton)))
    return nullptr;
  result->rawData = copier.takeRawData();
  if (!result->model.ParseFromString(skeleton)) {
    reporter.error() << "is no ONNX model: malformed protobuf in the graph";
    return nullptr;
  }
  if (!result->model.has_graph()) {
    reporter.error() << "is no ONNX model: it has no graph";
    return nullptr;
  }
  return result;
}
