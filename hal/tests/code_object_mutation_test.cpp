// The reader is total: whatever the bytes are, it gives a result or an error and reads nothing
// outside of them. Each input lies at the end of a block of its own, so that the address sanitizer
// sees a read past it.
#include <gtest/gtest.h>

#include <memory>
#include <random>

#include "code_objects.h"
#include "hal/code_object.h"
#include "hal/code_object_check.h"
#include "hal/presentation.h"

namespace halyard {
namespace {

using testing::Bytes;
using testing::read_data;

// What loaders get is in order if it was made of what is.
void expect_sound(const std::vector<std::byte>& presented) {
  const auto object = CodeObject::read(presented.data(), presented.size());
  ASSERT_TRUE(object.ok()) << object.status().to_string();
  const Status status = check_code_object(presented.data(), presented.size(), *object, UINT64_MAX);
  ASSERT_TRUE(status.ok()) << status.to_string();
}

// Reads it, checks it, presents it, and looks at everything that came out.
void exercise(const char* data, size_t size) {
  const std::unique_ptr<char[]> exact(new char[size]);
  std::copy(data, data + size, exact.get());
  const Result<CodeObject> object = CodeObject::read(exact.get(), size);
  if (!object.ok()) {
    ASSERT_FALSE(object.status().message().empty());
    ASSERT_NE(object.status().code(), StatusCode::kInternal) << object.status().to_string();
    return;
  }
  uint64_t sum = 0;
  for (const KernelInfo& kernel : object->kernels()) {
    for (const char c : kernel.function.name.view()) sum += c;
    for (const ArgumentInfo& argument : kernel.function.arguments) {
      ASSERT_LE(uint64_t{argument.offset} + argument.size, kernel.function.kernarg_size);
      for (const char c : argument.name.view()) sum += c;
    }
    for (const ArgumentInfo& argument : kernel.function.hidden) {
      ASSERT_LE(uint64_t{argument.offset} + argument.size, kernel.function.kernarg_size);
    }
    ASSERT_LE(kernel.descriptor_offset + 64, size);
  }
  for (const GlobalSymbol& global : object->globals()) sum += global.name.size();
  const TargetId device{"gfx900", Feature::kUnsupported, Feature::kAny};
  const Status check = check_code_object(exact.get(), size, *object, UINT64_MAX);
  if (!check.ok()) {
    ASSERT_FALSE(check.message().empty());
    ASSERT_NE(check.code(), StatusCode::kInternal) << check.to_string();
  }
  for (const uint32_t version : {4u, 5u}) {
    const auto presented = present_code_object(exact.get(), size, version, device);
    if (!presented.ok()) continue;
    ASSERT_GE(presented->size(), size);
    if (check.ok()) {
      ASSERT_NO_FATAL_FAILURE(expect_sound(*presented));
    }
  }
  const auto opaque = present_opaque_arguments(exact.get(), size, 4096);
  if (opaque.ok() && check.ok()) {
    ASSERT_NO_FATAL_FAILURE(expect_sound(*opaque));
  }
  (void)sum;
}

TEST(CodeObjectMutation, EveryPrefixOfACodeObject) {
  for (const char* name : {"v4.hsaco", "gfx9-generic.hsaco"}) {
    const Bytes bytes = read_data(name);
    for (size_t size = 0; size < bytes.size(); ++size) {
      ASSERT_NO_FATAL_FAILURE(exercise(bytes.data(), size)) << name << " up to " << size;
      // Its section headers are the last thing in a file that lld wrote.
      ASSERT_FALSE(CodeObject::read(bytes.data(), size).ok()) << name << " up to " << size;
    }
    exercise(bytes.data(), bytes.size());
  }
}

TEST(CodeObjectMutation, EveryByteFlipped) {
  const Bytes bytes = read_data("gfx9-generic.hsaco");
  for (size_t i = 0; i < bytes.size(); ++i) {
    Bytes mutant = bytes;
    mutant[i] = static_cast<char>(~mutant[i]);
    ASSERT_NO_FATAL_FAILURE(exercise(mutant.data(), mutant.size())) << "byte " << i;
  }
}

TEST(CodeObjectMutation, RandomBytesChanged) {
  std::mt19937 random(20260101);
  const unsigned char interesting[] = {0, 1, 0x7f, 0x80, 0xc1, 0xd9, 0xdb, 0xdd, 0xdf, 0xfe, 0xff};
  for (const char* name : {"v3.hsaco", "v5.hsaco", "gfx9-generic.hsaco", "named.hsaco"}) {
    const Bytes bytes = read_data(name);
    for (int round = 0; round < 3000; ++round) {
      Bytes mutant = bytes;
      for (uint32_t changes = 1 + random() % 8; changes > 0; --changes) {
        // Half of them where the headers and the metadata are.
        const size_t range =
            random() % 2 == 0 ? mutant.size() : std::min<size_t>(2048, mutant.size());
        mutant[random() % range] = static_cast<char>(
            random() % 2 == 0 ? random() : interesting[random() % std::size(interesting)]);
      }
      ASSERT_NO_FATAL_FAILURE(exercise(mutant.data(), mutant.size())) << name << " " << round;
    }
  }
}

TEST(CodeObjectMutation, HeadersWithHugeNumbers) {
  const Bytes bytes = read_data("gfx9-generic.hsaco");
  const auto header = testing::get<Elf64_Ehdr>(bytes, 0);
  const uint64_t huge[] = {0,          1,          bytes.size() - 1, bytes.size(), 0x7fffffff,
                           0xffffffff, 1ull << 63, UINT64_MAX - 7,   UINT64_MAX};
  std::vector<size_t> fields = {offsetof(Elf64_Ehdr, e_shoff), offsetof(Elf64_Ehdr, e_phoff)};
  for (int i = 0; i < header.e_shnum; ++i) {
    const size_t base = header.e_shoff + i * sizeof(Elf64_Shdr);
    for (size_t at = 0; at < sizeof(Elf64_Shdr); at += 8) fields.push_back(base + at);
  }
  for (int i = 0; i < header.e_phnum; ++i) {
    const size_t base = header.e_phoff + i * sizeof(Elf64_Phdr);
    for (size_t at = 0; at < sizeof(Elf64_Phdr); at += 8) fields.push_back(base + at);
  }
  for (const size_t field : fields) {
    for (const uint64_t value : huge) {
      Bytes mutant = bytes;
      testing::put(mutant, field, value);
      ASSERT_NO_FATAL_FAILURE(exercise(mutant.data(), mutant.size())) << field << " " << value;
    }
  }
}

// A table that claims to have four thousand million entries must not make us set aside room.
TEST(CodeObjectMutation, MetadataThatClaimsToBeHuge) {
  const Bytes bytes = read_data("v5.hsaco");
  const size_t note = testing::find(bytes, "AMDGPU") + 8;
  for (const unsigned char tag : {0xdd, 0xdf, 0xdb, 0xc6, 0xc9}) {
    Bytes mutant = bytes;
    mutant[note] = static_cast<char>(tag);
    testing::put<uint32_t>(mutant, note + 1, 0xffffffff);
    ASSERT_NO_FATAL_FAILURE(exercise(mutant.data(), mutant.size()));
    ASSERT_FALSE(CodeObject::read(mutant.data(), mutant.size()).ok());
  }
  Bytes nested = bytes;
  for (size_t i = 0; i < 1000; ++i) nested[note + i] = static_cast<char>(0x91);
  const auto object = CodeObject::read(nested.data(), nested.size());
  ASSERT_FALSE(object.ok());
  EXPECT_NE(object.status().message().view().find("nested"), std::string_view::npos);
}

}  // namespace
}  // namespace halyard
