// Members of zip archives, as numpy.savez writes them: stored, or compressed by
// deflate. PKWARE's APPNOTE.TXT describes the format; archives and members of
// more than 4 GiB (zip64) are read, too.
#pragma once

#include "gpuopt/data/crc32.h"
#include "gpuopt/data/mapped_file.h"

#include <algorithm>
#include <map>
#include <vector>
#ifdef GPUOPT_HAS_ZLIB
#include <zlib.h>
#endif

namespace gpuopt {

struct ZipMember {
  std::string name;
  size_t header = 0; // of the member itself, in bytes from the file's start
  size_t packed_bytes = 0, bytes = 0;
  uint32_t crc = 0;
  bool is_deflated = false;
};

namespace detail {

// Numbers of zip archives are little-endian.
template <class T>
T little_endian(const uint8_t *from) {
  T value = 0;
  for (size_t i = sizeof(T); i-- > 0;)
    value = T(uint64_t(value) << 8 | from[i]);
  return value;
}

class ZipDirectory {
public:
  explicit ZipDirectory(const NamedBytes &file) : file(file) { find(); }

  std::map<std::string, ZipMember> members() const {
    constexpr size_t kEntryBytes = 46;
    std::map<std::string, ZipMember> members;
    for (size_t at = begin, i = 0; i < count; i++) {
      const uint8_t *entry = bytes(at, kEntryBytes);
      if (number<uint32_t>(entry) != 0x02014b50)
        fail("its directory is damaged");
      const size_t name_bytes = number<uint16_t>(entry + 28),
                   extra_bytes = number<uint16_t>(entry + 30);
      ZipMember member;
      member.name.assign(
          reinterpret_cast<const char *>(bytes(at + kEntryBytes, name_bytes)),
          name_bytes);
      const uint16_t flags = number<uint16_t>(entry + 8),
                     method = number<uint16_t>(entry + 10);
      if (flags & 1 || (method != 0 && method != 8))
        fail("'" + member.name +
             "' is encrypted or compressed by something else than deflate");
      member.is_deflated = method == 8;
      member.crc = number<uint32_t>(entry + 16);
      member.packed_bytes = number<uint32_t>(entry + 20);
      member.bytes = number<uint32_t>(entry + 24);
      member.header = number<uint32_t>(entry + 42);
      read_wide(member, at + kEntryBytes + name_bytes, extra_bytes);
      at +=
          kEntryBytes + name_bytes + extra_bytes + number<uint16_t>(entry + 32);
      members.emplace(member.name, member);
    }
    return members;
  }

  // Returns where the content of a member begins: behind a header of its own.
  const uint8_t *content(const ZipMember &member) const {
    constexpr size_t kHeaderBytes = 30;
    const uint8_t *header = bytes(member.header, kHeaderBytes);
    if (number<uint32_t>(header) != 0x04034b50)
      fail("'" + member.name + "' is damaged");
    return bytes(member.header + kHeaderBytes + number<uint16_t>(header + 26) +
                     number<uint16_t>(header + 28),
                 member.packed_bytes);
  }
  [[noreturn]] void fail(const std::string &why) const {
    throw Error("'" + file.path +
                "' is not a .npz file that can be read: " + why);
  }

private:
  template <class T>
  static T number(const uint8_t *from) {
    return little_endian<T>(from);
  }
  const uint8_t *bytes(size_t at, size_t size) const {
    if (at > file.bytes || size > file.bytes - at)
      fail("it is cut off");
    return file.data + at;
  }
  // The end of an archive says where its directory lies; a comment of up to
  // 65535 bytes may follow.
  void find() {
    constexpr size_t kEndBytes = 22, kLocatorBytes = 20;
    if (file.bytes < kEndBytes)
      fail("it does not end like one; numpy.savez writes them");
    const size_t first =
        file.bytes - std::min<size_t>(file.bytes, kEndBytes + 65535);
    size_t at = file.bytes - kEndBytes;
    while (number<uint32_t>(file.data + at) != 0x06054b50)
      if (at-- == first)
        fail("it does not end like one; numpy.savez writes them");
    count = number<uint16_t>(file.data + at + 10);
    begin = number<uint32_t>(file.data + at + 16);
    if (at < kLocatorBytes ||
        number<uint32_t>(file.data + at - kLocatorBytes) != 0x07064b50)
      return;
    const uint8_t *wide =
        bytes(number<uint64_t>(file.data + at - kLocatorBytes + 8), 56);
    count = number<uint64_t>(wide + 32);
    begin = number<uint64_t>(wide + 48);
  }
  // Reads the sizes that need more than 32 bits from an entry's extra fields.
  void read_wide(ZipMember &member, size_t at, size_t size) const {
    const uint8_t *field = bytes(at, size), *const end = field + size;
    while (end - field >= 4) {
      const uint16_t id = number<uint16_t>(field);
      const uint8_t *from = field + 4;
      field =
          from + std::min<ptrdiff_t>(number<uint16_t>(field + 2), end - from);
      if (id != 1)
        continue;
      for (size_t *value :
           {&member.bytes, &member.packed_bytes, &member.header})
        if (*value == 0xffffffff && field - from >= 8) {
          *value = number<uint64_t>(from);
          from += 8;
        }
    }
  }

