// Reads columns of Parquet files through Apache Arrow. This is the only file
// that includes Arrow's headers, and -DGPUOPT_PARQUET=ON compiles it.
#include "gpuopt/data/parquet.h"

#include <arrow/api.h>
#include <arrow/io/file.h>
#include <parquet/arrow/reader.h>

namespace gpuopt {
namespace {

// The type of a list's elements, or of a column of numbers.
Type type_of(const arrow::DataType &type, const std::string &where) {
  switch (type.id()) {
  case arrow::Type::DOUBLE:
    return Type::F64;
  case arrow::Type::FLOAT:
    return Type::F32;
  case arrow::Type::HALF_FLOAT:
    return Type::F16;
  case arrow::Type::INT64:
    return Type::I64;
  case arrow::Type::INT32:
    return Type::I32;
  case arrow::Type::INT16:
    return Type::I16;
  case arrow::Type::INT8:
    return Type::I8;
  case arrow::Type::UINT64:
    return Type::U64;
  case arrow::Type::UINT32:
    return Type::U32;
  case arrow::Type::UINT16:
    return Type::U16;
  case arrow::Type::UINT8:
    return Type::U8;
  case arrow::Type::BOOL:
    return Type::Bool;
  default:
    throw Error(where + " holds " + type.ToString() +
                ", but only numbers and lists of numbers are read");
  }
}

// Appends the elements of a column's pieces, and finds the shape of a row.
class Column {
public:
  // What follows is of this file.
  void begin_file(const std::string &path) {
    file = path;
    rows_before = rows;
  }
  void append(const arrow::Array &piece) {
    append(piece, 0);
    rows += piece.length();
  }

  Type type = Type::F32;
  bool has_type = false;
  int64_t rows = 0;
  std::vector<int64_t> sizes; // of the lists in a row, from the outermost on
  std::vector<uint8_t> bytes;

private:
  std::string file;
  int64_t rows_before = 0; // those of the files before it

  // Returns the row of an element of a piece, whose lists are `depth` deep.
  std::string row(int64_t element, size_t depth) const {
    for (size_t i = 0; i < depth; i++)
      element /= std::max<int64_t>(sizes[i], 1);
    return "'" + file + "': row " +
           std::to_string(rows - rows_before + element);
  }
  void append(const arrow::Array &values, size_t depth) {
    if (values.null_count() > 0)
      for (int64_t i = 0; i < values.length(); i++)
        if (values.IsNull(i))
          throw Error(row(i, depth) + " lacks a value, which is null");
    switch (values.type_id()) {
    case arrow::Type::EXTENSION:
      return append(
          *static_cast<const arrow::ExtensionArray &>(values).storage(), depth);
    case arrow::Type::LIST:
      return append_lists(static_cast<const arrow::ListArray &>(values), depth);
    case arrow::Type::LARGE_LIST:
      return append_lists(static_cast<const arrow::LargeListArray &>(values),
                          depth);
    case arrow::Type::FIXED_SIZE_LIST:
      return append_lists(
          static_cast<const arrow::FixedSizeListArray &>(values), depth);
    default:
      append_numbers(values, depth);
    }
  }
  template <class Lists>
  void append_lists(const Lists &lists, size_t depth) {
    const int64_t count = lists.length();
    if (count == 0)
      return;
    if (sizes.size() == depth && !has_type)
      sizes.push_back(lists.value_length(0));
    expect_depth(depth < sizes.size());
    for (int64_t i = 0; i < count; i++)
      if (lists.value_length(i) != sizes[depth])
        throw Error(row(i, depth) + " has a list of " +
                    std::to_string(lists.value_length(i)) +
                    " elements, but those before it have " +
                    std::to_string(sizes[depth]) +
                    "; samples have one shape: pad or cut them before");
    append(*lists.values()->Slice(lists.value_offset(0), count * sizes[depth]),
           depth + 1);
  }
  void expect_depth(bool is_as_before) const {
    if (!is_as_before)
      throw Error("'" + file +
                  "' has lists of another depth than the files before it");
  }
  void append_numbers(const arrow::Array &values, size_t depth) {
    const Type found = type_of(*values.type(), "the column of '" + file + "'");
    expect_depth(depth == sizes.size());
    if (has_type && found != type)
      throw Error("the column of '" + file + "' holds " + name_of(found) +
                  ", but that of the files before it " + name_of(type));
    type = found;
    has_type = true;
    const int64_t count = values.length();
    if (type == Type::Bool) { // bits
      const auto &flags = static_cast<const arrow::BooleanArray &>(values);
      for (int64_t i = 0; i < count; i++)
        bytes.push_back(flags.Value(i));
      return;
    }
    const size_t size = size_of(type);
    const uint8_t *begin = values.data()->GetValues<uint8_t>(1, 0);
    if (count > 0)
      bytes.insert(bytes.end(), begin + size_t(values.offset()) * size,
                   begin + size_t(values.offset() + count) * size);
  }
};

void check(const arrow::Status &status, const std::string &file) {
  if (!status.ok())
    throw Error("cannot read '" + file + "': " + status.ToString());
}
template <class T>
T take(arrow::Result<T> result, const std::string &file) {
  check(result.status(), file);
  return std::move(result).ValueUnsafe();
}

int find_column(const arrow::Schema &schema, const std::string &name,
                const std::string &file) {
  const int index = schema.GetFieldIndex(name);
  if (index >= 0)
    return index;
  std::vector<std::pair<std::string, int>> columns;
  for (const auto &field : schema.fields())
    columns.emplace_back(field->name(), 0);
  throw Error("'" + file + "' has no column '" + name + "'" +
              detail::list_of_members(columns) + "; name one as " + file +
              ":NAME");
}

void read_file(const std::string &file, const std::string &name,
               Column &column) {
  column.begin_file(file);
  auto opened = take(arrow::io::ReadableFile::Open(file), file);
  auto reader = take(
      parquet::arrow::OpenFile(opened, arrow::default_memory_pool()), file);
  std::shared_ptr<arrow::Schema> schema;
  check(reader->GetSchema(&schema), file);
  const int index = find_column(*schema, name, file);
  for (int group = 0; group < reader->num_row_groups(); group++) {
    std::shared_ptr<arrow::ChunkedArray> pieces;
    check(reader->RowGroup(group)->Column(index)->Read(&pieces), file);
    for (const auto &piece : pieces->chunks())
      column.append(*piece);
  }
}

} // namespace

Array read_parquet_column(const std::vector<std::string> &files,
                          const std::string &column, const std::string &path) {
  Column content;
  for (const std::string &file : files)
    read_file(file, column, content);
  auto bytes = std::make_shared<std::vector<uint8_t>>(std::move(content.bytes));
  std::vector<int64_t> shape{content.rows};
  shape.insert(shape.end(), content.sizes.begin(), content.sizes.end());
  return {{path, bytes->data(), bytes->size()},
          content.type,
          std::move(shape),
          bytes};
}

} // namespace gpuopt
