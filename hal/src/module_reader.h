// Fills a Module: finds out formats and takes containers apart.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "byte_range.h"
#include "hal/module.h"

namespace halyard {

struct Module::Contents {
  ModuleFormat format = ModuleFormat::kCodeObject;
  std::string name;  // for messages: the path; empty for bytes in memory
  std::vector<ModuleBundle> bundles;
  std::vector<ModuleVariant> variants;
  std::vector<std::pair<std::string, std::string>> ignored;
  // What the variants' bytes lie in, unless it is the caller's.
  std::vector<std::vector<std::byte>> files;
  std::vector<std::unique_ptr<std::byte[]>> decompressed;
};

namespace internal {

// The format by the first bytes; kCodeObject for all others.
ModuleFormat module_format(const ByteRange& range);

// Whether the bytes begin like something that has a place in a module.
bool has_module_format(const ByteRange& range);

class ModuleReader {
 public:
  ModuleReader(Module::Contents& contents, const ModuleOptions& options)
      : contents_(contents), options_(options) {}

  // A whole file, which is all there is in the module.
  Status add_file(const ByteRange& range);
  // A file of the folder; files without code are ignored.
  Status add_folder_file(const std::string& name, const ByteRange& range);

 private:
  // A file of the folder, or a member of an archive.
  Status add_part(const std::string& origin, const std::string& name, const ByteRange& range);
  Status add_archive(const std::string& origin, const ByteRange& range);
  Status add_bundles(const std::string& origin, bool is_alone, const ByteRange& range);
  Status add_package(const std::string& origin, const ByteRange& range, uint64_t* size);
  Status add_plain_bundle(ModuleBundle bundle, const ByteRange& range, uint64_t* size);
  Status add_compressed_bundle(ModuleBundle bundle, const ByteRange& range, uint64_t* size);
  Status add_entries(size_t bundle, const ByteRange& range, uint64_t* size);
  Status add_code_object(ModuleVariant variant);
  // How many bytes may still be decompressed.
  uint64_t decompressed_left() const;

  Module::Contents& contents_;
  ModuleOptions options_;
  uint64_t read_bytes_ = 0;          // of files
  uint64_t decompressed_bytes_ = 0;  // out of them
};

}  // namespace internal
}  // namespace halyard
