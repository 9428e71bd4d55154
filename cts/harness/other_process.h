// Tests of what two processes do together.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <type_traits>

namespace halyard::cts {

// At the start of such a test:
//   OtherProcess other;
//   if (other.is_parent()) { …what the child does… return; }
//   …what the suite's own process does…
//   other.finish();
// In the suite's own process the constructor runs the current test again in a child; there it finds
// the process that has started it. What cannot be sent or received throws, which ends the test.
class OtherProcess {
 public:
  OtherProcess();
  OtherProcess(const OtherProcess&) = delete;
  OtherProcess& operator=(const OtherProcess&) = delete;
  // Without finish(): the child detects the closed socket, and ends.
  ~OtherProcess();

  // Whether the other one is the parent: then this is the child.
  bool is_parent() const { return is_parent_; }

  template <typename T>
  void send(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    send_bytes(&value, sizeof value);
  }
  // Waits for the time of --timeout.
  template <typename T>
  T receive() {
    static_assert(std::is_trivially_copyable_v<T>);
    T value;
    receive_bytes(&value, sizeof value);
    return value;
  }
  // A copy of an open descriptor; the receiver closes its own.
  void send_descriptor(int descriptor);
  int receive_descriptor();
  // A point that both have to reach.
  void meet();

  // Waits until the child has ended. What failed there is a failure of the test.
  void finish();
  // Instead, where the test has killed the child.
  void finish_killed();

 private:
  void send_bytes(const void* data, size_t size);
  void receive_bytes(void* data, size_t size);
  void wait_for_bytes();

  bool is_parent_ = false;
  int socket_ = -1;
  pid_t child_ = -1;
};

}  // namespace halyard::cts
