#include "hal/code_object.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <ostream>
#include <span>
#include <string>

#include "code_objects.h"
#include "hal/kernel_code.h"

namespace halyard {
namespace {

using testing::Bytes;
using ::testing::HasSubstr;
using testing::put;
using testing::read_data;

Result<CodeObject> read(const Bytes& bytes) {
  return CodeObject::read(bytes.data(), bytes.size());
}

CodeObject load(const std::string& name) {
  Result<CodeObject> object = read(read_data(name));
  EXPECT_TRUE(object.ok()) << name << ": " << object.status().to_string();
  return std::move(object).value();
}

void expect_error(const Bytes& bytes, StatusCode code, std::initializer_list<const char*> says) {
  const Result<CodeObject> object = read(bytes);
  ASSERT_FALSE(object.ok());
  EXPECT_EQ(object.status().code(), code) << object.status().to_string();
  for (const char* words : says) {
    EXPECT_THAT(std::string(object.status().message().view()), HasSubstr(words));
  }
}

struct Version {
  const char* file;
  uint32_t version;
  const char* target;
  uint32_t generic_version;
};

void PrintTo(const Version& version, std::ostream* out) {
  *out << version.file;
}

class EveryVersion : public ::testing::TestWithParam<Version> {};

TEST_P(EveryVersion, GivesTargetKernelsAndGlobals) {
  const CodeObject object = load(GetParam().file);
  EXPECT_EQ(object.version(), GetParam().version);
  EXPECT_EQ(object.target_name(), GetParam().target);
  EXPECT_EQ(object.generic_version(), GetParam().generic_version);

  ASSERT_EQ(object.kernels().size(), 2u);
  const auto kernel = object.find("every_kind");
  ASSERT_TRUE(kernel.ok()) << kernel.status().to_string();
  const KernelInfo& info = **kernel;
  EXPECT_EQ(info.symbol.view(), "every_kind.kd");
  EXPECT_GT(info.descriptor_offset, 0u);
  EXPECT_GT(info.descriptor_address, 0u);
  EXPECT_EQ(info.function.group_segment_size, 256u);  // float tile[64]
  EXPECT_GT(info.function.sgpr_count, 0u);
  EXPECT_GT(info.function.vgpr_count, 0u);
  EXPECT_EQ(info.function.wavefront_size, 64u);
  EXPECT_EQ(info.function.kernarg_alignment, 8u);

  const struct {
    ArgumentKind kind;
    uint32_t offset;
    uint32_t size;
    const char* value_kind;
  } expected[] = {
      {ArgumentKind::kBuffer, 0, 8, "global_buffer"},
      {ArgumentKind::kDynamicLds, 8, 4, "dynamic_shared_pointer"},
      {ArgumentKind::kValue, 12, 4, "by_value"},
      {ArgumentKind::kValue, 16, 2, "by_value"},
      {ArgumentKind::kValue, 24, 8, "by_value"},
      {ArgumentKind::kValue, 32, 16, "by_value"},
  };
  const Span<const ArgumentInfo> arguments = info.function.arguments;
  ASSERT_EQ(arguments.size(), std::size(expected));
  for (size_t i = 0; i < std::size(expected); ++i) {
    EXPECT_EQ(arguments[i].kind, expected[i].kind) << i;
    EXPECT_EQ(arguments[i].offset, expected[i].offset) << i;
    EXPECT_EQ(arguments[i].size, expected[i].size) << i;
    EXPECT_EQ(arguments[i].value_kind.view(), expected[i].value_kind) << i;
  }
  EXPECT_GE(arguments[1].alignment, 1u);
  EXPECT_EQ(arguments[0].alignment, 0u);
  EXPECT_EQ(info.function.hidden.empty(), GetParam().version < 5);
  EXPECT_EQ(info.function.kernarg_size, GetParam().version < 5 ? 48u : 304u);

  const auto nothing = object.find("nothing");
  ASSERT_TRUE(nothing.ok());
  EXPECT_TRUE((*nothing)->function.arguments.empty());

  ASSERT_EQ(object.globals().size(), 1u);
  EXPECT_EQ(object.globals()[0].name.view(), "table");
  EXPECT_EQ(object.globals()[0].size, 16u);
}

INSTANTIATE_TEST_SUITE_P(
    CodeObject, EveryVersion,
    ::testing::Values(Version{"v3.hsaco", 3, "gfx906:sramecc+:xnack+", 0},
                      Version{"v4.hsaco", 4, "gfx900", 0}, Version{"v5.hsaco", 5, "gfx900", 0},
                      Version{"v6.hsaco", 6, "gfx900", 0},
                      Version{"gfx9-generic.hsaco", 6, "gfx9-generic", 1},
                      Version{"gfx9-4-generic-features.hsaco", 6, "gfx9-4-generic:sramecc+:xnack-",
                              1},
                      Version{"gfx90a-features.hsaco", 5, "gfx90a:sramecc+:xnack-", 0}),
    [](const auto& info) {
      std::string name = info.param.file;
      std::replace_if(name.begin(), name.end(), [](char c) { return !isalnum(c); }, '_');
      return name;
    });

TEST(CodeObject, KnowsKernelsThatNeedWholeWorkGroups) {
  const CodeObject object = load("uniform.hsaco");
  const auto uniform = object.find("uniform");
  ASSERT_TRUE(uniform.ok()) << uniform.status().to_string();
  EXPECT_TRUE((*uniform)->function.uniform_workgroups);
  const CodeObject other = load("v5.hsaco");
  EXPECT_FALSE(other.kernels()[0].function.uniform_workgroups);
}

TEST(CodeObject, KeepsNamesTypesAndRequiredSizes) {
  const CodeObject object = load("named.hsaco");
  const FunctionInfo& function = object.kernels().at(0).function;
  EXPECT_EQ(function.required_workgroup_size, (Dim3{8, 4, 2}));
  EXPECT_EQ(function.max_workgroup_size, 64u);
  ASSERT_EQ(function.arguments.size(), 3u);
  EXPECT_EQ(function.arguments[0].name.view(), "input");
  EXPECT_EQ(function.arguments[0].type_name.view(), "float*");
  EXPECT_EQ(function.arguments[2].name.view(), "count");
  EXPECT_EQ(function.arguments[2].type_name.view(), "uint");
  ASSERT_EQ(function.hidden.size(), 7u);
  EXPECT_EQ(function.hidden[0].kind, ArgumentKind::kHiddenGlobalOffsetX);
  EXPECT_EQ(function.hidden[6].kind, ArgumentKind::kHiddenNone);
}

TEST(CodeObject, OutlivesTheBytesItWasReadFrom) {
  Bytes bytes = read_data("named.hsaco");
  Result<CodeObject> result = read(bytes);
  ASSERT_TRUE(result.ok());
  std::fill(bytes.begin(), bytes.end(), 'x');
  bytes = {};
  const CodeObject object = std::move(result).value();
  EXPECT_EQ(object.kernels()[0].function.name.view(), "named");
  EXPECT_EQ(object.kernels()[0].function.arguments[1].name.view(), "output");
}

TEST(CodeObject, SaysWhichHiddenArgumentsNothingUses) {
  // -O0 lists them all; the file has none of the functions that would use hostcall and heap.
  const CodeObject object = load("unoptimized.hsaco");
  const auto kernel = object.find("every_kind");
  ASSERT_TRUE(kernel.ok());
  size_t dropped = 0;
  for (const ArgumentInfo& argument : (*kernel)->function.hidden) {
    const std::string_view kind = argument.value_kind;
    if (kind == "hidden_hostcall_buffer" || kind == "hidden_heap_v1") {
      EXPECT_EQ(argument.kind, ArgumentKind::kHiddenNone) << kind;
      ++dropped;
    }
    if (kind == "hidden_default_queue") {
      EXPECT_EQ(argument.kind, ArgumentKind::kHiddenDefaultQueue);
    }
  }
  EXPECT_EQ(dropped, 2u);
}

TEST(CodeObject, KeepsHostcallWhereTheFileHasTheFunction) {
  Bytes bytes = read_data("unoptimized.hsaco");
  // Any name in .strtab stands for the library's function; this one is as long as it needs.
  const Elf64_Ehdr header = testing::get<Elf64_Ehdr>(bytes, 0);
  for (int i = 0; i < header.e_shnum; ++i) {
    const auto section = testing::get<Elf64_Shdr>(bytes, header.e_shoff + i * sizeof(Elf64_Shdr));
    if (section.sh_type != SHT_SYMTAB) continue;
    const auto strings =
        testing::get<Elf64_Shdr>(bytes, header.e_shoff + section.sh_link * sizeof(Elf64_Shdr));
    // Entry 1 of .symtab becomes "__ockl_hostcall_x", put over the names at the table's start.
    const std::string name = "__ockl_hostcall_x";
    ASSERT_GT(strings.sh_size, name.size() + 2);
    std::memcpy(bytes.data() + strings.sh_offset + 1, name.c_str(), name.size() + 1);
    put<uint32_t>(bytes, section.sh_offset + sizeof(Elf64_Sym), 1);
  }
  const auto object = read(bytes);
  ASSERT_TRUE(object.ok()) << object.status().to_string();
  bool kept = false;
  for (const ArgumentInfo& argument : object->kernels()[0].function.hidden) {
    kept |= argument.kind == ArgumentKind::kHiddenHostcallBuffer;
  }
  EXPECT_TRUE(kept);
}

// There, the compiler may have inlined the functions.
TEST(CodeObject, KeepsHostcallInOptimisedCodeThatListsIt) {
  Bytes bytes = read_data("unoptimized.hsaco");
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const std::string_view listed = "hidden_default_queue";
  const std::string_view unlisted = "hidden_somethingelse";  // as long
  size_t replaced = 0;
  for (size_t at = text.find(listed); at != text.npos; at = text.find(listed, at + 1)) {
    std::memcpy(bytes.data() + at, unlisted.data(), listed.size());
    ++replaced;
  }
  ASSERT_NE(replaced, 0u);
  const auto object = read(bytes);
  ASSERT_TRUE(object.ok()) << object.status().to_string();
  for (const KernelInfo& kernel : object->kernels()) {
    for (const ArgumentInfo& argument : kernel.function.hidden) {
      if (std::string_view(argument.value_kind) != "hidden_hostcall_buffer") continue;
      EXPECT_EQ(argument.kind, ArgumentKind::kHiddenHostcallBuffer);
    }
  }
}

TEST(CodeObject, FindsKernelsOrSaysWhichThereAre) {
  const CodeObject object = load("v5.hsaco");
  const auto found = object.find("every_knd");
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.status().code(), StatusCode::kNotFound);
  EXPECT_EQ(found.status().message().view(),
            "There is no kernel \"every_knd\" in the code object. Did you mean \"every_kind\"? It "
            "has 2: every_kind and nothing.");
}

TEST(CodeObject, AskedForALongNameAnswersShortly) {
  const Status status = load("v5.hsaco").find(std::string(100000, 'x')).status();
  EXPECT_EQ(status.code(), StatusCode::kNotFound);
  EXPECT_LT(status.message().view().size(), 1000u);
}

TEST(CodeObject, ChecksTheTargetOfADevice) {
  const CodeObject object = load("v5.hsaco");
  EXPECT_TRUE(check_target(object, *parse_target_id("gfx900:xnack-")).ok());
  const Status status = check_target(object, *parse_target_id("gfx906:sramecc-:xnack-"));
  EXPECT_EQ(status.code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(status.message().view(),
            "The code object is built for gfx900, and the device is gfx906:sramecc-:xnack-: gfx900 "
            "code does not run on gfx906. Build it with -mcpu=gfx906 or -mcpu=gfx9-generic.");
}

TEST(CodeObject, HasAVersionOfAGenericTargetOnly) {
  const Bytes generic = read_data("gfx9-generic.hsaco");
  EXPECT_EQ(read_variant_facts(generic.data(), generic.size())->generic_version, 1u);
  Bytes exact = read_data("v6.hsaco");
  exact[51] = 7;  // what e_flags has there is nothing that an exact processor's code says
  EXPECT_EQ(read_variant_facts(exact.data(), exact.size())->generic_version, 0u);
  EXPECT_EQ(CodeObject::read(exact.data(), exact.size())->generic_version(), 0u);
}

TEST(BadCodeObject, Empty) {
  expect_error({}, StatusCode::kInvalidArgument, {"is empty (0 bytes)"});
  const auto null = CodeObject::read(nullptr, 100);
  EXPECT_EQ(null.status().code(), StatusCode::kInvalidArgument);
}

TEST(BadCodeObject, NotAnElf) {
  const std::string text =
      "#!/bin/sh\necho no kernel here, and more bytes than a header has ......";
  expect_error(Bytes(text.begin(), text.end()), StatusCode::kInvalidArgument,
               {"is not an ELF", "23 21 2f 62", "*.hsaco"});
  const std::string bundle = "__CLANG_OFFLOAD_BUNDLE__ and so on";
  expect_error(Bytes(bundle.begin(), bundle.end()), StatusCode::kInvalidArgument,
               {"offload bundle", "clang-offload-bundler"});
  const std::string bitcode = "BC\xc0\xde and so on";
  expect_error(Bytes(bitcode.begin(), bitcode.end()), StatusCode::kInvalidArgument, {"bitcode"});
}

TEST(BadCodeObject, ForAnotherMachine) {
  Bytes bytes = read_data("v5.hsaco");
  put<uint16_t>(bytes, offsetof(Elf64_Ehdr, e_machine), EM_X86_64);
  expect_error(bytes, StatusCode::kInvalidArgument, {"an ELF for x86-64 (e_machine 62", "AMD GPU"});
  put<uint16_t>(bytes, offsetof(Elf64_Ehdr, e_machine), 4242);
  expect_error(bytes, StatusCode::kInvalidArgument, {"another machine (e_machine 4242"});
}

TEST(BadCodeObject, BigEndianOr32Bit) {
  Bytes bytes = read_data("v5.hsaco");
  bytes[EI_DATA] = ELFDATA2MSB;
  expect_error(bytes, StatusCode::kInvalidArgument, {"is big-endian", "offset 5"});
  bytes[EI_DATA] = 9;
  expect_error(bytes, StatusCode::kInvalidArgument, {"EI_DATA is 9"});
  bytes[EI_DATA] = ELFDATA2LSB;
  bytes[EI_CLASS] = ELFCLASS32;
  expect_error(bytes, StatusCode::kInvalidArgument, {"32-bit", "offset 4"});
}

TEST(BadCodeObject, NotLinked) {
  expect_error(read_data("relocatable.o"), StatusCode::kInvalidArgument,
               {"is not linked", "ld.lld -shared"});
}

TEST(BadCodeObject, Truncated) {
  Bytes bytes = read_data("v5.hsaco");
  const uint64_t sections = testing::get<uint64_t>(bytes, offsetof(Elf64_Ehdr, e_shoff));
  const size_t size = bytes.size();
  bytes.resize(size / 2);
  const std::string offset = "at offset " + std::to_string(sections);
  const std::string end = "reaches to offset " + std::to_string(size);
  const std::string there = "the file ends at " + std::to_string(size / 2);
  expect_error(
      bytes, StatusCode::kInvalidArgument,
      {"is truncated", "section header table", offset.c_str(), end.c_str(), there.c_str()});
  bytes.resize(10);
  expect_error(bytes, StatusCode::kInvalidArgument, {"is truncated", "ELF header", "ends at 10"});
  bytes.resize(3);
  expect_error(bytes, StatusCode::kInvalidArgument, {"is truncated", "ends at 3"});
}

// Two thousand symbols that share one name of 64 KiB.
TEST(BadCodeObject, ManySymbolsThatShareALongName) {
  Bytes bytes = read_data("v5.hsaco");
  const auto header = testing::get<Elf64_Ehdr>(bytes, 0);
  for (int i = 0; i < header.e_shnum; ++i) {
    const size_t at = header.e_shoff + i * sizeof(Elf64_Shdr);
    auto table = testing::get<Elf64_Shdr>(bytes, at);
    if (table.sh_type != SHT_SYMTAB) continue;
    const size_t names_at = header.e_shoff + table.sh_link * sizeof(Elf64_Shdr);
    auto names = testing::get<Elf64_Shdr>(bytes, names_at);
    const std::string text = std::string(1, '\0') + std::string(65536, 'n') + std::string(1, '\0');
    names.sh_offset = bytes.size();
    names.sh_size = text.size();
    bytes.insert(bytes.end(), text.begin(), text.end());
    bytes.resize((bytes.size() + 7) / 8 * 8);
    Elf64_Sym symbol = {};
    symbol.st_name = 1;
    table.sh_offset = bytes.size();
    table.sh_size = 2000 * sizeof symbol;
    for (int n = 0; n < 2000; ++n) {
      const char* const raw = reinterpret_cast<const char*>(&symbol);
      bytes.insert(bytes.end(), raw, raw + sizeof symbol);
    }
    testing::put(bytes, at, table);
    testing::put(bytes, names_at, names);
  }
  expect_error(bytes, StatusCode::kInvalidArgument, {"names have", "bytes together, in a file of"});
}

// Nobody asks of a section of these types that it lies in the file.
TEST(BadCodeObject, KernelDescriptorInASectionWithoutBytesInTheFile) {
  const Bytes good = read_data("v5.hsaco");
  const auto object = CodeObject::read(good.data(), good.size());
  ASSERT_TRUE(object.ok()) << object.status().to_string();
  const uint64_t descriptor = object->kernels()[0].descriptor_offset;
  const auto header = testing::get<Elf64_Ehdr>(good, 0);
  for (const Elf64_Word type : {SHT_NULL, SHT_NOBITS}) {
    Bytes bytes = good;
    for (int i = 1; i < header.e_shnum; ++i) {
      const size_t at = header.e_shoff + i * sizeof(Elf64_Shdr);
      auto section = testing::get<Elf64_Shdr>(bytes, at);
      if (descriptor - section.sh_offset >= section.sh_size) continue;
      section.sh_type = type;
      section.sh_offset = uint64_t{1} << 58;
      testing::put(bytes, at, section);
    }
    const std::string of_type = "of type " + std::to_string(type);
    expect_error(bytes, StatusCode::kInvalidArgument,
                 {"do not lie in its section", of_type.c_str()});
  }
}

TEST(BadCodeObject, OfAVersionThatIsNotSupported) {
  expect_error(read_data("v2.hsaco"), StatusCode::kUnimplemented,
               {"has version 2", "-mcode-object-version=5"});
  Bytes bytes = read_data("v6.hsaco");
  bytes[EI_ABIVERSION] = 5;
  expect_error(bytes, StatusCode::kUnimplemented, {"has version 7", "3 to 6"});
  bytes[EI_OSABI] = 65;
  expect_error(bytes, StatusCode::kInvalidArgument, {"EI_OSABI is 65 at offset 7, PAL"});
}

TEST(BadCodeObject, ForAProcessorThatIsNotKnown) {
  Bytes bytes = read_data("v6.hsaco");
  put<uint32_t>(bytes, offsetof(Elf64_Ehdr, e_flags), 0x1fe);
  expect_error(bytes, StatusCode::kUnimplemented,
               {"EF_AMDGPU_MACH 0xfe", "amdgcn-amd-amdhsa--gfx900"});
}

TEST(BadCodeObject, GenericWithoutAVersion) {
  Bytes bytes = read_data("gfx9-generic.hsaco");
  put<uint32_t>(bytes, offsetof(Elf64_Ehdr, e_flags), 0x151);
  expect_error(bytes, StatusCode::kInvalidArgument, {"gfx9-generic", "version 0"});
}

TEST(BadCodeObject, WithDamagedMetadata) {
  Bytes bytes = read_data("v5.hsaco");
  const size_t target = testing::find(bytes, "amdgcn-amd-amdhsa--gfx900");
  Bytes broken = bytes;
  broken[target - 1] = static_cast<char>(0xc1);  // never used in MessagePack
  expect_error(broken, StatusCode::kInvalidArgument, {"holds an impossible byte", "at offset"});
  broken = bytes;
  testing::replace(broken, "amdhsa.kernels", "amdhsa.kernelz");
  const auto none = read(broken);
  ASSERT_TRUE(none.ok());
  EXPECT_TRUE(none->kernels().empty());
}

TEST(BadCodeObject, WithoutMetadata) {
  Bytes bytes = read_data("v5.hsaco");
  put<uint32_t>(bytes, testing::find(bytes, "AMDGPU") - 4, 33);
  expect_error(bytes, StatusCode::kInvalidArgument, {"no metadata note", "type 32"});
}

TEST(BadCodeObject, WithFieldsThatAreMissingOrWrong) {
  const struct {
    const char* from;
    const char* to;
    const char* says;
  } cases[] = {
      {".kernarg_segment_size", ".kernarg_segment_sizz",
       "has kernel \"every_kind\" without .kernarg_segment_size"},
      {".value_kind\xad"
       "global_buffer",
       ".value_kinx\xad"
       "global_buffer",
       "has argument 0 of kernel \"every_kind\" without .value_kind"},
      {".offset\x18", ".offset\xc3", "whose .offset is a boolean instead of an integer"},
      {".offset\x18", ".offset\xff", "whose .offset (-1) is not between 0"},
      {".wavefront_size\x40", ".wavefront_size\x30", ".wavefront_size (48) is neither 32 nor 64"},
      {".kernarg_segment_align\x08", ".kernarg_segment_align\x07", "(7) is not a power of two"},
  };
  for (const auto& c : cases) {
    Bytes bytes = read_data("v4.hsaco");
    testing::replace(bytes, c.from, c.to);
    SCOPED_TRACE(c.from);
    expect_error(bytes, StatusCode::kInvalidArgument, {c.says});
  }
}

// The rest of the file can be used. clang before 17 hides the kernels of C sources.
TEST(CodeObject, AKernelWithoutADescriptorHasAProblem) {
  const auto hidden = read(read_data("hidden.hsaco"));
  ASSERT_TRUE(hidden.ok()) << hidden.status().to_string();
  ASSERT_FALSE(hidden->kernels().empty());
  EXPECT_FALSE(hidden->kernels()[0].has_descriptor);
  EXPECT_THAT(std::string(hidden->kernels()[0].function.problem.view()),
              ::testing::AllOf(HasSubstr("no exported symbol \"every_kind.kd\""),
                               HasSubstr("-fvisibility=protected")));

  Bytes bytes = read_data("v4.hsaco");
  testing::replace(bytes,
                   ".symbol\xad"
                   "every_kind.kd",
                   ".symbol\xad"
                   "every_kinx.kd");
  const auto other = read(bytes);
  ASSERT_TRUE(other.ok()) << other.status().to_string();
  size_t usable = 0;
  for (const KernelInfo& kernel : other->kernels()) {
    if (kernel.function.name.view() != "every_kind") {
      usable += kernel.has_descriptor && kernel.function.problem.empty();
      continue;
    }
    EXPECT_THAT(std::string(kernel.function.problem.view()),
                HasSubstr("no symbol \"every_kinx.kd\""));
    const auto code = kernel_code(std::as_bytes(std::span(bytes)), kernel);
    ASSERT_FALSE(code.ok());
    EXPECT_THAT(std::string(code.status().message().view()), HasSubstr("has no code"));
  }
  EXPECT_EQ(usable, other->kernels().size() - 1);
}

TEST(CodeObject, KernelsForLoadersAreToldApart) {
  const auto object = read(read_data("start.hsaco"));
  ASSERT_TRUE(object.ok()) << object.status().to_string();
  std::map<std::string, KernelKind> kinds;
  for (const KernelInfo& kernel : object->kernels())
    kinds[std::string(kernel.function.name.view())] = kernel.kind;
  EXPECT_EQ(kinds, (std::map<std::string, KernelKind>{{"amdgcn.device.init", KernelKind::kInit},
                                                      {"amdgcn.device.fini", KernelKind::kFini},
                                                      {"read_built", KernelKind::kNormal}}));
  Bytes bytes = read_data("start.hsaco");
  testing::replace(bytes,
                   ".kind\xa4"
                   "init",
                   ".kind\xa4"
                   "inix");
  expect_error(bytes, StatusCode::kInvalidArgument, {".kind (\"inix\")", "\"fini\""});
}

TEST(BadCodeObject, WithAnArgumentOutsideOfItsSegment) {
  Bytes bytes = read_data("v4.hsaco");
  testing::replace(bytes, ".offset\x20", ".offset\x7f");
  expect_error(
      bytes, StatusCode::kInvalidArgument,
      {"argument 5 of kernel \"every_kind\" (16 bytes at offset 127) outside of its kernarg "
       "segment (48 bytes)"});
}

}  // namespace
}  // namespace halyard
