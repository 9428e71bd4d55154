// Module: a file with kernels, in any format: its code objects, their targets, and the choice for a
// device.
//
// It reads a code object; a Clang offload bundle, plain or compressed; offload packages; a host
// program, library or object with a section .hip_fatbin or .llvm.offloading, as hipcc and clang
// make them; an ar archive and a folder of any of these. A file can have several offload bundles,
// one for each translation unit, with different kernels; the code objects of one bundle are
// alternatives. Separate code objects, of packages and in an archive or folder, are alternatives if
// they have the same kernels.
//
// For host code and tools; not part of the ABI. Immutable: any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "hal/bundle_writer.h"
#include "hal/selection.h"
#include "hal/status.h"

namespace halyard {

enum class ModuleFormat : uint8_t {
  kCodeObject,
  kOffloadBundle,
  kOffloadPackage,
  kHostElf,
  kArchive,
  kFolder
};

// "code object", "offload bundle", …
const char* to_string(ModuleFormat format) noexcept;

// The limit for all decompressed bundles together, so that a small file cannot fill the memory:
// `always_decompressed_bytes` or, if that is more, `max_decompression_ratio` times the bytes of the
// file or files, but never more than `max_decompressed_bytes`. Bundles for a dozen targets, whose
// code is similar, decompress to 10 to 40 times their compressed size.
struct ModuleOptions {
  uint64_t max_decompressed_bytes = uint64_t{4} << 30;
  uint64_t always_decompressed_bytes = uint64_t{64} << 20;
  uint32_t max_decompression_ratio = 256;
};

// An offload bundle of a module.
struct ModuleBundle {
  std::string origin;  // "member \"a.o\", bundle at offset 4096"; empty if the file is one bundle
  uint64_t offset = 0;
  uint64_t size = 0;                       // bytes in the file
  std::optional<Compression> compression;  // none for a plain one
  uint32_t compressed_version = 0;         // of the compressed bundle's header, 1 to 3
  uint64_t decompressed_size = 0;          // bytes; 0 for a plain one
};

// A code object of a module, or other contents of a bundle.
struct ModuleVariant {
  std::string origin;            // its place in the module; empty for a plain code object
  std::string entry;             // its ID in the bundle; empty if it is not in one
  std::optional<size_t> bundle;  // index into bundles()
  // Of its first byte: in the file, in the folder's or archive's file, or in a decompressed
  // bundle.
  uint64_t offset = 0;
  std::span<const std::byte> bytes;
  VariantFacts facts;
};

class Module {
 public:
  // `data` must outlive the module. INVALID_ARGUMENT for an unknown format or a damaged file
  // (truncated, overlapping, wrong sizes), with the mistake and its offset; UNIMPLEMENTED for a
  // version or variant of a format that Halyard does not read; RESOURCE_EXHAUSTED for
  // compressed bundles that exceed the options' limits. Reads only the headers of the code
  // objects.
  static Result<Module> read(const void* data, size_t size, const ModuleOptions& options = {});
  // Reads the file or folder at `path`; messages name it. Also NOT_FOUND and other errors of
  // opening a file.
  static Result<Module> open(const std::string& path, const ModuleOptions& options = {});

  Module(Module&&) noexcept;
  Module& operator=(Module&&) noexcept;
  ~Module();

  ModuleFormat format() const noexcept;
  const std::vector<ModuleBundle>& bundles() const noexcept;
  const std::vector<ModuleVariant>& variants() const noexcept;
  // Files of the folder, or members of the archive, without a code object, and why.
  const std::vector<std::pair<std::string, std::string>>& ignored() const noexcept;

  // The variants that the device loads, as indices into variants(): from each bundle the one
  // that select_variant() prefers, and as many separate ones as are needed for all kernels,
  // preferred ones first. At least one; FAILED_PRECONDITION lists each variant and why it does
  // not fit.
  Result<std::vector<size_t>> choose(const LoaderFacts& loader) const;

  struct Contents;  // src/module_reader.h

 private:
  explicit Module(std::unique_ptr<const Contents> contents) noexcept;

  std::unique_ptr<const Contents> contents_;
};

// Whether `data` has a format that Module reads and a driver does not: any except a code object.
bool is_container(const void* data, size_t size) noexcept;

}  // namespace halyard
