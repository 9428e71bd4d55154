#include "hal/kernel_code.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "code_objects.h"

namespace halyard {
namespace {

using testing::Bytes;
using ::testing::HasSubstr;
using testing::read_data;

std::span<const std::byte> span_of(const Bytes& bytes) {
  return std::as_bytes(std::span(bytes));
}

struct Loaded {
  explicit Loaded(const std::string& name) : Loaded(read_data(name)) {}
  explicit Loaded(Bytes data)
      : bytes(std::move(data)), object(CodeObject::read(bytes.data(), bytes.size()).value()) {}
  const KernelInfo& kernel() const { return object.kernels().front(); }
  Bytes bytes;
  CodeObject object;
};

uint32_t word_at(std::span<const std::byte> bytes, size_t offset) {
  uint32_t word = 0;
  std::memcpy(&word, bytes.data() + offset, sizeof word);
  return word;
}

TEST(KernelCode, EndsWithTheFunction) {
  const Loaded loaded("gfx9-generic.hsaco");
  const Result<KernelCode> code = kernel_code(span_of(loaded.bytes), loaded.kernel());
  ASSERT_TRUE(code.ok()) << code.status().to_string();
  ASSERT_GE(code->bytes.size(), 8u);
  EXPECT_EQ(code->bytes.size() % 4, 0u);
  EXPECT_EQ(code->address % 256, 0u);
  // s_endpgm, which ends the only way through this kernel.
  EXPECT_EQ(word_at(code->bytes, code->bytes.size() - 4), 0xbf810000u);
}

TEST(KernelCode, ADescriptorThatLeadsOutOfTheCodeIsRefused) {
  const Loaded loaded("gfx9-generic.hsaco");
  Bytes bytes = loaded.bytes;
  testing::put<int64_t>(bytes, loaded.kernel().descriptor_offset + 16, int64_t{1} << 40);
  const Result<KernelCode> code = kernel_code(span_of(bytes), loaded.kernel());
  ASSERT_FALSE(code.ok());
  EXPECT_EQ(code.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(
      std::string(code.status().message().view()),
      AllOf(HasSubstr("leads to the address 0x1000000"), HasSubstr("in no executable segment")));
}

TEST(KernelCode, AKernelOfAnotherFileIsRefused) {
  const Loaded loaded("gfx9-generic.hsaco");
  KernelInfo kernel = loaded.kernel();
  kernel.descriptor_offset = loaded.bytes.size() - 8;
  const Result<KernelCode> code = kernel_code(span_of(loaded.bytes), kernel);
  ASSERT_FALSE(code.ok());
  EXPECT_THAT(std::string(code.status().message().view()), HasSubstr("is not of this code object"));
}

TEST(KernelCode, WhatIsNoElfIsRefused) {
  const Loaded loaded("gfx9-generic.hsaco");
  const Bytes nothing(100);
  EXPECT_FALSE(kernel_code(span_of(nothing), loaded.kernel()).ok());
}

}  // namespace
}  // namespace halyard
