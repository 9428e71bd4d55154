// A text file that several threads and processes add whole blocks to.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace halyard::vgpu::observe {

class OutputFile {
 public:
  // Called once, on any thread, with the reason why appended text is lost: a sentence.
  using Lost = std::function<void(const std::string& why)>;

  // Opened to append, and made if it does not exist. Null, with a sentence, if it cannot be.
  static std::unique_ptr<OutputFile> open(const std::string& path, Lost lost, std::string& error);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  // Writes the block with one system call, so that blocks of others are not mixed in. What the
  // system refuses (a full disk) is lost, and `lost` hears of it.
  void append(std::string_view block);

  // Puts what `make` returns in place of the file's text, which it gets; one process at a time. An
  // empty result leaves the file as it is. (What is no regular file has no text, and gets more.)
  void replace(const std::function<std::string(const std::string& text)>& make);

 private:
  OutputFile(int file, std::string path, Lost lost)
      : file_(file), path_(std::move(path)), lost_(std::move(lost)) {}

  const int file_;
  const std::string path_;
  const Lost lost_;
  std::atomic<bool> has_lost_{false};
};

}  // namespace halyard::vgpu::observe
