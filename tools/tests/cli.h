// Runs the built `halyard` program, without a shell, and captures its output.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "hal/file.h"
#include "tools/tests/support.h"
#include "tools/values/npy.h"
#include "tools/values/tensor.h"

namespace halyard::testing {

struct Outcome {
  int exit_code = -1;  // 128 + the signal, if one ended it
  std::string out;
  std::string err;
};

struct SpawnOptions {
  std::string program = HALYARD_PROGRAM;
  std::map<std::string, std::string> environment = {};  // on top of this process's
  std::string standard_output = {};                     // a file instead of Outcome::out
  std::vector<int> closed = {};                         // descriptors that it is started without
};

// HALYARD_* variables of this process are not handed on, nor is where the user's configs are.
Outcome spawn(const std::vector<std::string>& arguments, const SpawnOptions& options = {});

// The path of one of the suite's fat files: "vadd_c_v6".
std::string kernel(std::string_view name);
// The code object in one of them that is for `target`.
std::string plain_kernel(std::string_view name, std::string_view target);

class CliTest : public ::testing::Test {
 protected:
  // halyard run --device=amdgpu --vgpu=gfx900 --module=… --function=… and the arguments.
  static Outcome run(std::string_view module, std::string_view function,
                     const std::vector<std::string>& arguments);
  // The same, which must succeed and say nothing on standard error. Standard output.
  static std::string run_well(std::string_view module, std::string_view function,
                              const std::vector<std::string>& arguments);

  // Writes an .npy file and returns the --input for it.
  template <typename T>
  std::string npy_input(std::string_view name, values::ElementType type,
                        const std::vector<T>& elements) const {
    const values::TensorType tensor{type, {elements.size() * sizeof(T) / byte_size(type)}};
    const std::vector<std::byte> bytes = bytes_of(elements);
    write_bytes(folder_ / name,
                *values::npy_header(tensor) +
                    std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
    return "--input=@" + (folder_ / name);
  }

  template <typename T>
  std::vector<T> npy_elements(std::string_view name) const {
    const auto file = read_file(folder_ / name);
    EXPECT_TRUE(file.ok()) << message_of(file.status());
    if (!file.ok()) return {};
    const auto tensor = values::read_npy(*file);
    EXPECT_TRUE(tensor.ok()) << message_of(tensor.status());
    return tensor.ok() ? elements_of<T>(tensor->data) : std::vector<T>();
  }

  TemporaryFolder folder_;
};

}  // namespace halyard::testing
