// Messages between the processes that share a folder of the driver's files: sent to all that listen
// at that time. Each listener has a socket in the folder. What a killed one leaves there is removed
// by the next sender.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <string>
#include <thread>

namespace halyard::vgpu::kfd {

class Mailbox {
 public:
  using Receive = std::function<void(const void* message, size_t bytes)>;
  static constexpr size_t kMostBytes = 256;  // of a message; there is no empty one

  Mailbox() = default;
  ~Mailbox();
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;

  // `root`: the folder; null: there is none, and no other process. Before anything else.
  void start(const char* root);
  // A thread of its own calls `receive` from now on. Once. If that cannot be, nothing is received.
  void listen(Receive receive);
  // To the others; this process does not get it. What does not fit into a listener's queue is
  // dropped.
  void send(const void* message, size_t bytes) const;

  // Removes the socket's name, as when the process ends.
  void remove() const;
  // For a child of fork, which has no thread: the socket is its parent's.
  void leave_to_parent();

 private:
  void run();

  std::string folder_;  // empty: none
  std::string name_;    // of the socket in the folder
  int socket_ = -1;
  Receive receive_;
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace halyard::vgpu::kfd
