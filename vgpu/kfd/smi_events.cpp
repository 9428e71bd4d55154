#include "vgpu/kfd/smi_events.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "vgpu/kfd/abi.h"

namespace halyard::vgpu::kfd {
namespace {

// The process's name, as Linux has it of the first thread.
void read_name(char (&name)[16]) {
  name[0] = '\0';
  const int file = open("/proc/self/comm", O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  const ssize_t length = read(file, name, sizeof name - 1);
  close(file);
  name[length > 0 ? length : 0] = '\0';
  if (char* const end = std::strchr(name, '\n')) *end = '\0';
}

constexpr uint64_t mask_of(abi::SmiEvent event) {
  return uint64_t{1} << (static_cast<unsigned>(event) - 1);
}

}  // namespace

SmiEvents::SmiEvents(machine::EventTable& events) : events_(events) {
  events_.set_fault_listener(this);
}

SmiEvents::~SmiEvents() {
  events_.set_fault_listener(nullptr);
  const std::lock_guard lock(mutex_);  // the mailbox's thread may be at work
  for (const Client& client : clients_) close(client.socket);
  clients_.clear();
}

void SmiEvents::remove() {
  const std::lock_guard lock(mutex_);
  mailbox_.remove();
}

int SmiEvents::open(uint32_t node) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) != 0) return -errno;
  // Linux's own descriptors of this kind stay open on exec; the driver's end is the driver's.
  fcntl(ends[1], F_SETFD, FD_CLOEXEC);
  const std::lock_guard lock(mutex_);
  if (!listening_)
    mailbox_.listen([this](const void* message, size_t bytes) { hear(message, bytes); });
  listening_ = true;
  update_all();
  Client client;
  client.node = node;
  client.socket = ends[1];
  clients_.push_back(client);
  return ends[0];
}

bool SmiEvents::update(Client& client) {
  unsigned char bytes[256];
  for (;;) {
    const ssize_t count = recv(client.socket, bytes, sizeof bytes, MSG_DONTWAIT);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno == EAGAIN;
    if (count == 0) return false;
    for (ssize_t i = 0; i < count; ++i) {
      client.bytes[client.byte_count++] = bytes[i];
      if (client.byte_count < sizeof client.mask) continue;
      std::memcpy(&client.mask, client.bytes, sizeof client.mask);
      client.byte_count = 0;
    }
  }
}

void SmiEvents::update_all() {
  std::erase_if(clients_, [](Client& client) {
    if (update(client)) return false;
    close(client.socket);
    return true;
  });
}

void SmiEvents::memory_fault(const queue::MemoryFault& fault) {
  if (fault.is_hang) return;
  char name[16];
  read_name(name);
  Message message;
  message.node = fault.node;
  std::snprintf(message.line, sizeof message.line, "%x %x:%s\n",
                static_cast<unsigned>(abi::SmiEvent::kVmFault), static_cast<unsigned>(getpid()),
                name);
  const std::lock_guard lock(mutex_);
  report(message);
  mailbox_.send(&message, sizeof message);
}

void SmiEvents::hear(const void* message, size_t bytes) {
  Message copy;
  if (bytes != sizeof copy) return;
  std::memcpy(&copy, message, sizeof copy);
  copy.line[sizeof copy.line - 1] = '\0';
  const std::lock_guard lock(mutex_);
  report(copy);
}

void SmiEvents::report(const Message& message) {
  update_all();
  for (const Client& client : clients_) {
    if (client.node != message.node || (client.mask & mask_of(abi::SmiEvent::kVmFault)) == 0)
      continue;
    // What does not fit is dropped, as by Linux.
    send(client.socket, message.line, std::strlen(message.line), MSG_DONTWAIT | MSG_NOSIGNAL);
  }
}

}  // namespace halyard::vgpu::kfd
