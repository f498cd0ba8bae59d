// The header of NumPy's .npy files, versions 1 to 3.
#pragma once

#include "gpuopt/data/mapped_file.h"
#include "gpuopt/kernels/types.h"

#include <cstdlib>
#include <vector>

namespace gpuopt {

inline bool begins_like_npy(const NamedBytes &file) {
  return file.bytes >= 6 && memcmp(file.data, "\x93NUMPY", 6) == 0;
}

// Reads the header of a file, or of a member of one; throws an Error if there
// is none.
class NpyHeader {
public:
  explicit NpyHeader(const NamedBytes &file) : path(file.path) {
    if (file.bytes < 12 || !begins_like_npy(file))
      fail("it does not begin like one; numpy.save writes them");
    const bool wide = file.data[6] >= 2;
    const size_t length = wide ? file.data[8] | file.data[9] << 8 |
                                     size_t(file.data[10]) << 16 |
                                     size_t(file.data[11]) << 24
                               : size_t(file.data[8] | file.data[9] << 8);
    begin = (wide ? 12 : 10) + length;
    if (begin > file.bytes)
      fail("its header is cut off");
    text.assign(reinterpret_cast<const char *>(file.data) + (wide ? 12 : 10),
                length);
    type = parse_type(field("'descr':"));
    if (field("'fortran_order':").rfind("True", 0) == 0)
      fail("it is in Fortran order; save numpy.ascontiguousarray(array)");
    parse_shape(field("'shape':"));
  }

  Type type = Type::F32;
  std::vector<int64_t> shape;
  size_t begin = 0; // of the elements, in bytes

private:
  [[noreturn]] void fail(const std::string &why) const {
    throw Error("'" + path + "' is not a .npy file that can be read: " + why);
  }
  std::string field(const std::string &key) const {
    size_t at = text.find(key);
    if (at == std::string::npos)
      fail("its header lacks " + key);
    at = text.find_first_not_of(' ', at + key.size());
    return at == std::string::npos ? "" : text.substr(at);
  }
  void parse_shape(std::string sizes) {
    if (sizes.empty() || sizes[0] != '(')
      fail("its shape is no tuple");
    for (char *at = sizes.data() + 1; *at && *at != ')';) {
      char *end = at;
      const long long size = strtoll(at, &end, 10);
      if (end != at)
        shape.push_back(size);
      at = end == at ? at + 1 : end;
    }
  }
  // Parses "'<f4', ..." or, for several fields, "[('a', '<f4'), ...".
  Type parse_type(const std::string &descr) const {
    constexpr struct {
      const char *name;
      Type type;
    } types[] = {{"f8", Type::F64}, {"f4", Type::F32}, {"f2", Type::F16},
                 {"i8", Type::I64}, {"i4", Type::I32}, {"i2", Type::I16},
                 {"i1", Type::I8},  {"u8", Type::U64}, {"u4", Type::U32},
                 {"u2", Type::U16}, {"u1", Type::U8},  {"b1", Type::Bool}};
    const std::string name = descr.substr(0, descr.find('\'', 1) + 1);
    for (const auto &known : types)
      if (descr.size() >= 5 && descr.compare(2, 2, known.name) == 0) {
        if (descr[1] == '>')
          fail("type " + name + " is big-endian; save array.astype('<" +
               known.name + "')");
        return known.type;
      }
    fail("type " + name +
         " is not supported; save one of float64, float32, float16, int8 to "
         "int64, uint8 to uint32 or bool");
  }

  std::string path, text;
};

} // namespace gpuopt
