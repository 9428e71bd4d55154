#include "module_reader.h"

#include <elf.h>

#include <algorithm>
#include <string_view>

#include "archive.h"
#include "compressed_bundle.h"
#include "hal/code_object.h"
#include "hal/error.h"
#include "hal/text.h"
#include "host_elf.h"
#include "offload_bundle.h"
#include "offload_package.h"

namespace halyard::internal {
namespace {

bool is_bundle(const ByteRange& range) {
  return is_offload_bundle(range) || is_compressed_bundle(range) || is_offload_package(range);
}

bool is_elf(const ByteRange& range) {
  return range.text().starts_with(std::string_view(ELFMAG, SELFMAG));
}

// "a, b"; one of them may be empty.
std::string join(const std::string& a, const std::string& b) {
  return a.empty() || b.empty() ? a + b : a + ", " + b;
}

// The same failure, and where in the module it is.
Status at(const std::string& origin, const Status& status) {
  return origin.empty() || status.ok() ? status : status.with_context("In " + origin);
}

// The kind of bytes in place of a code object, as the second half of a sentence.
std::string describe_other(const ByteRange& range) {
  const std::string_view text = range.text();
  if (text.empty()) return "it is empty (0 bytes)";
  if (text.starts_with("BC\xc0\xde"))
    return "it is LLVM bitcode, which is not linked (hipcc -fgpu-rdc --hip-link links it)";
  if (text.starts_with(std::string_view("\x03\x02\x23\x07", 4))) return "it is SPIR-V";
  return "it is not an ELF file, so it is not a code object";
}

bool contradict(Feature a, Feature b) {
  return (a == Feature::kOn && b == Feature::kOff) || (a == Feature::kOff && b == Feature::kOn);
}

// A bundle or package that says something else than its code objects would have them run where they
// cannot.
Status check_entry(const ModuleVariant& variant, std::string_view said) {
  if (said.empty()) return {};
  const Result<TargetId> target = parse_target_id(said);
  if (!target.ok()) return {};
  const TargetId& built = variant.facts.target;
  if (target->processor == built.processor && !contradict(target->xnack, built.xnack) &&
      !contradict(target->sramecc, built.sramecc)) {
    return {};
  }
  return error(StatusCode::kInvalidArgument,
               "The entry says {}, and its code object at offset {} is built for {}.",
               printable(said), variant.offset, to_string(built));
}

// Where the next bundle begins: padding between them is zeros. `range.size` at the end.
Result<uint64_t> skip_padding(const ByteRange& range, uint64_t from) {
  const size_t next = range.text().find_first_not_of('\0', from);
  if (next == std::string_view::npos) return range.size;
  if (!is_bundle(range.from(next))) {
    return error(
        StatusCode::kInvalidArgument,
        "The bytes at offset {}, behind an offload bundle, are neither padding (zeros) nor "
        "the beginning of another bundle.",
        range.base + next);
  }
  return next;
}

}  // namespace

ModuleFormat module_format(const ByteRange& range) {
  if (is_offload_package(range)) return ModuleFormat::kOffloadPackage;
  if (is_bundle(range)) return ModuleFormat::kOffloadBundle;
  if (is_archive(range)) return ModuleFormat::kArchive;
  if (is_host_elf(range)) return ModuleFormat::kHostElf;
  return ModuleFormat::kCodeObject;
}

bool has_module_format(const ByteRange& range) {
  return is_bundle(range) || is_archive(range) || is_elf(range);
}

uint64_t ModuleReader::decompressed_left() const {
  const uint64_t ratio = options_.max_decompression_ratio;
  const uint64_t for_size =
      ratio != 0 && read_bytes_ > UINT64_MAX / ratio ? UINT64_MAX : read_bytes_ * ratio;
  const uint64_t limit = std::min(options_.max_decompressed_bytes,
                                  std::max(options_.always_decompressed_bytes, for_size));
  return limit - std::min(limit, decompressed_bytes_);
}

Status ModuleReader::add_file(const ByteRange& range) {
  read_bytes_ += range.size;
  contents_.format = module_format(range);
  switch (contents_.format) {
    case ModuleFormat::kOffloadBundle:
    case ModuleFormat::kOffloadPackage:
      return add_bundles("", true, range);
    case ModuleFormat::kArchive:
      return add_archive("", range);
    case ModuleFormat::kHostElf: {
      HALYARD_ASSIGN_OR_RETURN(const FatSections sections, find_fat_sections(range));
      for (const ByteRange& section : sections.contents) {
        HALYARD_RETURN_IF_ERROR(add_bundles("", false, section));
      }
      if (!contents_.bundles.empty() || !contents_.variants.empty()) return {};
      if (sections.is_unlinked) {
        return error(StatusCode::kInvalidArgument,
                     "It is an object of hipcc -fgpu-rdc -c, whose device code is not linked. Link "
                     "it, together with the objects that it calls (hipcc -fgpu-rdc --hip-link "
                     "FILE.o … -o PROGRAM), and give the result; or compile without -fgpu-rdc.");
      }
      return error(StatusCode::kInvalidArgument,
                   "It is a program, library or object for the host ({}) without kernels: it has "
                   "no section .hip_fatbin with an offload bundle. Give the kernels' code object, "
                   "or compile with hipcc.",
                   elf_machine_name(range.read<uint16_t>(offsetof(Elf64_Ehdr, e_machine))));
    }
    default:
      break;
  }
  // Unlike a part of something larger it has to be a good code object.
  HALYARD_RETURN_IF_ERROR(read_variant_facts(range.data, range.size).status());
  ModuleVariant variant;
  variant.bytes = range.bytes();
  return add_code_object(std::move(variant));
}

Status ModuleReader::add_folder_file(const std::string& name, const ByteRange& range) {
  read_bytes_ += range.size;
  return add_part(fmt::format("file \"{}\"", name), name, range);
}

Status ModuleReader::add_part(const std::string& origin, const std::string& name,
                              const ByteRange& range) {
  if (is_bundle(range)) return add_bundles(origin, false, range);
  if (is_host_elf(range)) {
    const Result<FatSections> sections = find_fat_sections(range);
    if (!sections.ok()) return at(origin, sections.status());
    for (const ByteRange& section : sections->contents) {
      HALYARD_RETURN_IF_ERROR(add_bundles(origin, false, section));
    }
    if (sections->contents.empty()) {
      contents_.ignored.emplace_back(
          name, sections->is_unlinked ? "it is compiled with -fgpu-rdc and not linked; hipcc "
                                        "-fgpu-rdc --hip-link links it"
                                      : "it is for the host and has no section .hip_fatbin");
    }
    return {};
  }
  if (is_elf(range)) {
    ModuleVariant variant;
    variant.origin = origin;
    variant.offset = range.base;
    variant.bytes = range.bytes();
    return add_code_object(std::move(variant));
  }
  if (is_archive(range) && contents_.format == ModuleFormat::kFolder) {
    return add_archive(origin, range);
  }
  contents_.ignored.emplace_back(name, describe_other(range));
  return {};
}

Status ModuleReader::add_archive(const std::string& origin, const ByteRange& range) {
  const Result<std::vector<ArchiveMember>> members = read_archive(range);
  if (!members.ok()) return at(origin, members.status());
  for (const ArchiveMember& member : *members) {
    const std::string name = printable(member.name);
    HALYARD_RETURN_IF_ERROR(
        add_part(join(origin, fmt::format("member \"{}\"", name)), name, member.bytes));
  }
  return {};
}

Status ModuleReader::add_bundles(const std::string& origin, bool is_alone, const ByteRange& range) {
  uint64_t next = 0;
  while (true) {
    const Result<uint64_t> begin = skip_padding(range, next);
    if (!begin.ok()) return at(origin, begin.status());
    if (*begin == range.size) return {};
    const ByteRange rest = range.from(*begin);
    uint64_t size = 0;
    if (is_offload_package(rest)) {
      HALYARD_RETURN_IF_ERROR(add_package(origin, rest, &size));
    } else {
      ModuleBundle bundle;
      bundle.offset = rest.base;
      const bool is_only = is_alone && *begin == 0;
      bundle.origin =
          is_only ? origin : join(origin, fmt::format("bundle at offset {}", bundle.offset));
      HALYARD_RETURN_IF_ERROR(is_compressed_bundle(rest)
                                  ? add_compressed_bundle(std::move(bundle), rest, &size)
                                  : add_plain_bundle(std::move(bundle), rest, &size));
    }
    next = *begin + size;
  }
}

// Its image is a code object by itself: no table says which packages are alternatives.
Status ModuleReader::add_package(const std::string& origin, const ByteRange& range,
                                 uint64_t* size) {
  const Result<OffloadPackage> package = read_offload_package(range);
  if (!package.ok()) return at(origin, package.status());
  *size = package->size;
  ModuleVariant variant;
  variant.entry =
      printable(fmt::format("{}-{}-{}", package->kind, package->triple, package->target));
  variant.origin =
      join(origin, fmt::format("package at offset {}, \"{}\"", range.base, variant.entry));
  variant.offset = package->image.base;
  variant.bytes = package->image.bytes();
  const bool is_amdgpu = package->triple.starts_with("amdgcn");
  if (is_amdgpu && is_elf(package->image)) {
    HALYARD_RETURN_IF_ERROR(add_code_object(std::move(variant)));
    const ModuleVariant& added = contents_.variants.back();
    if (!added.facts.problem.empty()) return {};
    return at(added.origin, check_entry(added, package->target));
  }
  variant.facts.problem = is_amdgpu ? describe_other(package->image) : "it is not for an AMD GPU";
  if (const Result<TargetId> target = parse_target_id(package->target); target.ok()) {
    variant.facts.target = *target;
  }
  contents_.variants.push_back(std::move(variant));
  return {};
}

Status ModuleReader::add_plain_bundle(ModuleBundle bundle, const ByteRange& range, uint64_t* size) {
  contents_.bundles.push_back(std::move(bundle));
  const size_t index = contents_.bundles.size() - 1;
  HALYARD_RETURN_IF_ERROR(add_entries(index, range, size));
  contents_.bundles[index].size = *size;
  return {};
}

Status ModuleReader::add_compressed_bundle(ModuleBundle bundle, const ByteRange& range,
                                           uint64_t* size) {
  Result<CompressedBundle> read = read_compressed_bundle(range, decompressed_left());
  if (!read.ok()) return at(bundle.origin, read.status());
  *size = read->size;
  decompressed_bytes_ += read->data_size;
  bundle.size = read->size;
  bundle.compression = read->compression;
  bundle.compressed_version = read->version;
  bundle.decompressed_size = read->data_size;
  bundle.origin = join(bundle.origin, "decompressed");

  const ByteRange inner = {read->data.get(), read->data_size, 0};
  contents_.decompressed.push_back(std::move(read->data));
  contents_.bundles.push_back(std::move(bundle));
  const std::string& origin = contents_.bundles.back().origin;
  if (!is_offload_bundle(inner)) {
    return at(origin,
              error(StatusCode::kInvalidArgument,
                    "The {} bytes are not an offload bundle: they do not begin with \"{}\".",
                    inner.size, kBundleMagic));
  }
  uint64_t inner_size = 0;
  HALYARD_RETURN_IF_ERROR(add_entries(contents_.bundles.size() - 1, inner, &inner_size));
  const Result<uint64_t> end = skip_padding(inner, inner_size);
  if (!end.ok()) return at(origin, end.status());
  if (*end == inner.size) return {};
  return at(origin,
            error(StatusCode::kInvalidArgument,
                  "The bytes at offset {} begin another bundle, where a compressed one holds "
                  "only one.",
                  *end));
}

Status ModuleReader::add_entries(size_t index, const ByteRange& range, uint64_t* size) {
  const std::string& origin = contents_.bundles[index].origin;
  const Result<OffloadBundle> bundle = read_offload_bundle(range);
  if (!bundle.ok()) return at(origin, bundle.status());
  *size = bundle->size;
  for (const BundleEntry& entry : bundle->entries) {
    const BundleEntryId id = parse_bundle_entry_id(entry.id);
    // Compilers put an empty one for the host in front.
    const bool is_host = id.kind == "host";
    if (is_host && entry.bytes.size == 0) continue;
    ModuleVariant variant;
    variant.entry = printable(entry.id);
    variant.origin = join(origin, fmt::format("entry \"{}\"", variant.entry));
    variant.bundle = index;
    variant.offset = entry.bytes.base;
    variant.bytes = entry.bytes.bytes();
    if (!is_host && is_elf(entry.bytes)) {
      HALYARD_RETURN_IF_ERROR(add_code_object(std::move(variant)));
      const ModuleVariant& added = contents_.variants.back();
      if (!added.facts.problem.empty()) continue;
      HALYARD_RETURN_IF_ERROR(at(added.origin, check_entry(added, id.target)));
      continue;
    }
    variant.facts.problem = is_host ? "it is for the host" : describe_other(entry.bytes);
    if (const Result<TargetId> target = parse_target_id(id.target); target.ok()) {
      variant.facts.target = *target;
    }
    contents_.variants.push_back(std::move(variant));
  }
  return {};
}

Status ModuleReader::add_code_object(ModuleVariant variant) {
  Result<VariantFacts> facts = read_variant_facts(variant.bytes.data(), variant.bytes.size());
  if (facts.ok()) {
    variant.facts = std::move(facts).value();
  } else if (facts.status().code() == StatusCode::kUnimplemented) {
    variant.facts.problem = facts.status().message().view();
  } else {
    return at(variant.origin, facts.status());
  }
  contents_.variants.push_back(std::move(variant));
  return {};
}

}  // namespace halyard::internal
