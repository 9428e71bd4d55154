#include "hal/presentation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "code_objects.h"

namespace halyard {
namespace {

using testing::Bytes;
using testing::read_data;

TargetId device(std::string_view text) {
  return *parse_target_id(text);
}

Bytes present(const Bytes& bytes, uint32_t version, std::string_view target) {
  const auto result = present_code_object(bytes.data(), bytes.size(), version, device(target));
  EXPECT_TRUE(result.ok()) << result.status().to_string();
  if (!result.ok()) return {};
  const auto* begin = reinterpret_cast<const char*>(result->data());
  return Bytes(begin, begin + result->size());
}

CodeObject parse(const Bytes& bytes) {
  auto object = CodeObject::read(bytes.data(), bytes.size());
  EXPECT_TRUE(object.ok()) << object.status().to_string();
  return std::move(object).value();
}

size_t differences(const Bytes& a, const Bytes& b) {
  size_t count = 0;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) count += a[i] != b[i];
  return count;
}

// The same kernels, arguments and descriptors.
void expect_same_kernels(const CodeObject& a, const CodeObject& b) {
  ASSERT_EQ(a.kernels().size(), b.kernels().size());
  for (size_t i = 0; i < a.kernels().size(); ++i) {
    const KernelInfo& x = a.kernels()[i];
    const KernelInfo& y = b.kernels()[i];
    EXPECT_EQ(x.function.name.view(), y.function.name.view());
    EXPECT_EQ(x.descriptor_offset, y.descriptor_offset);
    EXPECT_EQ(x.function.kernarg_size, y.function.kernarg_size);
    ASSERT_EQ(x.function.arguments.size(), y.function.arguments.size());
    ASSERT_EQ(x.function.hidden.size(), y.function.hidden.size());
    for (size_t j = 0; j < x.function.hidden.size(); ++j) {
      EXPECT_EQ(x.function.hidden[j].kind, y.function.hidden[j].kind);
      EXPECT_EQ(x.function.hidden[j].offset, y.function.hidden[j].offset);
    }
  }
}

TEST(Presentation, IsNeededOnlyForNewerVersions) {
  EXPECT_FALSE(needs_presentation(parse(read_data("v5.hsaco")), 5));
  EXPECT_TRUE(needs_presentation(parse(read_data("v6.hsaco")), 5));
  EXPECT_FALSE(needs_presentation(parse(read_data("v6.hsaco")), 6));
  EXPECT_TRUE(needs_presentation(parse(read_data("v5.hsaco")), 4));
}

TEST(Presentation, LeavesAnOldEnoughObjectAlone) {
  const Bytes bytes = read_data("v5.hsaco");
  EXPECT_EQ(present(bytes, 5, "gfx900:xnack-"), bytes);
}

// The compiler's own version 5 of the same source is the reference.
TEST(Presentation, OfAnExactTargetIsWhatTheCompilerWritesForVersion5) {
  const Bytes presented = present(read_data("v6.hsaco"), 5, "gfx900:xnack-");
  EXPECT_EQ(presented, read_data("v5.hsaco"));
}

TEST(Presentation, OfAGenericTargetNamesTheExactOne) {
  const Bytes original = read_data("gfx9-generic.hsaco");
  const Bytes presented = present(original, 5, "gfx900:xnack-");
  ASSERT_EQ(presented.size(), original.size());
  const CodeObject object = parse(presented);
  EXPECT_EQ(object.version(), 5u);
  EXPECT_EQ(object.target_name(), "gfx900");
  EXPECT_EQ(object.elf_flags(), 0x12cu);  // what clang writes for gfx900
  EXPECT_EQ(object.generic_version(), 0u);
  EXPECT_EQ(object.metadata_target(), "amdgcn-amd-amdhsa--gfx900");
  expect_same_kernels(object, parse(original));
}

TEST(Presentation, AddsFeaturesThatTheGenericTargetHasNot) {
  const CodeObject object = parse(present(read_data("gfx9-generic.hsaco"), 5, "gfx906"));
  EXPECT_EQ(object.target_name(), "gfx906");
  EXPECT_EQ(object.target().sramecc, Feature::kAny);
  EXPECT_EQ(object.elf_flags(), 0x52fu);  // what clang writes for gfx906
}

TEST(Presentation, KeepsTheCodesOwnFeatures) {
  const CodeObject object =
      parse(present(read_data("gfx9-4-generic-features.hsaco"), 5, "gfx942:sramecc+:xnack-"));
  EXPECT_EQ(object.target_name(), "gfx942:sramecc+:xnack-");
  EXPECT_EQ(object.metadata_target(), "amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-");
}

TEST(Presentation, AsVersion4) {
  EXPECT_EQ(parse(present(read_data("gfx9-generic.hsaco"), 4, "gfx902")).version(), 4u);
  EXPECT_EQ(parse(present(read_data("v5.hsaco"), 4, "gfx900")).version(), 4u);
}

// Only the header, the note and the two headers that give the note's size are touched.
TEST(Presentation, TouchesNothingElse) {
  const Bytes original = read_data("gfx9-generic.hsaco");
  const Bytes presented = present(original, 5, "gfx900");
  const auto header = testing::get<Elf64_Ehdr>(original, 0);
  size_t note_begin = 0;
  size_t note_end = 0;
  for (int i = 0; i < header.e_phnum; ++i) {
    const auto segment =
        testing::get<Elf64_Phdr>(original, header.e_phoff + i * sizeof(Elf64_Phdr));
    if (segment.p_type != PT_NOTE) continue;
    note_begin = segment.p_offset;
    note_end = segment.p_offset + segment.p_filesz;
  }
  for (size_t i = 0; i < original.size(); ++i) {
    const bool elf_header = i < sizeof(Elf64_Ehdr);
    const bool note = i >= note_begin && i < note_end;
    const bool headers =
        (i >= header.e_phoff && i < header.e_phoff + header.e_phnum * 56) || i >= header.e_shoff;
    if (elf_header || note || headers) continue;
    ASSERT_EQ(original[i], presented[i]) << i;
  }
  EXPECT_GT(differences(original, presented), 3u);
}

// The metadata's target may also grow: a file whose metadata says less than its header.
TEST(Presentation, MovesANoteThatGrows) {
  Bytes bytes = read_data("gfx9-4-generic-features.hsaco");
  // "amdgcn-amd-amdhsa--gfx9-4-generic:sramecc+:xnack-" becomes a shorter string and an unused key.
  const std::string old = "amdgcn-amd-amdhsa--gfx9-4-generic:sramecc+:xnack-";
  const size_t at = testing::find(bytes, old);
  ASSERT_EQ(static_cast<unsigned char>(bytes[at - 2]), 0xd9);
  // The pair (amdhsa.target, string of 49) becomes (amdhsa.target, "--"); the bytes that are left
  // over go into the value of the next pair's new first key, so the map has one pair more.
  const size_t root = testing::find(bytes, "AMDGPU") + 8;
  ++bytes[root];                            // fixmap of one pair more
  bytes[at - 2] = static_cast<char>(0xa2);  // fixstr 2: "--"
  bytes[at - 1] = '-';
  bytes[at] = '-';
  bytes[at + 1] = static_cast<char>(0xa1);  // key "x"
  bytes[at + 2] = 'x';
  bytes[at + 3] = static_cast<char>(0xd9);  // value: a string of what is left
  bytes[at + 4] = static_cast<char>(old.size() - 5);
  ASSERT_EQ(parse(bytes).metadata_target(), "--");

  const Bytes presented = present(bytes, 5, "gfx942:sramecc+:xnack-");
  EXPECT_GT(presented.size(), bytes.size());
  const CodeObject object = parse(presented);
  EXPECT_EQ(object.metadata_target(), "--gfx942:sramecc+:xnack-");
  expect_same_kernels(object, parse(bytes));
}

TEST(Presentation, RefusesADeviceThatCannotRunIt) {
  const Bytes bytes = read_data("gfx9-generic.hsaco");
  const auto result =
      present_code_object(bytes.data(), bytes.size(), 5, device("gfx90a:sramecc+:xnack-"));
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.status().code(), StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(result.status().message().view()),
              ::testing::HasSubstr("but not gfx90a"));
  EXPECT_EQ(present_code_object(bytes.data(), bytes.size(), 3, device("gfx900")).status().code(),
            StatusCode::kInvalidArgument);
  EXPECT_FALSE(present_code_object(bytes.data(), 100, 5, device("gfx900")).ok());
}

