#include "registry/loader.h"

#include <elf.h>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>

#include "hal/device.h"
#include "temporary_folder.h"

namespace halyard {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::TemporaryFolder;

const std::string kBroken = HALYARD_TEST_BROKEN_PLUGINS;
const std::string kLibcxx = HALYARD_TEST_LIBCXX_PLUGINS;

Candidate load(const std::string& path, LoadedPlugin* plugin = nullptr,
               const std::vector<DriverOption>& options = {}) {
  Candidate candidate;
  candidate.path = path;
  std::error_code error;
  candidate.real_path = std::filesystem::canonical(path, error).string();
  LoadedPlugin loaded = load_plugin(candidate, {.options = options}, nullptr);
  EXPECT_TRUE(candidate.tried);
  EXPECT_EQ(candidate.usable(), static_cast<bool>(loaded.driver)) << path;
  EXPECT_EQ(candidate.reason.empty(), candidate.stage == LoadStage::kEnumerated) << path;
  EXPECT_EQ(candidate.reason.empty(), candidate.code == StatusCode::kOk) << path;
  if (plugin != nullptr) *plugin = loaded;
  return candidate;
}

TEST(LoaderTest, AGoodPluginGoesAllTheWay) {
  LoadedPlugin plugin;
  const Candidate candidate = load(HALYARD_TEST_HOST_MEMORY, &plugin);
  EXPECT_EQ(candidate.stage, LoadStage::kEnumerated) << candidate.reason;
  EXPECT_EQ(candidate.driver, "host_memory");
  EXPECT_EQ(candidate.version, "0.1.0");
  EXPECT_THAT(candidate.description, HasSubstr("no GPU"));
  EXPECT_EQ(candidate.device_count, 1u);
  ASSERT_EQ(plugin.devices.size(), 1u);
  EXPECT_THAT(plugin.devices[0].name.view(), HasSubstr("no GPU"));
  EXPECT_TRUE(plugin.driver->create_device(0).ok());
}

struct Broken {
  const char* file;
  LoadStage stage;
  const char* reason;
  StatusCode code = StatusCode::kFailedPrecondition;
};
void PrintTo(const Broken& broken, std::ostream* out) {
  *out << broken.file;
}

class BrokenPluginTest : public ::testing::TestWithParam<Broken> {};

TEST_P(BrokenPluginTest, StopsWithItsReasonAndNothingElseHappens) {
  const Candidate candidate = load(kBroken + "/" + GetParam().file);
  EXPECT_STREQ(to_string(candidate.stage), to_string(GetParam().stage)) << candidate.reason;
  EXPECT_THAT(candidate.reason, HasSubstr(GetParam().reason));
  EXPECT_STREQ(to_string(candidate.code), to_string(GetParam().code));
}

INSTANTIATE_TEST_SUITE_P(
    All, BrokenPluginTest,
    ::testing::Values(
        Broken{"no_such_file.so", LoadStage::kFound, "No such file or directory"},
        Broken{"not_elf.so", LoadStage::kFound, "is not an ELF file"},
        Broken{"wrong_architecture.so", LoadStage::kFound, "another architecture (AArch64"},
        Broken{"undefined_symbol.so", LoadStage::kFound,
               "undefined symbol: halyard_test_function_that_nobody_has"},
        Broken{"no_entry.so", LoadStage::kFound, "it exports no function halyard_plugin"},
        Broken{"entry_is_data.so", LoadStage::kFound,
               "halyard_plugin is a variable, not a function"},
        Broken{"entry_is_constant.so", LoadStage::kFound, "is a variable, not a function"},
        Broken{"wrong_major.so", LoadStage::kSymbol, "speaks ABI version 42.7 and this program 2."},
        Broken{"abi_1.so", LoadStage::kSymbol, "speaks ABI version 1.3 and this program 2."},
        Broken{"entry_error.so", LoadStage::kSymbol,
               "The plugin wants a licence that is not there (42)."},
        Broken{"entry_silent.so", LoadStage::kSymbol, "with -5 and no message"},
        Broken{"entry_throws.so", LoadStage::kSymbol, "the entry point does not feel well",
               StatusCode::kInternal},
        Broken{"bad_struct.so", LoadStage::kSymbol, "has filled a HalyardPlugin of 56 bytes"},
        Broken{"bad_name.so", LoadStage::kSymbol, "driver name (\"Bad:Name\") is not a name"},
        Broken{"null_name.so", LoadStage::kSymbol, "driver name (null)"},
        Broken{"null_create.so", LoadStage::kSymbol, "create_driver is null"},
        Broken{"create_error.so", LoadStage::kNegotiated, "The vendor library is not found.",
               StatusCode::kUnavailable},
        Broken{"create_throws.so", LoadStage::kNegotiated, "create_driver threw an exception",
               StatusCode::kInternal},
        Broken{"null_driver.so", LoadStage::kNegotiated,
               "returned OK but no object from create_driver", StatusCode::kInternal},
        Broken{"enumerate_error.so", LoadStage::kInitialised, "The runtime cannot say.",
               StatusCode::kUnavailable},
        Broken{"enumerate_throws.so", LoadStage::kInitialised, "the devices are out",
               StatusCode::kInternal}),
    [](const auto& test) {
      std::string name = test.param.file;
      return name.substr(0, name.find('.'));
    });

TEST(LoaderTest, TheMinorInForceIsTheSmaller) {
  const Candidate candidate = load(kBroken + "/newer_minor.so");
  EXPECT_EQ(candidate.stage, LoadStage::kEnumerated) << candidate.reason;
  EXPECT_EQ(candidate.abi_minor, HALYARD_ABI_MINOR + 9);
  EXPECT_EQ(candidate.abi_in_force, HALYARD_ABI_MINOR);
  EXPECT_EQ(candidate.version, "");
  EXPECT_EQ(candidate.library_name, "libtiny.so.1");
  EXPECT_EQ(candidate.library_version, "1.2.3");
  EXPECT_EQ(candidate.library_path, "/tiny/libtiny.so.1.2.3");
}

TEST(LoaderTest, AWrongMajorIsNotLookedIntoAnyFurther) {
  const Candidate candidate = load(kBroken + "/wrong_major.so");
  EXPECT_EQ(candidate.abi_major, 42u);
  EXPECT_EQ(candidate.driver, "");
}

TEST(LoaderTest, AFileNameThatPromisesAnotherDriverIsRefused) {
  const TemporaryFolder folder;
  const Candidate candidate =
      load(folder.add_copy("libhalyard_driver_other.so", HALYARD_TEST_HOST_MEMORY));
  EXPECT_EQ(candidate.stage, LoadStage::kSymbol);
  EXPECT_THAT(candidate.reason,
              AllOf(HasSubstr("has the driver host_memory, but its file name says other"),
                    HasSubstr("libhalyard_driver_host_memory.so")));
}

TEST(LoaderTest, ATakenNameIsRefusedBeforeADriverIsMade) {
  Candidate candidate;
  candidate.path = kBroken + "/create_throws.so";
  const LoadedPlugin plugin =
      load_plugin(candidate, {}, [](const std::string& driver) { return "/first/" + driver; });
  EXPECT_FALSE(plugin.driver);
  EXPECT_EQ(candidate.stage, LoadStage::kNegotiated);
  EXPECT_EQ(candidate.code, StatusCode::kAlreadyExists);
  EXPECT_THAT(candidate.reason, HasSubstr("create_throws is taken by /first/create_throws"));
}

TEST(LoaderTest, OptionsReachTheDriverTheyAreFor) {
  EXPECT_EQ(load(HALYARD_TEST_HOST_MEMORY, nullptr, {{"other", "k", "v"}}).stage,
            LoadStage::kEnumerated);
  const Candidate candidate =
      load(HALYARD_TEST_HOST_MEMORY, nullptr, {{"host_memory", "speed", "9"}});
  EXPECT_EQ(candidate.stage, LoadStage::kNegotiated);
  EXPECT_EQ(candidate.code, StatusCode::kInvalidArgument);
  EXPECT_THAT(candidate.reason, HasSubstr("does not know the option (speed)"));
}

// A file of another kind, made from the first bytes of an ELF header.
std::string elf_file(const TemporaryFolder& folder, const char* name, unsigned char elf_class,
                     unsigned char order, uint16_t type, uint16_t machine, size_t size) {
  Elf64_Ehdr header = {};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = elf_class;
  header.e_ident[EI_DATA] = order;
  header.e_type = type;
  header.e_machine = machine;
  return folder.add_file(name, {reinterpret_cast<const char*>(&header), size});
}

TEST(LoaderTest, FilesOfOtherKindsSayWhatTheyAre) {
  const TemporaryFolder folder;
  const size_t all = sizeof(Elf64_Ehdr);
  const auto reason = [](const std::string& path) {
    const Candidate candidate = load(path);
    EXPECT_EQ(candidate.stage, LoadStage::kFound);
    return candidate.reason;
  };
  EXPECT_THAT(reason(folder.add_file("empty.so")), HasSubstr("is empty"));
  EXPECT_THAT(reason(folder.add_file("3.so", "\177EL")), HasSubstr("not an ELF file"));
  EXPECT_THAT(reason(folder.add_file("4.so", "\177ELF")), HasSubstr("truncated"));
  EXPECT_THAT(reason(folder.add_folder("folder.so")), HasSubstr("not a regular file"));
  EXPECT_THAT(reason(folder.add_link("link.so", "nowhere")), HasSubstr("No such file"));
  EXPECT_THAT(reason(elf_file(folder, "32.so", ELFCLASS32, ELFDATA2LSB, ET_DYN, EM_386, all)),
              AllOf(HasSubstr("32-bit x86"), HasSubstr("this program is")));
  EXPECT_THAT(reason(elf_file(folder, "be.so", ELFCLASS64, ELFDATA2MSB, ET_DYN, 0x1500, all)),
              AllOf(HasSubstr("64-bit PowerPC"), HasSubstr("big-endian")));
  EXPECT_THAT(reason(elf_file(folder, "gpu.so", ELFCLASS64, ELFDATA2LSB, ET_DYN, EM_AMDGPU, all)),
              HasSubstr("AMD GPU"));
  EXPECT_THAT(reason(elf_file(folder, "777.so", ELFCLASS64, ELFDATA2LSB, ET_DYN, 777, all)),
              HasSubstr("ELF machine 777"));
#ifdef __x86_64__
  EXPECT_THAT(reason(elf_file(folder, "o.so", ELFCLASS64, ELFDATA2LSB, ET_REL, EM_X86_64, all)),
              HasSubstr("an object file"));
  EXPECT_THAT(reason(elf_file(folder, "exe.so", ELFCLASS64, ELFDATA2LSB, ET_EXEC, EM_X86_64, all)),
              HasSubstr("a program"));
  EXPECT_THAT(reason(elf_file(folder, "ph.so", ELFCLASS64, ELFDATA2LSB, ET_DYN, EM_X86_64, all)),
              HasSubstr("0 program headers"));
#endif
}

TEST(LoaderTest, AFifoDoesNotHang) {
  const TemporaryFolder folder;
  ASSERT_EQ(mkfifo((folder / "fifo.so").c_str(), 0600), 0);
  EXPECT_THAT(load(folder / "fifo.so").reason, HasSubstr("not a regular file"));
}

// A library that was cut short is mapped without complaint and kills with SIGBUS when touched.
TEST(LoaderTest, ALibraryThatWasCutShortIsRefusedAtAnyLength) {
  const TemporaryFolder folder;
  std::ifstream file(HALYARD_TEST_HOST_MEMORY, std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  Elf64_Ehdr header;
  ASSERT_GT(whole.size(), 8192u);
  std::memcpy(&header, whole.data(), sizeof header);
  size_t end = 0;  // of what the loader maps; behind it come symbols for the debugger
  for (size_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    std::memcpy(&segment, whole.data() + header.e_phoff + i * sizeof segment, sizeof segment);
    if (segment.p_type == PT_LOAD) end = std::max(end, segment.p_offset + segment.p_filesz);
  }
  for (const size_t size : {size_t{63}, size_t{64}, size_t{100}, size_t{4096}, end / 2, end - 1}) {
    const std::string path =
        folder.add_file("cut" + std::to_string(size) + ".so", whole.substr(0, size));
    const Candidate candidate = load(path);
    EXPECT_EQ(candidate.stage, LoadStage::kFound);
    EXPECT_THAT(candidate.reason, HasSubstr("truncated")) << size;
  }
}

// Then only the dynamic loader can say what the symbol is.
TEST(LoaderTest, AVariableIsNotCalledEvenIfTheFileHasNoSectionHeaders) {
  const TemporaryFolder folder;
  std::ifstream file(kBroken + "/entry_is_data.so", std::ios::binary);
  std::string whole((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  Elf64_Ehdr header;
  std::memcpy(&header, whole.data(), sizeof header);
  header.e_shoff = 0;
  header.e_shnum = 0;
  header.e_shstrndx = SHN_UNDEF;
  std::memcpy(whole.data(), &header, sizeof header);
  const Candidate candidate = load(folder.add_file("a.so", whole));
  EXPECT_EQ(candidate.stage, LoadStage::kOpened);
  EXPECT_THAT(candidate.reason, HasSubstr("halyard_plugin is a variable, not a function"));
}

// A symbol of no type, as an assembler makes it, that lies in the data.
TEST(LoaderTest, AnEntryPointOutsideTheCodeIsNotCalled) {
  const TemporaryFolder folder;
  std::ifstream file(kBroken + "/entry_is_data.so", std::ios::binary);
  std::string whole((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  Elf64_Ehdr header;
  std::memcpy(&header, whole.data(), sizeof header);
  for (size_t i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    std::memcpy(&section, whole.data() + header.e_shoff + i * sizeof section, sizeof section);
    if (section.sh_type != SHT_DYNSYM) continue;
    for (size_t at = 0; at < section.sh_size; at += sizeof(Elf64_Sym)) {
      Elf64_Sym symbol;
      std::memcpy(&symbol, whole.data() + section.sh_offset + at, sizeof symbol);
      symbol.st_info = ELF64_ST_INFO(ELF64_ST_BIND(symbol.st_info), STT_NOTYPE);
      std::memcpy(whole.data() + section.sh_offset + at, &symbol, sizeof symbol);
    }
  }
  const Candidate candidate = load(folder.add_file("a.so", whole));
  EXPECT_EQ(candidate.stage, LoadStage::kFound);
  EXPECT_THAT(candidate.reason, HasSubstr("outside the library's code"));
}

class ForeignExceptionTest : public ::testing::TestWithParam<std::string> {};

TEST_P(ForeignExceptionTest, IsCaughtWhereverItComesFrom) {
  if (HALYARD_TEST_HAS_LIBCXX == 0) {
    GTEST_SKIP() << "This build had no clang++-22 with libc++.";
  }
  const std::string folder = kLibcxx + "/" + GetParam() + "/libhalyard_driver_";
  const Candidate entry = load(folder + "entry_throws.so");
  EXPECT_EQ(entry.stage, LoadStage::kSymbol);
  EXPECT_THAT(entry.reason, HasSubstr("The entry point threw an exception"));
  const Candidate create = load(folder + "create_throws.so");
  EXPECT_EQ(create.stage, LoadStage::kNegotiated);
  EXPECT_THAT(create.reason, HasSubstr("create_driver threw an exception"));
  LoadedPlugin plugin;
  const Candidate enumerate = load(folder + "enumerate_throws.so", &plugin);
  EXPECT_EQ(enumerate.stage, LoadStage::kInitialised);
  EXPECT_THAT(enumerate.reason, HasSubstr("Driver::enumerate threw an exception"));
}

INSTANTIATE_TEST_SUITE_P(Libcxx, ForeignExceptionTest, ::testing::Values("shared", "static"),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace halyard
