// --report-to tensorboard: an event file of the scalars of a run, which
// TensorBoard reads while it grows. It is a TFRecord file of Event messages
// (tensorflow/core/util/event.proto), written here in protobuf's wire format.
//
//   record   8 bytes: size of the message, 4: its checksum, the message, 4: its
//            checksum; numbers are little-endian, as all of our targets are
//   checksum CRC-32C, rotated and added to, as TFRecord masks it
#pragma once

#include "gpuopt/data/crc32.h"
#include "gpuopt/device/error.h"
#include "gpuopt/device/write_at.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gpuopt {

// The folder of event files below that of the results.
constexpr char kEventFolder[] = "tensorboard";
// The beginning of their names, by which TensorBoard knows them.
constexpr char kEventPrefix[] = "events.out.tfevents.";

namespace detail {

// Appends fields of a protobuf message.
class WireWriter {
public:
  void integer(unsigned field, uint64_t value) {
    varint(field << 3 | 0);
    varint(value);
  }
  void number(unsigned field, double value) {
    varint(field << 3 | 1);
    fixed(&value, sizeof value);
  }
  void number(unsigned field, float value) {
    varint(field << 3 | 5);
    fixed(&value, sizeof value);
  }
  // A text or a message.
  void bytes(unsigned field, std::string_view value) {
    varint(field << 3 | 2);
    varint(value.size());
    text += value;
  }

  std::string text;

private:
  void varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7)
      text += char(value | 0x80);
    text += char(value);
  }
  void fixed(const void *value, size_t size) {
    text.append(static_cast<const char *>(value), size);
  }
};

inline uint32_t masked_checksum(const void *data, size_t bytes) {
  const uint32_t crc = crc32c(static_cast<const uint8_t *>(data), bytes);
  return (crc >> 15 | crc << 17) + 0xa282ead8;
}

} // namespace detail

class EventFile {
public:
  using Scalars = std::vector<std::pair<std::string, double>>;

  // Begins a file in a folder. A run that begins after `begun_at` steps takes
  // the place of what earlier files of the folder have of later steps; one from
  // 0 on, that of an earlier run.
  EventFile(const std::string &output_dir, int64_t begun_at) {
    const std::string folder = output_dir + "/" + kEventFolder;
    char host[256] = "localhost";
    gethostname(host, sizeof host - 1);
    path = folder + "/" + kEventPrefix + std::to_string(int64_t(now())) + "." +
           host + "." + std::to_string(getpid()) + ".0";
    std::error_code code;
    std::filesystem::create_directories(folder, code);
    file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file < 0)
      throw Error("cannot write '" + path + "': " + strerror(errno));
    detail::WireWriter event = begin_event(0);
    event.bytes(3, "brain.Event:2"); // file_version
    write(event.text);
    restart(begun_at + 1);
  }
  ~EventFile() { close(file); }
  EventFile(const EventFile &) = delete;
  EventFile &operator=(const EventFile &) = delete;

  // A step's numbers, by tags such as "train/loss". A run goes on if the file
  // cannot be written.
  void add(int64_t step, const Scalars &scalars) {
    detail::WireWriter summary;
    for (const auto &[tag, number] : scalars) {
      detail::WireWriter value;
      value.bytes(1, tag);
      value.number(2, float(number)); // simple_value
      summary.bytes(1, value.text);
    }
    detail::WireWriter event = begin_event(step);
    event.bytes(5, summary.text);
    write(event.text);
  }

private:
  static double now() {
    return std::chrono::duration<double>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
  }
  static detail::WireWriter begin_event(int64_t step) {
    detail::WireWriter event;
    event.number(1, now()); // wall_time
    event.integer(2, uint64_t(step));
    return event;
  }
  // SessionLog with the status START: readers forget this step and later ones.
  void restart(int64_t step) {
    detail::WireWriter log, event = begin_event(step);
    log.integer(1, 1);
    event.bytes(7, log.text);
    write(event.text);
  }
  void write(const std::string &message) {
    const uint64_t size = message.size();
    const uint32_t of_size = detail::masked_checksum(&size, sizeof size),
                   of_message =
                       detail::masked_checksum(message.data(), message.size());
    std::string record(reinterpret_cast<const char *>(&size), sizeof size);
    record.append(reinterpret_cast<const char *>(&of_size), sizeof of_size);
    record += message;
    record.append(reinterpret_cast<const char *>(&of_message),
                  sizeof of_message);
    const std::string why = write_at(file, record, bytes);
    if (why.empty()) {
      bytes += off_t(record.size());
      return;
    }
    // The next record is written over what is left of this one.
    if (!has_warned)
      fprintf(stderr, "warning: '%s' lacks steps, and training goes on: %s\n",
              path.c_str(), why.c_str());
    has_warned = true;
  }

  std::string path;
  int file = -1;
  off_t bytes = 0; // of whole records
  bool has_warned = false;
};

} // namespace gpuopt