TEST(OpaqueArguments, AreOneValueOverTheWholeSegment) {
  const Bytes original = read_data("v5.hsaco");
  const auto opaque = present_opaque_arguments(original.data(), original.size(), 4096);
  ASSERT_TRUE(opaque.ok()) << opaque.status().to_string();
  const CodeObject before = parse(original);
  const auto* begin = reinterpret_cast<const char*>(opaque->data());
  const CodeObject after = parse(Bytes(begin, begin + opaque->size()));
  ASSERT_EQ(after.kernels().size(), before.kernels().size());
  for (size_t i = 0; i < after.kernels().size(); ++i) {
    const FunctionInfo& kernel = after.kernels()[i].function;
    EXPECT_EQ(kernel.name.view(), before.kernels()[i].function.name.view());
    EXPECT_EQ(kernel.kernarg_size, before.kernels()[i].function.kernarg_size);
    uint32_t end = 0;
    for (const ArgumentInfo& argument : kernel.arguments) {
      EXPECT_EQ(argument.kind, ArgumentKind::kValue);
      EXPECT_EQ(argument.offset, end);
      end = argument.offset + argument.size;
    }
    EXPECT_EQ(end, kernel.kernarg_size);
  }
}

TEST(OpaqueArguments, LeaveTheQueuesAddressToTheRuntime) {
  const Bytes original = read_data("unoptimized.hsaco");
  const auto opaque = present_opaque_arguments(original.data(), original.size(), 4096);
  ASSERT_TRUE(opaque.ok()) << opaque.status().to_string();
  const auto* begin = reinterpret_cast<const char*>(opaque->data());
  const CodeObject after = parse(Bytes(begin, begin + opaque->size()));
  const CodeObject before = parse(original);
  for (size_t i = 0; i < after.kernels().size(); ++i) {
    for (const ArgumentInfo& hidden : after.kernels()[i].function.hidden) {
      EXPECT_THAT(hidden.kind,
                  ::testing::AnyOf(ArgumentKind::kHiddenQueuePtr, ArgumentKind::kHiddenPrivateBase,
                                   ArgumentKind::kHiddenSharedBase));
    }
    EXPECT_LE(after.kernels()[i].function.hidden.size(),
              before.kernels()[i].function.hidden.size());
  }
}

