//===- ArenaFile.cpp - Reads and writes arena problems --------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Files.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringSet.h"

using namespace gpuopt;
using namespace gpuopt::solve;
using namespace gpuopt::planning;

/// Where each column is, or -1.
namespace {
struct Columns {
  int id = -1, lower = -1, upper = -1, size = -1, alignment = -1, offset = -1;
  size_t count = 0;
};
} // namespace

static Result<Columns> readHeader(llvm::StringRef line) {
  Columns columns;
  llvm::SmallVector<llvm::StringRef> names;
  line.split(names, ',');
  columns.count = names.size();
  std::pair<llvm::StringRef, int *> known[] = {
      {"id", &columns.id},
      {"lower", &columns.lower},
      {"upper", &columns.upper},
      {"size", &columns.size},
      {"alignment", &columns.alignment},
      {"offset", &columns.offset}};
  for (size_t i = 0; i < names.size(); ++i)
    for (auto [name, column] : known)
      if (names[i].trim() == name)
        *column = i;
  if (columns.id < 0 || columns.lower < 0 || columns.upper < 0 ||
      columns.size < 0)
    return Error{"expects a first line with id, lower, upper and size"};
  return columns;
}

static MaybeError readRow(llvm::StringRef line, const Columns &columns,
                          ArenaFile &arena) {
  llvm::SmallVector<llvm::StringRef> cells;
  line.split(cells, ',');
  if (cells.size() != columns.count)
    return Error{"expects " + std::to_string(columns.count) +
                 " columns, but got " + std::to_string(cells.size())};
  MaybeError error;
  auto number = [&](int column, int64_t fallback) {
    int64_t value = fallback;
    if (column >= 0 && cells[column].trim().getAsInteger(10, value))
      error = Error{"expects 64-bit integers, but got '" +
                    cells[column].trim().str() + "'"};
    return value;
  };
  Buffer buffer{number(columns.lower, 0), number(columns.upper, 0),
                number(columns.size, 0), number(columns.alignment, 1)};
  if (columns.offset >= 0)
    arena.offsets.push_back(number(columns.offset, 0));
  arena.ids.push_back(cells[columns.id].trim().str());
  arena.problem.buffers.push_back(buffer);
  return error;
}

Result<ArenaFile> solve::parseArena(llvm::StringRef contents) {
  ArenaFile arena;
  std::optional<Columns> columns;
  llvm::StringSet<> ids;
  for (int number = 1; !contents.empty(); ++number) {
    auto [line, rest] = contents.split('\n');
    contents = rest;
    if (line.trim().empty())
      continue;
    auto error = [&](const std::string &what) {
      return Error{"line " + std::to_string(number) + " " + what};
    };
    if (!columns) {
      Result<Columns> header = readHeader(line);
      if (!header)
        return error(header.error().message);
      columns = *header;
      continue;
    }
    if (MaybeError wrong = readRow(line, *columns, arena))
      return error(wrong->message);
    if (!ids.insert(arena.ids.back()).second)
      return error("repeats the id '" + arena.ids.back() + "'");
  }
  if (!columns)
    return Error{"is empty"};
  if (MaybeError wrong = arena.problem.check())
    return *wrong;
  return arena;
}

Result<ArenaFile> solve::readArena(llvm::StringRef path) {
  Result<std::string> contents = readFile(path);
  if (!contents)
    return contents.error();
  Result<ArenaFile> arena = parseArena(*contents);
  if (!arena)
    return Error{"'" + path.str() + "': " + arena.error().message};
  return arena;
}

std::string solve::printArena(const ArenaFile &arena) {
  std::string contents = "id,lower,upper,size,offset\n";
  for (size_t i = 0; i < arena.ids.size(); ++i) {
    const Buffer &buffer = arena.problem.buffers[i];
    contents += arena.ids[i];
    for (int64_t number :
         {buffer.lower, buffer.upper, buffer.sizeInBytes, arena.offsets[i]})
      contents += "," + std::to_string(number);
    contents += "\n";
  }
  return contents;
}

MaybeError solve::writeArena(llvm::StringRef path, const ArenaFile &arena) {
  return writeFile(path, printArena(arena));
}
