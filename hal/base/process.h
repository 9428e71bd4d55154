// Starting processes: programs, and children that run a function of this process. What fails is an
// errno.
#pragma once

#include <sys/types.h>

#include <array>
#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace halyard::base {

// A pipe that no program inherits. Its ends are closed with it.
class Pipe {
 public:
  Pipe() = default;
  ~Pipe();
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  int open();                              // 0, or why there is none
  int reader() const { return ends_[0]; }  // -1: closed
  int writer() const { return ends_[1]; }
  // The end is the caller's now.
  int take_reader() { return std::exchange(ends_[0], -1); }
  int take_writer() { return std::exchange(ends_[1], -1); }
  void close_reader() { close_end(0); }
  void close_writer() { close_end(1); }

 private:
  void close_end(size_t end);
  std::array<int, 2> ends_ = {-1, -1};
};

struct Program {
  std::vector<std::string> words;  // words[0] is looked for in PATH, unless it is a path
  std::string file = {};           // what is run in place of words[0], if not empty
  std::vector<std::string> environment = this_environment();  // "NAME=value"
  // Each first is the program's descriptor second.
  std::vector<std::pair<int, int>> descriptors = {};
  std::vector<int> closed = {};           // descriptors that the program has not
  std::vector<int> default_signals = {};  // that it does not inherit as caught
  // A process group of its own. The program does not stop when it writes to the terminal from
  // there.
  bool own_group = false;
  bool ends_with_parent = false;  // it is killed when this process ends

  static std::vector<std::string> this_environment();
};

// Starts the program; 0, or why it cannot run.
int start(const Program& program, pid_t* pid);

// Starts a child of this process that runs `work` and ends, with code 1 if that throws. It writes
// to `pipe`, whose reader this process keeps. It is killed when this process ends, and what it
// prints goes to standard error. 0, or why there is no child.
int start_child(Pipe& pipe, const std::function<void(int writer)>& work, pid_t* pid);

// What waitpid says of the process when it has ended.
int wait_for(pid_t pid);

// False if the other end is closed.
bool write_all(int descriptor, std::string_view text);

// Appends to `text` what can be read, as soon as there is something.
constexpr std::chrono::milliseconds kForever = std::chrono::milliseconds::max();
enum class Got { kBytes, kEnd, kNothingInTime };
Got read_some(int descriptor, std::chrono::milliseconds timeout, std::string* text);

// Reads both to their ends at once, so that neither fills up while the other is waited for. Either
// may be closed. `patience`, where given, is called now and then: after as many milliseconds as it
// said last.
void read_both(const Pipe& first, std::string* first_text, const Pipe& second,
               std::string* second_text, const std::function<int()>& patience = {});

// For exec and posix_spawn, which take arrays of char*.
std::vector<char*> pointers_to(std::vector<std::string>& texts);

}  // namespace halyard::base
