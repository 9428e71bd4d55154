// A folder for one test, gone when it ends; and environment variables for one test.
#pragma once

#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>

namespace halyard::testing {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "halyard-test-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp fails for " + name);
    // What is compared with real paths must be one.
    path_ = std::filesystem::canonical(name).string();
  }
  ~TemporaryFolder() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string operator/(std::string_view name) const { return path_ + "/" + std::string(name); }

  std::string add_folder(std::string_view name) const {
    std::filesystem::create_directories(*this / name);
    return *this / name;
  }
  std::string add_file(std::string_view name, std::string_view content = "") const {
    const std::filesystem::path file = *this / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << content;
    return file.string();
  }
  std::string add_copy(std::string_view name, const std::string& of) const {
    const std::filesystem::path file = *this / name;
    std::filesystem::create_directories(file.parent_path());
    std::filesystem::copy_file(of, file);
    return file.string();
  }
  std::string add_link(std::string_view name, const std::string& to) const {
    const std::filesystem::path file = *this / name;
    std::filesystem::create_directories(file.parent_path());
    std::filesystem::create_symlink(to, file);
    return file.string();
  }

 private:
  std::string path_;
};

class ScopedVariable {
 public:
  ScopedVariable(const char* name, const std::string& value) : name_(name) {
    if (const char* old = getenv(name)) {
      old_ = old;
      had_one_ = true;
    }
    setenv(name, value.c_str(), 1);
  }
  ~ScopedVariable() {
    if (had_one_) {
      setenv(name_, old_.c_str(), 1);
    } else {
      unsetenv(name_);
    }
  }
  ScopedVariable(const ScopedVariable&) = delete;
  ScopedVariable& operator=(const ScopedVariable&) = delete;

 private:
  const char* name_;
  std::string old_;
  bool had_one_ = false;
};

}  // namespace halyard::testing