// The driver runs init kernels itself, and HIP would refuse the module for a kernel without a
// descriptor.
TEST(OpaqueArguments, LeaveNoKernelThatHipWouldRunOrMiss) {
  Bytes original = read_data("start.hsaco");
  const auto opaque = present_opaque_arguments(original.data(), original.size(), 4096);
  ASSERT_TRUE(opaque.ok()) << opaque.status().to_string();
  const auto* begin = reinterpret_cast<const char*>(opaque->data());
  const CodeObject after = parse(Bytes(begin, begin + opaque->size()));
  EXPECT_EQ(after.kernels().size(), 3u);
  for (const KernelInfo& kernel : after.kernels()) EXPECT_EQ(kernel.kind, KernelKind::kNormal);

  testing::replace(original, "\xadread_built.kd", "\xadread_bui_t.kd");
  const auto fewer = present_opaque_arguments(original.data(), original.size(), 4096);
  ASSERT_TRUE(fewer.ok()) << fewer.status().to_string();
  begin = reinterpret_cast<const char*>(fewer->data());
  EXPECT_EQ(parse(Bytes(begin, begin + fewer->size())).kernels().size(), 2u);
}

// direct.hsaco is made by direct.py.
TEST(OpaqueArguments, ComeWithDynamicSymbols) {
  const Bytes original = read_data("direct.hsaco");
  const auto sections_of = [](const Bytes& bytes) {
    const auto header = testing::get<Elf64_Ehdr>(bytes, 0);
    std::vector<Elf64_Shdr> sections;
    for (int i = 0; i < header.e_shnum; ++i)
      sections.push_back(testing::get<Elf64_Shdr>(bytes, header.e_shoff + i * sizeof(Elf64_Shdr)));
    return sections;
  };
  const auto has_type = [](uint32_t type) {
    return [type](const Elf64_Shdr& section) { return section.sh_type == type; };
  };
  const auto before = sections_of(original);
  ASSERT_EQ(std::count_if(before.begin(), before.end(), has_type(SHT_DYNSYM)), 0);
  const auto opaque = present_opaque_arguments(original.data(), original.size(), 4096);
  ASSERT_TRUE(opaque.ok()) << opaque.status().to_string();
  const auto* begin = reinterpret_cast<const char*>(opaque->data());
  const Bytes after(begin, begin + opaque->size());
  const auto sections = sections_of(after);
  ASSERT_EQ(sections.size(), before.size() + 2);
  const Elf64_Shdr& table = *std::find_if(sections.begin(), sections.end(), has_type(SHT_DYNSYM));
  ASSERT_LT(table.sh_link, sections.size());
  const Elf64_Shdr& strings = sections[table.sh_link];
  EXPECT_EQ(strings.sh_type, Elf64_Word{SHT_STRTAB});
  std::vector<std::string> names;
  for (uint64_t at = 0; at < table.sh_size; at += sizeof(Elf64_Sym)) {
    const auto symbol = testing::get<Elf64_Sym>(after, table.sh_offset + at);
    ASSERT_LT(symbol.st_name, strings.sh_size);
    names.emplace_back(after.data() + strings.sh_offset + symbol.st_name);
  }
  EXPECT_THAT(names, ::testing::ElementsAre("", "small", "small.kd"));
  // A file with such symbols gets no second table.
  const Bytes usual = read_data("v5.hsaco");
  const auto same = present_opaque_arguments(usual.data(), usual.size(), 4096);
  ASSERT_TRUE(same.ok());
  begin = reinterpret_cast<const char*>(same->data());
  EXPECT_EQ(sections_of(Bytes(begin, begin + same->size())).size(), sections_of(usual).size());
}

