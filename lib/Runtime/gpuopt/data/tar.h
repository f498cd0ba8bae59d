// Tar files of samples, as WebDataset has them: members whose names are alike
// up to the first dot are one sample, and what follows the dot says what a
// member is. Long names of GNU tar and of pax are read.
#pragma once

#include "gpuopt/data/mapped_file.h"

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <vector>

namespace gpuopt {

namespace detail {

// Visits the files of a tar file, in their order.
class TarWalker {
public:
  // Gets the name of a file, and where its content lies, in bytes.
  using Visit =
      std::function<void(const std::string &name, size_t begin, size_t bytes)>;

  TarWalker(const NamedBytes &file, const Visit &visit) : file(file) {
    while (!is_at_end())
      read_member(visit);
  }

private:
  static constexpr size_t kBlock = 512;

  [[noreturn]] void fail(const char *why) const {
    throw Error("'" + file.path + "' is not a tar file that can be read: " +
                why + ", at byte " + std::to_string(at));
  }
  // A block of zeros ends the members. Without it, those that were cut off
  // would be missed.
  bool is_at_end() const {
    if (file.bytes - at < kBlock)
      fail("it is cut off, since no block of zeros ends it");
    const uint8_t *block = file.data + at;
    return std::all_of(block, block + kBlock,
                       [](uint8_t byte) { return byte == 0; });
  }
  std::string text(size_t begin, size_t most) const {
    const auto *from = reinterpret_cast<const char *>(file.data) + begin;
    return {from, strnlen(from, most)};
  }
  // Reads octal digits or, of large files, a big-endian number.
  size_t number(size_t begin, size_t digits) const {
    size_t value = 0;
    if (file.data[begin] & 0x80) {
      for (size_t i = 1; i < digits; i++)
        value = value << 8 | file.data[begin + i];
      return value;
    }
    for (size_t i = 0; i < digits; i++) {
      const uint8_t digit = file.data[begin + i];
      if (digit >= '0' && digit <= '7')
        value = value * 8 + size_t(digit - '0');
      else if (digit != ' ')
        break;
    }
    return value;
  }
  void check_sum() const {
    constexpr size_t kBegin = 148, kDigits = 8;
    size_t sum = kDigits * ' ';
    for (size_t i = 0; i < kBlock; i++)
      if (i < kBegin || i >= kBegin + kDigits)
        sum += file.data[at + i];
    if (sum != number(at + kBegin, kDigits))
      fail("the header of a member is damaged");
  }
  // Reads "LENGTH KEY=VALUE\n" records.
  void read_pax(size_t begin, size_t bytes) {
    const std::string records(reinterpret_cast<const char *>(file.data) + begin,
                              bytes);
    for (size_t from = 0; from < records.size();) {
      const size_t length = strtoull(records.c_str() + from, nullptr, 10);
      const size_t key = records.find(' ', from) + 1,
                   equals = records.find('=', from);
      if (length == 0 || length > records.size() - from || key == 0 ||
          equals > from + length)
        fail("a pax header is damaged");
      const std::string name = records.substr(key, equals - key),
                        value = records.substr(equals + 1,
                                               from + length - equals - 2);
      if (name == "path")
        long_name = value;
      if (name == "size")
        long_size = value;
      from += length;
    }
  }
  void read_member(const Visit &visit) {
    check_sum();
    const char kind = char(file.data[at + 156]);
    const size_t begin = at + kBlock;
    size_t bytes = number(at + 124, 12);
    const bool is_file = kind == '0' || kind == 0 || kind == '7';
    if (is_file && !long_size.empty())
      bytes = strtoull(long_size.c_str(), nullptr, 10);
    if (bytes > file.bytes - begin)
      fail("a member is cut off");
    if (kind == 'x')
      read_pax(begin, bytes);
    else if (kind == 'L')
      long_name = text(begin, bytes);
    else if (kind != 'K' && kind != 'g') {
      if (is_file)
        visit(name(), begin, bytes);
      long_name.clear();
      long_size.clear();
    }
    at = std::min(file.bytes, begin + (bytes + kBlock - 1) / kBlock * kBlock);
  }
  std::string name() const {
    if (!long_name.empty())
      return long_name;
    const bool has_prefix = memcmp(file.data + at + 257, "ustar\0", 6) == 0;
    const std::string prefix = has_prefix ? text(at + 345, 155) : "";
    return (prefix.empty() ? "" : prefix + "/") + text(at, 100);
  }