  const NamedBytes &file;
  size_t count = 0, begin = 0;
};

} // namespace detail

// Returns the members of an archive by their names.
inline std::map<std::string, ZipMember>
read_zip_directory(const NamedBytes &file) {
  return detail::ZipDirectory(file).members();
}

// Returns the bytes of a member that is not compressed. Its sum is checked if
// it has at most 1 GiB: a larger member is mapped without being read through.
inline NamedBytes stored_bytes(const NamedBytes &file,
                               const ZipMember &member) {
  constexpr size_t kMostChecked = size_t(1) << 30;
  const detail::ZipDirectory directory(file);
  const uint8_t *content = directory.content(member);
  if (member.bytes != member.packed_bytes ||
      (member.bytes <= kMostChecked &&
       crc32(content, member.bytes) != member.crc))
    directory.fail("'" + member.name + "' is damaged");
  return {file.path + ":" + member.name, content, member.bytes};
}

// Unpacks a member that is compressed, and checks its sum.
inline std::vector<uint8_t> inflate_member(const NamedBytes &file,
                                           const ZipMember &member) {
  const detail::ZipDirectory directory(file);
#ifdef GPUOPT_HAS_ZLIB
  // Deflate makes nothing smaller than a 1032nd.
  if (member.bytes / 1032 > member.packed_bytes)
    directory.fail("'" + member.name + "' is damaged");
  const uint8_t *from = directory.content(member);
  std::vector<uint8_t> content(member.bytes);
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK)
    throw Error("zlib cannot be initialised");
  constexpr size_t kMost = size_t(1) << 30; // zlib counts with 32 bits
  size_t packed_left = member.packed_bytes, left = member.bytes;
  stream.next_in = const_cast<uint8_t *>(from);
  stream.next_out = content.data();
  int status = Z_OK;
  while (status == Z_OK && (left > 0 || packed_left > 0)) {
    const size_t in = std::min(packed_left, kMost), out = std::min(left, kMost);
    stream.avail_in = uInt(in);
    stream.avail_out = uInt(out);
    status = inflate(&stream, Z_NO_FLUSH);
    packed_left -= in - stream.avail_in;
    left -= out - stream.avail_out;
    if (in == stream.avail_in && out == stream.avail_out)
      break;
  }
  inflateEnd(&stream);
  if (left > 0 || crc32(content.data(), content.size()) != member.crc)
    directory.fail("'" + member.name + "' is damaged");
  return content;
#else
  directory.fail("'" + member.name +
                 "' is compressed, and zlib was not there when this program "
                 "was built: apt install zlib1g-dev, or save it by "
                 "numpy.savez, which does not compress");
#endif
}

} // namespace gpuopt