// HIP parses what it finds in the metadata and trusts it.
TEST(OpaqueArguments, ComeWithNothingThatHasNotBeenRead) {
  Bytes original = read_data("named.hsaco");
  ASSERT_NO_THROW(testing::find(original, ".language"));
  const auto opaque = present_opaque_arguments(original.data(), original.size(), 4096);
  ASSERT_TRUE(opaque.ok()) << opaque.status().to_string();
  const auto* begin = reinterpret_cast<const char*>(opaque->data());
  const Bytes after(begin, begin + opaque->size());
  EXPECT_THROW(testing::find(after, ".language"), std::runtime_error);
  ASSERT_NO_THROW(testing::find(after, ".max_flat_workgroup_size"));
  const CodeObject object = parse(after);
  const FunctionInfo& kernel = object.kernels().front().function;
  const CodeObject before = parse(original);
  EXPECT_EQ(kernel.max_workgroup_size, before.kernels().front().function.max_workgroup_size);
  EXPECT_EQ(kernel.vgpr_count, before.kernels().front().function.vgpr_count);

  // {"amdhsa.version": [1, 1]}
  const size_t version = testing::find(original, "amdhsa.version") + 14;
  ASSERT_EQ(original[version + 1], 1);
  original[version + 1] = 2;
  const auto refused = present_opaque_arguments(original.data(), original.size(), 4096);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(std::string(refused.status().message().view()),
              ::testing::HasSubstr("amdhsa.version"));
}

TEST(OpaqueArguments, AreRefusedForWhatIsNoCodeObject) {
  EXPECT_FALSE(present_opaque_arguments("text", 4, 0).ok());
}

}  // namespace
}  // namespace halyard