  const NamedBytes &file;
  size_t at = 0;
  std::string long_name, long_size; // of the next member
};

} // namespace detail

// Where the content of a member lies.
struct TarMember {
  size_t begin = 0, bytes = 0, shard = 0;
};

// Splits a name at the first dot of its last part: "a/b.seg.png" is the sample
// "a/b" and the extension "seg.png". Returns false for names that belong to no
// sample.
inline bool split_member_name(const std::string &name, std::string &sample,
                              std::string &extension) {
  const size_t slash = name.rfind('/');
  const size_t begin = slash == std::string::npos ? 0 : slash + 1;
  const size_t dot = name.find('.', begin);
  if (dot == std::string::npos || dot == begin ||
      name.compare(begin, 2, "__") == 0)
    return false;
  sample = name.substr(0, dot);
  extension = name.substr(dot + 1);
  for (char &c : extension)
    c = c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c;
  return true;
}

// The samples of several tar files, in the order of the files. Each is read
// through once, when it is opened, and is mapped from then on.
class TarShards {
public:
  explicit TarShards(const std::vector<std::string> &paths) {
    for (const std::string &path : paths) {
      files.push_back(std::make_unique<MappedFile>(path));
      index(*files.back());
    }
    begins.push_back(members.size());
  }

  int64_t samples() const { return int64_t(begins.size()) - 1; }

  // Returns for each sample its member that has one of the extensions, of
  // several the first.
  std::vector<TarMember> column(const std::vector<std::string> &wanted) const {
    std::vector<TarMember> column;
    for (size_t sample = 0; sample + 1 < begins.size(); sample++) {
      const Member *found = nullptr;
      for (const std::string &extension : wanted)
        for (size_t i = begins[sample]; i < begins[sample + 1] && !found; i++)
          if (extensions[members[i].extension] == extension)
            found = &members[i];
      if (!found)
        refuse_missing(members[begins[sample]], wanted);
      column.push_back({found->begin, found->bytes, found->shard});
    }
    return column;
  }
  NamedBytes content(const TarMember &member) const {
    const MappedFile &file = *files[member.shard];
    return {file.path, file.data + member.begin, member.bytes};
  }
  // Returns the names of members. Reads through the files.
  std::vector<std::string> names(const std::vector<TarMember> &members) const {
    std::vector<std::map<size_t, std::string>> of_shards(files.size());
    for (size_t shard = 0; shard < files.size(); shard++)
      detail::TarWalker(*files[shard],
                        [&](const std::string &name, size_t begin, size_t) {
                          of_shards[shard][begin] = name;
                        });
    std::vector<std::string> names;
    for (const TarMember &member : members)
      names.push_back(of_shards[member.shard][member.begin]);
    return names;
  }
  // Returns the file, the name and the place of a member, for messages. Names
  // are not kept, so this reads through the file.
  std::string place(const TarMember &member) const {
    const MappedFile &file = *files[member.shard];
    std::string found;
    detail::TarWalker(file, [&](const std::string &name, size_t begin, size_t) {
      if (begin == member.begin)
        found = name;
    });
    return "'" + file.path + "', member '" + found + "' at byte " +
           std::to_string(member.begin);
  }

private:
  struct Member {
    size_t begin, bytes;
    uint32_t shard, extension; // numbers of files and of extensions
  };

  void index(const MappedFile &file) {
    std::string last;
    bool has_any = false;
    detail::TarWalker(
        file, [&](const std::string &name, size_t begin, size_t bytes) {
          std::string sample, extension;
          if (!split_member_name(name, sample, extension))
            return;
          if (!has_any || sample != last)
            begins.push_back(members.size());
          has_any = true;
          last = sample;
          members.push_back(
              {begin, bytes, uint32_t(files.size() - 1), number_of(extension)});
        });
    if (!has_any)
      throw Error("'" + file.path +
                  "' holds no samples: members of a sample "
                  "are named alike up to the first dot, as 0001.jpg and "
                  "0001.cls");
  }
  uint32_t number_of(const std::string &extension) {
    const auto [known, is_new] =
        numbers.try_emplace(extension, uint32_t(extensions.size()));
    if (is_new)
      extensions.push_back(extension);
    return known->second;
  }
  [[noreturn]] void
  refuse_missing(const Member &first,
                 const std::vector<std::string> &wanted) const {
    std::string list;
    for (const std::string &extension : wanted)
      list += (list.empty() ? "'" : "' or '") + extension;
    throw Error("the sample of " +
                place({first.begin, first.bytes, first.shard}) +
                " has no member " + list + "'");
  }

  std::vector<std::unique_ptr<MappedFile>> files;
  std::vector<Member> members;
  std::vector<size_t> begins; // of each sample's members; at last, their number
  std::vector<std::string> extensions;
  std::map<std::string, uint32_t> numbers; // of the extensions
};

} // namespace gpuopt
