// ROCm's device libraries: bitcode with the math functions (ocml), the builtins of OpenCL C
// (opencl), what both stand on (ockl), and constants that say how to compile (oclc).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hal/status.h"
#include "hal/target_id.h"
#include "toolchain/tools.h"

namespace halyard::toolchain {

// Whether the object file, assembly or bitcode calls functions of the device libraries or reads
// their constants: it then has such a name in it.
bool uses_device_libraries(std::span<const std::byte> object);

// The folder with ocml.bc: `chosen` (from --bitcode-dir), HALYARD_BITCODE_DIR, ROCm's or
// Debian's; empty if there is none. NOT_FOUND if the folder of `chosen` or the variable has no
// ocml.bc.
Result<std::string> find_device_libraries(const std::string& chosen, const SearchContext& context);

// The folder of ROCm's or Debian's packages below `root` ("": the system's); empty if there is
// none.
std::string usual_device_libraries(const std::string& root);

struct LibraryChoice {
  TargetId target;
  uint32_t code_object_version = 0;  // 4 to 6
  bool opencl = false;               // with the builtins of OpenCL C
};

// The files to link, of those that `exists` says the folder has. Not every release has the
// constants of every processor and version: for processors there is isa_version_ir(), and code that
// needs those of a version that is missing names them as an undefined symbol.
std::vector<std::string> device_library_files(
    const std::string& folder, const LibraryChoice& choice,
    const std::function<bool(const std::string&)>& exists);

// Whether the files have the constant by which the libraries tell processors apart.
bool has_isa_version(const std::vector<std::string>& files);
// LLVM IR with that constant: the processor's version as LLVM counts it, 9010 for gfx90a and 11000
// for gfx11-generic. The libraries compare it with the first of a generation, and with gfx90a's.
std::string isa_version_ir(std::string_view processor);

}  // namespace halyard::toolchain
