// A text file that several threads and processes add whole blocks to.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace halyard::vgpu::observe {

class OutputFile {
 public:
  // Opened to append, and made if it does not exist. Null, with a sentence, if it cannot be.
  static std::unique_ptr<OutputFile> open(const std::string& path, std::string& error);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  // Writes the block with one system call, so that blocks of others are not mixed in. What the
  // system refuses (a full disk) is lost.
  void append(std::string_view block);

 private:
  explicit OutputFile(int file) : file_(file) {}

  int file_;
};

}  // namespace halyard::vgpu::observe
