#include "vgpu/kfd/host_mappings.h"

#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <memory>

namespace halyard::vgpu::kfd {

HostMapping find_readable_mapping(uint64_t address) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen("/proc/self/maps", "re"),
                                                             &std::fclose);
  if (file == nullptr) return {};
  char line[512];
  bool continues = false;  // a line that is longer than the buffer
  while (std::fgets(line, sizeof line, file.get()) != nullptr) {
    uint64_t begin = 0;
    uint64_t end = 0;
    char access = 0;
    const bool is_new = !continues;
    continues = std::strchr(line, '\n') == nullptr;
    if (!is_new || std::sscanf(line, "%" SCNx64 "-%" SCNx64 " %c", &begin, &end, &access) != 3)
      continue;
    if (begin > address) break;
    if (address < end) return access == 'r' ? HostMapping{begin, end} : HostMapping{};
  }
  return {};
}

}  // namespace halyard::vgpu::kfd
