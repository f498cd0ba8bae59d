// Numbers and arrays that are members of tar files, as sources of samples.
#pragma once

#include "gpuopt/data/dataset.h"
#include "gpuopt/data/json.h"
#include "gpuopt/data/records.h"

namespace gpuopt {

// Numbers in text: one integer, or what a field of a JSON object has.
class NumberSource : public DataSource {
public:
  // `field` names a member of the object, a.b one of an object in it; empty:
  // the text is an integer.
  NumberSource(std::shared_ptr<const Records> files, const TensorInfo &tensor,
               std::string field)
      : records(std::move(files)), field(std::move(field)) {
    path = records->path;
    type = is_fraction(tensor.type) ? Type::F64 : Type::I64;
    elements = detail::product(detail::sample_shape(tensor));
  }
  int64_t samples() const override { return records->count(); }
  std::string place(int64_t sample) const override {
    return records->place(sample);
  }
  void read(const SampleDraw &draw, uint8_t *to) const override {
    const Record record = records->open(draw.sample);
    const char *text = reinterpret_cast<const char *>(record.content.data);
    std::vector<double> values;
    if (field.empty()) {
      const int64_t whole = integer(text, record.content.bytes, draw.sample);
      if (type == Type::I64 && elements == 1)
        return void(memcpy(to, &whole, sizeof whole));
      values.push_back(double(whole));
    } else {
      read_field(text, record.content.bytes, draw.sample, values);
    }
    if (int64_t(values.size()) != elements)
      fail(draw.sample, "has " + std::to_string(values.size()) +
                            " numbers, but a sample needs " +
                            std::to_string(elements));
    for (const double value : values) {
      const int64_t whole =
          type == Type::I64 ? whole_of(value, draw.sample) : 0;
      memcpy(to, type == Type::I64 ? static_cast<const void *>(&whole) : &value,
             8);
      to += 8;
    }
  }

private:
  [[noreturn]] void fail(int64_t sample, const std::string &why) const {
    throw BadRecord(place(sample) + " " + why);
  }
  // Numbers of JSON are doubles, which are exact up to 2^53.
  int64_t whole_of(double value, int64_t sample) const {
    constexpr double kMostExact = 9007199254740992;
    if (!(value >= -kMostExact && value <= kMostExact))
      fail(sample, "has an integer beyond 2^53, where numbers of JSON are not "
                   "exact");
    if (value != double(int64_t(value)))
      fail(sample, "has a fraction, but the input needs integers");
    return int64_t(value);
  }
  int64_t integer(const char *from, size_t bytes, int64_t sample) const {
    const std::string text(from, std::min<size_t>(bytes, 64));
    char *end = nullptr;
    errno = 0;
    const long long value = strtoll(text.c_str(), &end, 10);
    if (errno == ERANGE)
      fail(sample, "is an integer of more than 64 bits");
    if (end == text.c_str() ||
        text.find_first_not_of(" \r\n\t", size_t(end - text.c_str())) !=
            std::string::npos)
      fail(sample, "is not an integer");
    return value;
  }
  void read_field(const char *text, size_t bytes, int64_t sample,
                  std::vector<double> &values) const {
    try {
      JsonParser parser(text, bytes,
                        "is not JSON with numbers under '" + field + "'");
      bool is_found = false;
      visit(parser, "", values, is_found);
      if (!is_found)
        parser.fail();
    } catch (const Error &problem) {
      fail(sample, problem.what());
    }
  }
  // Looks for the field in an object whose own name is `begin`.
  void visit(JsonParser &parser, const std::string &begin,
             std::vector<double> &values, bool &is_found) const {
    parser.object([&](const std::string &name) {
      const std::string whole = begin.empty() ? name : begin + "." + name;
      if (whole == field) {
        is_found = true;
        parser.numbers(values);
      } else if (field.compare(0, whole.size() + 1, whole + ".") == 0) {
        visit(parser, whole, values, is_found);
      } else {
        parser.skip();
      }
    });
  }

  std::shared_ptr<const Records> records;
  const std::string field;
};

// Arrays of NumPy's format, one for each sample.
class NpyMemberSource : public DataSource {
public:
  NpyMemberSource(std::shared_ptr<const Records> files,
                  const TensorInfo &tensor)
      : records(std::move(files)), shape(detail::sample_shape(tensor)) {
    path = records->path;
    elements = detail::product(shape);
    type = first_type(tensor.type);
  }
  int64_t samples() const override { return records->count(); }
  std::string place(int64_t sample) const override {
    return records->place(sample);
  }
  void read(const SampleDraw &draw, uint8_t *to) const override {
    const Record record = records->open(draw.sample);
    try {
      const NpyHeader header(record.content);
      if (header.shape != shape || header.type != type)
        throw Error(std::string("it holds ") + name_of(header.type) + " " +
                    shape_text(header.shape) + ", but a sample needs " +
                    name_of(type) + " " + shape_text(shape));
      if (record.content.bytes - header.begin < sample_bytes())
        throw Error("it is shorter than its header says");
      memcpy(to, record.content.data + header.begin, sample_bytes());
    } catch (const Error &problem) {
      throw BadRecord(place(draw.sample) + ": " + problem.what());
    }
  }

private:
  // Returns the type of the first array that can be read: those before it are
  // bad records, which the loader may skip.
  Type first_type(Type otherwise) const {
    for (int64_t sample = 0; sample < records->count(); sample++)
      try {
        return NpyHeader(records->open(sample).content).type;
      } catch (const Error &) {
        if (sample + 1 == records->count())
          throw;
      }
    return otherwise;
  }

  std::shared_ptr<const Records> records;
  const std::vector<int64_t> shape;
};

} // namespace gpuopt
