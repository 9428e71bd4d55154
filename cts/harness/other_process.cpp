#include "cts/harness/other_process.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <stdexcept>

#include "cts/harness/child.h"
#include "cts/harness/descriptor_message.h"
#include "cts/harness/environment.h"

namespace halyard::cts {

namespace {

// The socket's number in the child.
constexpr int kChannel = 3;

}  // namespace

OtherProcess::OtherProcess() : is_parent_(is_child()) {
  if (is_parent_) {
    socket_ = kChannel;
    return;
  }
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) {
    throw std::runtime_error("There are no sockets to talk to another process through.");
  }
  socket_ = sockets[0];
  child_ = start_child(sockets[1], kChannel);
  close(sockets[1]);
}

OtherProcess::~OtherProcess() {
  if (child_ >= 0) {
    finish();
  } else if (socket_ >= 0) {
    close(socket_);
  }
}

void OtherProcess::meet() {
  send('.');
  static_cast<void>(receive<char>());
}

void OtherProcess::finish() {
  close(socket_);
  socket_ = -1;
  if (child_ >= 0) finish_child(child_);
  child_ = -1;
}

void OtherProcess::finish_killed() {
  close(socket_);
  socket_ = -1;
  if (child_ >= 0) finish_killed_child(child_);
  child_ = -1;
}

void OtherProcess::send_descriptor(int descriptor) {
  if (!cts::send_descriptor(socket_, descriptor)) {
    throw std::runtime_error("The other process is gone.");
  }
}

int OtherProcess::receive_descriptor() {
  wait_for_bytes();
  const int descriptor = cts::receive_descriptor(socket_);
  if (descriptor < 0) {
    throw std::runtime_error("The other process has ended, or has sent no descriptor.");
  }
  return descriptor;
}

void OtherProcess::send_bytes(const void* data, size_t size) {
  // A few bytes fit into the socket as a whole.
  if (::send(socket_, data, size, MSG_NOSIGNAL) != static_cast<ssize_t>(size)) {
    throw std::runtime_error("The other process is gone.");
  }
}

void OtherProcess::wait_for_bytes() {
  const auto timeout_ms = static_cast<int>(Environment::get().options().timeout_seconds * 1000);
  pollfd readable = {socket_, POLLIN, 0};
  if (poll(&readable, 1, timeout_ms) == 0) {
    throw std::runtime_error("The other process has sent nothing.");
  }
}

void OtherProcess::receive_bytes(void* data, size_t size) {
  wait_for_bytes();
  if (recv(socket_, data, size, MSG_WAITALL) != static_cast<ssize_t>(size)) {
    throw std::runtime_error("The other process has ended without an answer.");
  }
}

}  // namespace halyard::cts
