// Memory of the device, and host memory that is pinned. Host code cannot touch
// memory of the device, and nobody can touch the page after an allocation,
// whose size is rounded up to 256 bytes: both end the program with a message.
// The rounded part, and the memory before the allocation, are full of NaNs.
// Under AddressSanitizer, its report replaces the message.
#pragma once

#include <cstddef>
#include <map>
#include <string>

namespace gpuopt::emulation {

enum class MemoryKind { Device, Pinned };

struct Allocation {
  char *data = nullptr;
  size_t bytes = 0;
  MemoryKind kind = MemoryKind::Device;
  char *mapping = nullptr; // ends with a page that nobody may touch
  size_t mapped_bytes = 0;
};

class Memory {
public:
  Memory();

  // Returns memory that is full of NaNs, or null if the device has no room.
  void *allocate(MemoryKind kind, size_t bytes);
  // Returns whether there was such an allocation.
  bool release(MemoryKind kind, void *data);
  // Returns the allocation that an address lies in, or null.
  const Allocation *find(const void *address) const;
  // Returns the same, or the allocation whose last page the address is on.
  const Allocation *find_mapping(const void *address) const;

  // Lets the device's memory be touched while work of the device runs.
  void open();
  void close();

  // Lets other processes have so much of the device's memory.
  void set_bytes_of_others(size_t bytes) { bytes_of_others = bytes; }
  size_t free_bytes() const {
    return kDeviceBytes - device_bytes - bytes_of_others;
  }
  static constexpr size_t kDeviceBytes = size_t(16) << 30;

private:
  void protect(int protection);

  std::map<const char *, Allocation> by_start;
  size_t device_bytes = 0, bytes_of_others = 0;
};

// Throws a Fault unless [address, address + bytes) lies in one allocation of
// the device; `what` begins the message.
void expect_on_device(const Memory &memory, const void *address, size_t bytes,
                      const std::string &what);

} // namespace gpuopt::emulation
