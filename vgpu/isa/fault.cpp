#include "vgpu/isa/fault.h"

#include <fmt/format.h>

namespace halyard::vgpu::isa {

Outcome fault_illegal(Wave& wave, const Instruction& instruction, const std::string& why) {
  wave.fault.kind = Fault::Kind::kIllegalInstruction;
  wave.fault.message = fmt::format("{} {}", name_of(instruction), why);
  return Outcome::kFault;
}

namespace {

Outcome fault_access(Wave& wave, const Instruction& instruction, uint64_t address, uint64_t size,
                     bool is_write, int lane, const std::string& where) {
  wave.fault.kind = Fault::Kind::kMemory;
  wave.fault.address = address;
  wave.fault.is_write = is_write;
  wave.fault.lane = lane;
  wave.fault.message =
      fmt::format("{} cannot {} {} byte{} at address 0x{:x}{}", name_of(instruction),
                  is_write ? "write" : "read", size, size == 1 ? "" : "s", address, where);
  return Outcome::kFault;
}

}  // namespace

Outcome fault_memory(Wave& wave, const Instruction& instruction, uint64_t address, uint64_t size,
                     bool is_write, int lane) {
  char where[256] = "";
  if (wave.memory) wave.memory->describe(address, where, sizeof where);
  return fault_access(wave, instruction, address, size, is_write, lane,
                      where[0] ? fmt::format(": {}", where) : "");
}

Outcome fault_private(Wave& wave, const Instruction& instruction, uint64_t offset, uint64_t size,
                      bool is_write, int lane) {
  return fault_access(wave, instruction, wave.apertures[2] | offset, size, is_write, lane,
                      fmt::format(": private offset {} of a segment of {} bytes", offset,
                                  wave.private_bytes_per_lane()));
}

void fault_unmapped(Wave& wave, const char* mnemonic, const HostFault& fault) {
  const uint64_t address = wave.memory->address_of_fault(fault.address);
  char where[256] = "";
  wave.memory->describe(address, where, sizeof where);
  wave.fault = {};
  wave.fault.kind = Fault::Kind::kMemory;
  wave.fault.address = address;
  wave.fault.is_write = fault.is_write;
  wave.fault.message = fmt::format(
      "{} cannot {} address 0x{:x}: the host has unmapped or protected that memory while the GPU "
      "may use it{}{}",
      mnemonic, fault.is_write ? "write" : "read", address, where[0] ? "; " : "", where);
}

}  // namespace halyard::vgpu::isa
