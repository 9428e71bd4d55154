#include "hal/printf_formats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "code_objects.h"
#include "hal/code_object.h"
#include "hal/hidden_buffers.h"

namespace halyard {
namespace {

using testing::Bytes;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::read_data;

Result<std::vector<PrintfFormat>> read_formats(const Bytes& bytes) {
  return read_printf_formats(bytes.data(), bytes.size());
}
// Of printf.hsaco, with a part of its metadata replaced by as many bytes.
std::string damage(const std::string& from, const std::string& to) {
  Bytes bytes = read_data("printf.hsaco");
  testing::replace(bytes, from, to);
  const auto formats = read_formats(bytes);
  return formats.ok() ? "it was read" : formats.status().to_string();
}

TEST(PrintfFormats, AreWhatTheSourceSays) {
  const Bytes bytes = read_data("printf.hsaco");
  const auto formats = read_formats(bytes);
  ASSERT_TRUE(formats.ok()) << formats.status().to_string();
  ASSERT_EQ(formats->size(), 2u);
  const auto& plain = (*formats)[0].sizes.empty() ? (*formats)[0] : (*formats)[1];
  const auto& other = (*formats)[0].sizes.empty() ? (*formats)[1] : (*formats)[0];
  EXPECT_EQ(plain.text, "plain\n");
  EXPECT_EQ(other.text, "item %d: %f, %s; %v4hlf\n");
  EXPECT_THAT(other.sizes, ElementsAre(4, 4, 8, 16));
  EXPECT_NE(plain.id, other.id);
  const auto object = CodeObject::read(bytes.data(), bytes.size());
  ASSERT_TRUE(object.ok());
  EXPECT_TRUE(
      wants_hidden_buffer(object->kernels()[0].function, ArgumentKind::kHiddenPrintfBuffer));
}

TEST(PrintfFormats, OfACodeObjectThatDoesNotPrintThereAreNone) {
  const auto formats = read_formats(read_data("v5.hsaco"));
  ASSERT_TRUE(formats.ok()) << formats.status().to_string();
  EXPECT_THAT(*formats, IsEmpty());
  EXPECT_EQ(read_formats(Bytes(100)).status().code(), StatusCode::kInvalidArgument);
}

TEST(PrintfFormats, AnEntryThatIsNotAsLlvmWritesItIsNamed) {
  EXPECT_THAT(damage(":4:4:8:16:", ":4:4:8:1x:"), HasSubstr("amdhsa.printf has an entry ("));
  EXPECT_THAT(damage("2:4:4:4:8:16:item", "2:3:4:4:8:16:item"),
              HasSubstr("amdhsa.printf has an entry ("));
  EXPECT_THAT(damage("1:0:plain", "0:0:plain"), HasSubstr("an id from 1 on"));
  EXPECT_THAT(damage("1:0:plain", "2:0:plain"), HasSubstr("two formats with the id 2"));
}

// printf("%d\\n", 1, 2): LLVM counts both arguments, and writes the size of the one that is used.
TEST(PrintfFormats, OfArgumentsThatTheFormatDoesNotUseThereIsOnlyTheCount) {
  Bytes bytes = read_data("printf.hsaco");
  testing::replace(bytes, "2:4:4:4:8:16:item", "2:9:4:4:8:16:item");
  const auto formats = read_formats(bytes);
  ASSERT_TRUE(formats.ok()) << formats.status().to_string();
  ASSERT_EQ(formats->size(), 2u);
  const auto& last = (*formats)[1].sizes.empty() ? (*formats)[0] : (*formats)[1];
  EXPECT_THAT(last.sizes, ElementsAre(4, 4, 8, 16));
  EXPECT_EQ(last.text, "item %d: %f, %s; %v4hlf\n");
}

}  // namespace
}  // namespace halyard
