// Tests of what two processes do together. Both are children of fork, so the test's own process
// must not have started the vendor's runtime: that does not survive fork.
#pragma once

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <string>
#include <type_traits>

namespace halyard::vgpu::testing {

// The other process.
class Partner {
 public:
  explicit Partner(int socket) : socket_(socket) {}

  template <typename T>
  void send(const T& value) const {
    static_assert(std::is_trivially_copyable_v<T>);
    EXPECT_EQ(::send(socket_, &value, sizeof value, MSG_NOSIGNAL),
              static_cast<ssize_t>(sizeof value))
        << "the other process is gone";
  }
  // Waits for what the other one sends. If that has ended instead, so does this one.
  template <typename T>
  T receive() const {
    static_assert(std::is_trivially_copyable_v<T>);
    T value{};
    if (recv(socket_, &value, sizeof value, MSG_WAITALL) == static_cast<ssize_t>(sizeof value)) {
      return value;
    }
    ADD_FAILURE() << "the other process has ended without an answer";
    std::fflush(nullptr);
    _exit(1);
  }
  // A step that both have to reach.
  void meet() const {
    send('.');
    static_cast<void>(receive<char>());
  }
  void wait_for_its_end() const {
    char byte = 0;
    EXPECT_EQ(recv(socket_, &byte, 1, 0), 0);
  }

 private:
  int socket_;
};

// Runs one(Partner) and other(Partner) in a process each, which ends when they return, without any
// tidying up. How they ended, as waitpid says it: with exit code 1 after a failed check.
template <typename One, typename Other>
std::array<int, 2> run_two_processes(One one, Other other) {
  std::array<int, 2> sockets{};
  EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets.data()), 0);
  std::fflush(nullptr);
  const auto start = [&sockets](auto body, size_t mine) {
    const pid_t child = fork();
    if (child != 0) return child;
    close(sockets[1 - mine]);
    body(Partner(sockets[mine]));
    std::fflush(nullptr);
    _exit(::testing::Test::HasFailure() ? 1 : 0);
  };
  const std::array<pid_t, 2> children = {start(one, 0), start(other, 1)};
  for (const int socket : sockets) close(socket);
  std::array<int, 2> ends{};
  for (size_t i = 0; i < children.size(); ++i) {
    EXPECT_EQ(waitpid(children[i], &ends[i], 0), children[i]);
  }
  return ends;
}

// … in which neither is to fail.
template <typename One, typename Other>
void in_two_processes(One one, Other other) {
  for (const int end : run_two_processes(one, other)) {
    EXPECT_FALSE(WIFSIGNALED(end)) << "a process is ended by signal " << WTERMSIG(end);
    EXPECT_EQ(WEXITSTATUS(end), 0) << "a process has failed; see above";
  }
}

}  // namespace halyard::vgpu::testing
