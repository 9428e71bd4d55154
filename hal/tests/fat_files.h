// Fat files for the tests of modules: those in data/fat, and some that are put together here, for
// the layouts that no tool writes.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "code_objects.h"
#include "hal/bundle_writer.h"
#include "hal/module.h"

namespace halyard::testing {

inline std::span<const std::byte> bytes_of(const Bytes& bytes) {
  return std::as_bytes(std::span(bytes));
}
inline Bytes to_bytes(const std::vector<std::byte>& bytes) {
  const auto* begin = reinterpret_cast<const char*>(bytes.data());
  return Bytes(begin, begin + bytes.size());
}
inline Bytes to_bytes(const std::string& text) {
  return Bytes(text.begin(), text.end());
}
inline Bytes operator+(Bytes a, const Bytes& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// Of (ID, contents) pairs.
inline Bytes make_bundle(const std::vector<std::pair<std::string, Bytes>>& entries,
                         uint64_t alignment = 8) {
  std::vector<BundleInput> inputs;
  for (const auto& [id, bytes] : entries) inputs.push_back({id, bytes_of(bytes)});
  return to_bytes(write_bundle(inputs, alignment));
}

inline std::string hip(const std::string& target) {
  return "hipv4-amdgcn-amd-amdhsa--" + target;
}

inline Bytes compress(const Bytes& bundle, Compression compression) {
  return to_bytes(compress_bundle(bytes_of(bundle), compression).value());
}

// A compressed bundle of version 3 with an older header: version 1 does not say how long it is.
inline Bytes with_header_version(const Bytes& version3, uint16_t version) {
  Bytes bytes(version3.begin(), version3.begin() + 8);
  put<uint16_t>(bytes, 4, version);
  const auto append = [&bytes](auto value) {
    const auto* begin = reinterpret_cast<const char*>(&value);
    bytes.insert(bytes.end(), begin, begin + sizeof(value));
  };
  if (version == 2) append(static_cast<uint32_t>(version3.size() - 8));
  append(static_cast<uint32_t>(get<uint64_t>(version3, 16)));
  append(get<uint64_t>(version3, 24));
  bytes.insert(bytes.end(), version3.begin() + 32, version3.end());
  return bytes;
}

// As clang-offload-packager writes it. Offsets of the parts: the header at 0, the entry at 32, the
// table of strings at 72, the strings at 104.
inline Bytes offload_package(const std::string& triple, const std::string& target,
                             const Bytes& image, uint16_t offload_kind = 4) {
  const std::string strings = std::string("triple\0arch\0", 12) + triple + '\0' + target + '\0';
  constexpr uint64_t kStrings = 104;
  Bytes bytes(kStrings);
  const uint64_t at = (kStrings + strings.size() + 7) & ~uint64_t{7};
  std::memcpy(bytes.data(), "\x10\xff\x10\xad", 4);
  put<uint32_t>(bytes, 4, 1);
  put<uint64_t>(bytes, 8, (at + image.size() + 7) & ~uint64_t{7});
  put<uint64_t>(bytes, 16, 32);
  put<uint64_t>(bytes, 24, 40);
  put<uint16_t>(bytes, 34, offload_kind);
  put<uint64_t>(bytes, 40, 72);
  put<uint64_t>(bytes, 48, 2);
  put<uint64_t>(bytes, 56, at);
  put<uint64_t>(bytes, 64, image.size());
  put<uint64_t>(bytes, 72, kStrings);
  put<uint64_t>(bytes, 80, kStrings + 12);
  put<uint64_t>(bytes, 88, kStrings + 7);
  put<uint64_t>(bytes, 96, kStrings + 12 + triple.size() + 1);
  bytes = std::move(bytes) + to_bytes(strings);
  bytes.resize(at);
  bytes = std::move(bytes) + image;
  bytes.resize((bytes.size() + 7) & ~size_t{7});
  return bytes;
}

// One header and its contents, padded to an even size.
inline Bytes archive_member(const std::string& name, const Bytes& contents) {
  char header[61];
  std::snprintf(header, sizeof(header), "%-16s%-12d%-6d%-6d%-8d%-10zu`\n", name.c_str(), 0, 0, 0,
                644, contents.size());
  Bytes bytes(header, header + 60);
  bytes = bytes + contents;
  if (bytes.size() % 2 != 0) bytes.push_back('\n');
  return bytes;
}
inline Bytes archive_of(const std::vector<Bytes>& members) {
  Bytes bytes = to_bytes("!<arch>\n");
  for (const Bytes& member : members) bytes = bytes + member;
  return bytes;
}

// A 64-bit ELF for x86-64 with nothing in it but sections of these names and contents.
inline Bytes host_elf(const std::vector<std::pair<std::string, Bytes>>& sections) {
  Bytes file(sizeof(Elf64_Ehdr));
  std::string names(1, '\0');
  std::vector<Elf64_Shdr> headers(1);
  for (const auto& [name, contents] : sections) {
    file.resize((file.size() + 15) & ~size_t{15});
    Elf64_Shdr header = {};
    header.sh_name = static_cast<Elf64_Word>(names.size());
    header.sh_type = SHT_PROGBITS;
    header.sh_offset = file.size();
    header.sh_size = contents.size();
    headers.push_back(header);
    names += name + '\0';
    file = std::move(file) + contents;
  }
  Elf64_Shdr table = {};
  table.sh_type = SHT_STRTAB;
  table.sh_offset = file.size();
  table.sh_size = names.size();
  headers.push_back(table);
  file = std::move(file) + to_bytes(names);
  file.resize((file.size() + 7) & ~size_t{7});

  Elf64_Ehdr elf = {};
  std::memcpy(elf.e_ident, ELFMAG, SELFMAG);
  elf.e_ident[EI_CLASS] = ELFCLASS64;
  elf.e_ident[EI_DATA] = ELFDATA2LSB;
  elf.e_machine = EM_X86_64;
  elf.e_type = ET_REL;
  elf.e_shoff = file.size();
  elf.e_shentsize = sizeof(Elf64_Shdr);
  elf.e_shnum = static_cast<Elf64_Half>(headers.size());
  elf.e_shstrndx = static_cast<Elf64_Half>(headers.size() - 1);
  put(file, 0, elf);
  for (const Elf64_Shdr& header : headers) {
    const auto* begin = reinterpret_cast<const char*>(&header);
    file.insert(file.end(), begin, begin + sizeof(header));
  }
  return file;
}

// The module in `bytes`, which outlive it.
inline Module module_of(const Bytes& bytes) {
  Result<Module> module = Module::read(bytes.data(), bytes.size());
  if (!module.ok()) throw std::runtime_error(module.status().to_string());
  return std::move(module).value();
}

// The origins of what a device loads, or the error.
inline std::vector<std::string> chosen(const Module& module, const std::string& device) {
  const auto indices = module.choose({.device = *parse_target_id(device)});
  if (!indices.ok()) return {indices.status().to_string()};
  std::vector<std::string> origins;
  for (const size_t i : *indices) origins.push_back(module.variants()[i].origin);
  return origins;
}

// Reading fails with the code, and the message has all the parts.
inline void expect_module_error(const Bytes& bytes, StatusCode code,
                                const std::vector<std::string>& says,
                                const ModuleOptions& options = {}) {
  const Result<Module> module = Module::read(bytes.data(), bytes.size(), options);
  ASSERT_FALSE(module.ok());
  EXPECT_EQ(module.status().code(), code) << module.status().to_string();
  for (const std::string& part : says) {
    EXPECT_THAT(std::string(module.status().message().view()), ::testing::HasSubstr(part));
  }
}

}  // namespace halyard::testing
