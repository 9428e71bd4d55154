// File descriptors that go from a process to another over a socket (unix(7), SCM_RIGHTS).
#pragma once

#include <sys/socket.h>

#include <cstring>

namespace halyard::cts {

// A byte, which a stream needs, with a descriptor beside it.
struct DescriptorMessage {
  char byte = 'd';
  iovec data = {&byte, sizeof byte};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message = {};

  DescriptorMessage() {
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
  }
  DescriptorMessage(const DescriptorMessage&) = delete;
  DescriptorMessage& operator=(const DescriptorMessage&) = delete;
};

// False if the other end is gone.
inline bool send_descriptor(int socket, int descriptor) {
  DescriptorMessage sent;
  cmsghdr* const header = CMSG_FIRSTHDR(&sent.message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof descriptor);
  std::memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
  return sendmsg(socket, &sent.message, MSG_NOSIGNAL) == sizeof sent.byte;
}

// -1 if the other end is gone, or has sent something else. The caller closes the descriptor.
inline int receive_descriptor(int socket) {
  DescriptorMessage received;
  if (recvmsg(socket, &received.message, MSG_CMSG_CLOEXEC) != sizeof received.byte) return -1;
  const cmsghdr* const header = CMSG_FIRSTHDR(&received.message);
  if (header == nullptr || header->cmsg_type != SCM_RIGHTS) return -1;
  int descriptor = -1;
  std::memcpy(&descriptor, CMSG_DATA(header), sizeof descriptor);
  return descriptor;
}

}  // namespace halyard::cts
