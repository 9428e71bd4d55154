#include "hal/file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

namespace halyard {
namespace {

// Writes `size` bytes into a pipe that read_file() reads.
Result<std::vector<std::byte>> read_through_pipe(size_t size) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) std::abort();
  std::thread writer([&] {
    const std::vector<std::byte> block(size_t{1} << 16, std::byte{7});
    for (size_t written = 0; written < size;) {
      const ssize_t count = ::write(ends[1], block.data(), std::min(block.size(), size - written));
      if (count <= 0) break;
      written += static_cast<size_t>(count);
    }
    close(ends[1]);
  });
  auto bytes = read_file("/dev/fd/" + std::to_string(ends[0]));
  // Drains the pipe, so that the writer ends.
  std::vector<std::byte> rest(size_t{1} << 16);
  while (::read(ends[0], rest.data(), rest.size()) > 0) {
  }
  writer.join();
  close(ends[0]);
  return bytes;
}

TEST(ReadFile, ReadsPipes) {
  const auto bytes = read_through_pipe(100000);
  ASSERT_TRUE(bytes.ok());
  EXPECT_EQ(bytes->size(), 100000u);
}

TEST(ReadFile, RefusesAPipeThatDoesNotEnd) {
  const auto bytes = read_through_pipe(kLongestPipe + (size_t{1} << 26));
  ASSERT_FALSE(bytes.ok());
  EXPECT_EQ(bytes.status().code(), StatusCode::kOutOfRange);
  EXPECT_THAT(std::string(bytes.status().message().view()),
              ::testing::HasSubstr("brings more than 1073741824 bytes"));
}

}  // namespace
}  // namespace halyard
