//===- OnnxMutations.cpp - Other models than a given one ------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The mutator that libFuzzer calls. Most changes keep a file that can be
// parsed: bytes at random would hardly ever pass the parser.
//
//===----------------------------------------------------------------------===//

#include "OnnxMutations.h"

#include "gpuopt/Conversion/OnnxToNN/Passes.h"

#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

using namespace gpuopt;
using namespace gpuopt::fuzz;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;
namespace proto = gpuopt::onnx::proto;

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);

namespace {

class Mutator {
public:
  Mutator(proto::ModelProto &model, std::minstd_rand &random)
      : model(model), graph(*model.mutable_graph()), random(random) {}

  void run();
  void graft(const proto::GraphProto &other);

private:
  size_t below(size_t count) { return count ? random() % count : 0; }
  bool isOneOf(size_t count) { return below(count) == 0; }
  template <class List>
  auto &any(List &list) {
    return *(std::begin(list) + below(std::size(list)));
  }

  int64_t number(int64_t old);
  double real(double old);
  std::string text(const std::string &old);
  std::string valueName();

  std::vector<Message *> messages();
  void changeField();
  void changeScalar(Message &message, const FieldDescriptor &field);
  void changeList(Message &message, const FieldDescriptor &field);
  void changeWiring();
  void changeOperator();
  void changeAttribute();
  void changeTensor();
  void changeInput();
  void copyNode();
  void changeVersion();

  proto::ModelProto &model;
  proto::GraphProto &graph;
  std::minstd_rand &random;
};

} // namespace

int64_t Mutator::number(int64_t old) {
  static const int64_t numbers[] = {0,
                                    1,
                                    2,
                                    3,
                                    4,
                                    7,
                                    8,
                                    16,
                                    -1,
                                    -2,
                                    -3,
                                    127,
                                    255,
                                    65536,
                                    100000,
                                    2147483647,
                                    1LL << 31,
                                    1LL << 32,
                                    1LL << 40,
                                    1LL << 62,
                                    INT64_MAX,
                                    INT64_MIN,
                                    -2147483648LL,
                                    1000000000};
  switch (below(4)) {
  case 0:
    return any(numbers);
  case 1:
    return int64_t(uint64_t(old) + below(7) - 3);
  case 2:
    return -uint64_t(old);
  default:
    return below(10);
  }
}

double Mutator::real(double old) {
  static const double numbers[] = {0,
                                   -0.0,
                                   1,
                                   -1,
                                   0.5,
                                   1e-30,
                                   1e30,
                                   3e38,
                                   1e-45,
                                   std::numeric_limits<double>::infinity(),
                                   -std::numeric_limits<double>::infinity(),
                                   std::numeric_limits<double>::quiet_NaN()};
  return isOneOf(3) ? old * 2 + 1 : any(numbers);
}

/// Returns the name of a value of the graph.
std::string Mutator::valueName() {
  std::vector<std::string> names{""};
  for (const auto &input : graph.input())
    names.push_back(input.name());
  for (const auto &tensor : graph.initializer())
    names.push_back(tensor.name());
  for (const auto &node : graph.node())
    for (const std::string &output : node.output())
      names.push_back(output);
  return any(names);
}

std::string Mutator::text(const std::string &old) {
  static const std::string texts[] = {"",
                                      "\xff",
                                      "a\xc3",
                                      std::string("\0", 1),
                                      "\n\"*/",
                                      "SAME_UPPER",
                                      "linear",
                                      "cubic",
                                      "reflect",
                                      "ij,jk->ik",
                                      "...",
                                      "bidirectional",
                                      "../../etc/passwd",
                                      "model.onnx",
                                      "ai.onnx.ml",
                                      "/",
                                      std::string(5000, 'x')};
  switch (below(4)) {
  case 0:
    return any(texts);
  case 1:
    return valueName();
  case 2:
    return old + old;
  default: {
    std::string changed = old + std::string(8, '\0');
    changed.resize(LLVMFuzzerMutate(reinterpret_cast<uint8_t *>(changed.data()),
                                    old.size(), changed.size()));
    return changed;
  }
  }
}

/// Returns all messages of the model.
std::vector<Message *> Mutator::messages() {
  std::vector<Message *> found{&model};
  for (size_t i = 0; i < found.size() && i < 5000; ++i) {
    Message &message = *found[i];
    const Reflection &reflection = *message.GetReflection();
    std::vector<const FieldDescriptor *> fields;
    reflection.ListFields(message, &fields);
    for (const FieldDescriptor *field : fields) {
      if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE)
        continue;
      if (!field->is_repeated())
        found.push_back(reflection.MutableMessage(&message, field));
      else
        for (int j = 0; j < reflection.FieldSize(message, field); ++j)
          found.push_back(
              reflection.MutableRepeatedMessage(&message, field, j));
    }
  }
  return found;
}

// Sets a field, or appends to a repeated one, or changes an element of it.
#define GPUOPT_CHANGE(Name, Compute)                                           \
  if (!field.is_repeated()) {                                                  \
    auto old = reflection.Get##Name(message, &field);                          \
    reflection.Set##Name(&message, &field, Compute);                           \
  } else if (int count = reflection.FieldSize(message, &field);                \
             count && !isOneOf(4)) {                                           \
    int at = below(count);                                                     \
    auto old = reflection.GetRepeated##Name(message, &field, at);              \
    reflection.SetRepeated##Name(&message, &field, at, Compute);               \
  } else {                                                                     \
    decltype(reflection.GetRepeated##Name(message, &field, 0)) old{};          \
    reflection.Add##Name(&message, &field, Compute);                           \
  }                                                                            \
  return

void Mutator::changeScalar(Message &message, const FieldDescriptor &field) {
  const Reflection &reflection = *message.GetReflection();
  switch (field.cpp_type()) {
  case FieldDescriptor::CPPTYPE_INT64:
    GPUOPT_CHANGE(Int64, number(old));
  case FieldDescriptor::CPPTYPE_INT32:
    GPUOPT_CHANGE(Int32, int32_t(number(old)));
  case FieldDescriptor::CPPTYPE_UINT64:
    GPUOPT_CHANGE(UInt64, uint64_t(number(old)));
  case FieldDescriptor::CPPTYPE_FLOAT:
    GPUOPT_CHANGE(Float, float(real(old)));
  case FieldDescriptor::CPPTYPE_DOUBLE:
    GPUOPT_CHANGE(Double, real(old));
  case FieldDescriptor::CPPTYPE_STRING:
    GPUOPT_CHANGE(String, text(old));
  case FieldDescriptor::CPPTYPE_ENUM:
    if (!field.is_repeated())
      reflection.SetEnumValue(&message, &field, int(below(16)));
    return;
  default:
    return;
  }
}
#undef GPUOPT_CHANGE

/// Removes, doubles or exchanges elements.
void Mutator::changeList(Message &message, const FieldDescriptor &field) {
  const Reflection &reflection = *message.GetReflection();
  int count = reflection.FieldSize(message, &field);
  if (!count)
    return;
  reflection.SwapElements(&message, &field, below(count), below(count));
  if (isOneOf(2))
    reflection.RemoveLast(&message, &field);
}

void Mutator::changeField() {
  std::vector<Message *> all = messages();
  Message &message = *any(all);
  const Reflection &reflection = *message.GetReflection();
  const FieldDescriptor &field = *message.GetDescriptor()->field(
      below(message.GetDescriptor()->field_count()));
  if (field.is_repeated() && isOneOf(3))
    return changeList(message, field);
  if (field.cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE)
    return changeScalar(message, field);
  if (isOneOf(4))
    return reflection.ClearField(&message, &field);
  if (!field.is_repeated())
    reflection.MutableMessage(&message, &field);
  else if (int size = reflection.FieldSize(message, &field))
    reflection.AddMessage(&message, &field)
        ->CopyFrom(reflection.GetRepeatedMessage(message, &field, below(size)));
  else
    reflection.AddMessage(&message, &field);
}

void Mutator::changeWiring() {
  if (!graph.node_size())
    return;
  proto::NodeProto &node = any(*graph.mutable_node());
  if (!node.input_size() || isOneOf(6))
    node.add_input(valueName());
  else if (isOneOf(6))
    node.mutable_input()->RemoveLast();
  else
    any(*node.mutable_input()) = valueName();
  if (isOneOf(6))
    node.add_output(node.name() + ".more");
}

/// Returns the names in the table of operators.
static std::vector<std::string> supportedOperators() {
  std::string table;
  llvm::raw_string_ostream stream(table);
  printOperatorTable(stream);
  llvm::SmallVector<llvm::StringRef> rows;
  llvm::StringRef(table).split(rows, '\n');
  std::vector<std::string> names;
  for (llvm::StringRef row : rows)
    if (row.consume_front("| ") && !row.starts_with("operator "))
      names.push_back(row.split(' ').first.str());
  return names;
}

void Mutator::changeOperator() {
  static const std::vector<std::string> operators = supportedOperators();
  if (graph.node_size())
    any(*graph.mutable_node()).set_op_type(any(operators));
}

/// The names of attributes that nodes get.
static const char *const kAttributes[] = {"axis",
                                          "axes",
                                          "perm",
                                          "to",
                                          "keepdims",
                                          "kernel_shape",
                                          "strides",
                                          "pads",
                                          "dilations",
                                          "group",
                                          "auto_pad",
                                          "ceil_mode",
                                          "mode",
                                          "alpha",
                                          "beta",
                                          "epsilon",
                                          "equation",
                                          "hidden_size",
                                          "direction",
                                          "num_outputs",
                                          "blocksize",
                                          "value",
                                          "value_int",
                                          "value_ints",
                                          "value_float",
                                          "scale",
                                          "is_causal",
                                          "q_num_heads",
                                          "kv_num_heads",
                                          "largest",
                                          "exclusive",
                                          "reverse",
                                          "upper",
                                          "k",
                                          "batch_dims",
                                          "transA",
                                          "transB",
                                          "allowzero",
                                          "fmod",
                                          "num_groups",
                                          "output_padding",
                                          "count_include_pad",
                                          "training_mode",
                                          "momentum",
                                          "linear_before_reset",
                                          "activations",
                                          "noop_with_empty_axes",
                                          "start",
                                          "coordinate_transformation_mode",
                                          "nearest_mode",
                                          "p",
                                          "softcap"};

void Mutator::changeAttribute() {
  if (!graph.node_size())
    return;
  proto::NodeProto &node = any(*graph.mutable_node());
  bool isNew = !node.attribute_size() || isOneOf(3);
  proto::AttributeProto &attribute =
      isNew ? *node.add_attribute() : any(*node.mutable_attribute());
  if (isNew) {
    attribute.set_name(any(kAttributes));
    static const proto::AttributeProto::AttributeType types[] = {
        proto::AttributeProto::INT, proto::AttributeProto::INTS,
        proto::AttributeProto::FLOAT, proto::AttributeProto::STRING};
    attribute.set_type(any(types));
  }
  switch (attribute.type()) {
  case proto::AttributeProto::INT:
    return attribute.set_i(number(attribute.i()));
  case proto::AttributeProto::FLOAT:
    return attribute.set_f(real(attribute.f()));
  case proto::AttributeProto::STRING:
    return attribute.set_s(text(attribute.s()));
  case proto::AttributeProto::INTS:
    if (!attribute.ints_size() || isOneOf(3))
      attribute.add_ints(number(0));
    else if (isOneOf(4))
      attribute.mutable_ints()->RemoveLast();
    else
      any(*attribute.mutable_ints()) = number(any(*attribute.mutable_ints()));
    return;
  default:
    return attribute.set_type(proto::AttributeProto::AttributeType(below(15)));
  }
}

static size_t bytesOf(int type) {
  switch (type) {
  case proto::TensorProto::FLOAT:
  case proto::TensorProto::INT32:
    return 4;
  case proto::TensorProto::FLOAT16:
  case proto::TensorProto::BFLOAT16:
    return 2;
  case proto::TensorProto::INT64:
  case proto::TensorProto::DOUBLE:
    return 8;
  default:
    return 1;
  }
}

/// Changes a tensor's type, shape or data, mostly so that they still fit.
void Mutator::changeTensor() {
  std::vector<proto::TensorProto *> tensors;
  for (Message *message : messages())
    if (message->GetDescriptor() == proto::TensorProto::descriptor())
      tensors.push_back(static_cast<proto::TensorProto *>(message));
  if (tensors.empty())
    return;
  proto::TensorProto &tensor = *any(tensors);
  static const int types[] = {1, 7, 6, 9, 10, 11, 16, 2, 3, 8, 12, 13, 17, 22};
  if (isOneOf(3))
    tensor.set_data_type(any(types));
  else if (tensor.dims_size() && !isOneOf(4))
    any(*tensor.mutable_dims()) = isOneOf(8) ? number(1) : below(9);
  else if (isOneOf(2))
    tensor.add_dims(below(4));
  else if (tensor.dims_size())
    tensor.mutable_dims()->RemoveLast();
  if (isOneOf(20)) {
    proto::StringStringEntryProto &entry = *tensor.add_external_data();
    static const char *const keys[] = {"location", "offset", "length"};
    entry.set_key(any(keys));
    entry.set_value(isOneOf(2) ? text("") : std::to_string(number(0)));
    tensor.set_data_location(proto::TensorProto::EXTERNAL);
    return;
  }
  size_t count = 1;
  for (int64_t dim : tensor.dims())
    count = dim >= 0 && dim < 10000 && count < 10000 ? count * dim : 0;
  std::string data = tensor.raw_data();
  data.resize(count * bytesOf(tensor.data_type()));
  if (isOneOf(3) && !data.empty())
    data[below(data.size())] = char(random());
  tensor.clear_float_data();
  tensor.clear_int64_data();
  tensor.clear_int32_data();
  tensor.clear_double_data();
  if (!isOneOf(20))
    tensor.set_raw_data(data);
}

/// Changes the type or the shape of an input or an output.
void Mutator::changeInput() {
  auto &list = isOneOf(3) ? *graph.mutable_output() : *graph.mutable_input();
  if (list.empty() || isOneOf(8)) {
    proto::ValueInfoProto &added = *list.Add();
    added.set_name(valueName());
    if (graph.input_size())
      *added.mutable_type() = any(*graph.mutable_input()).type();
    return;
  }
  auto &tensor = *any(list).mutable_type()->mutable_tensor_type();
  if (isOneOf(4))
    return tensor.set_elem_type(int(below(24)));
  auto &shape = *tensor.mutable_shape();
  auto &dim = !shape.dim_size() || isOneOf(4) ? *shape.add_dim()
                                              : any(*shape.mutable_dim());
  if (isOneOf(3))
    dim.set_dim_param(isOneOf(2) ? "batch" : text("n"));
  else
    dim.set_dim_value(isOneOf(4) ? number(2) : below(9));
}

/// Puts a node that does what another does before or behind it.
void Mutator::copyNode() {
  if (!graph.node_size() || graph.node_size() > 400)
    return;
  proto::NodeProto copy = any(*graph.mutable_node());
  for (std::string &output : *copy.mutable_output()) {
    std::string old = output;
    output += "." + std::to_string(random() % 1000);
    if (copy.input_size() && isOneOf(2))
      any(*copy.mutable_input()) = old;
    if (isOneOf(2) && graph.output_size())
      any(*graph.mutable_output()).set_name(output);
  }
  *graph.add_node() = copy;
}

void Mutator::changeVersion() {
  if (isOneOf(3) && model.opset_import_size())
    any(*model.mutable_opset_import()).set_version(13 + below(15));
  else
    model.set_ir_version((int64_t(random()) << kVersionBits) + 11);
}

void Mutator::run() {
  switch (below(12)) {
  case 0:
  case 1:
    return changeField();
  case 2:
  case 3:
    return changeWiring();
  case 4:
    return changeOperator();
  case 5:
  case 6:
    return changeAttribute();
  case 7:
  case 8:
    return changeTensor();
  case 9:
    return changeInput();
  case 10:
    return copyNode();
  default:
    return changeVersion();
  }
}

/// Takes nodes and initializers from another graph. They keep their names, so
/// that they read what has the same names here.
void Mutator::graft(const proto::GraphProto &other) {
  if (!other.node_size() || graph.node_size() > 400)
    return;
  int first = below(other.node_size());
  int count = std::min<int>(1 + below(8), other.node_size() - first);
  for (int i = first; i < first + count; ++i) {
    proto::NodeProto &node = *graph.add_node();
    node = other.node(i);
    if (node.input_size() && isOneOf(2))
      any(*node.mutable_input()) = valueName();
    for (const auto &tensor : other.initializer())
      for (const std::string &input : node.input())
        if (tensor.name() == input)
          *graph.add_initializer() = tensor;
  }
  if (graph.output_size() && graph.node().rbegin()->output_size())
    any(*graph.mutable_output()).set_name(graph.node().rbegin()->output(0));
}

void fuzz::mutate(proto::ModelProto &model, std::minstd_rand &random) {
  Mutator(model, random).run();
}

void fuzz::cross(proto::ModelProto &model, const proto::ModelProto &other,
                 std::minstd_rand &random) {
  Mutator(model, random).graft(other.graph());
}

/// Writes a model where it has room; returns its size, or 0.
static size_t store(const proto::ModelProto &model, uint8_t *data,
                    size_t most) {
  std::string text;
  if (!model.SerializePartialToString(&text) || text.size() > most)
    return 0;
  std::memcpy(data, text.data(), text.size());
  return text.size();
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size,
                                          size_t most, unsigned seed) {
  std::minstd_rand random(seed);
  proto::ModelProto model;
  if (random() % 16 && model.ParsePartialFromArray(data, size)) {
    for (unsigned i = 0, count = 1 + random() % 4; i < count; ++i)
      mutate(model, random);
    if (size_t stored = store(model, data, most))
      return stored;
  }
  return LLVMFuzzerMutate(data, size, most);
}

extern "C" size_t LLVMFuzzerCustomCrossOver(const uint8_t *data, size_t size,
                                            const uint8_t *other,
                                            size_t otherSize, uint8_t *result,
                                            size_t most, unsigned seed) {
  std::minstd_rand random(seed);
  proto::ModelProto model, second;
  if (!model.ParsePartialFromArray(data, size) ||
      !second.ParsePartialFromArray(other, otherSize))
    return 0;
  cross(model, second, random);
  return store(model, result, most);
}
