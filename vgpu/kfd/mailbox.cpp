#include "vgpu/kfd/mailbox.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <system_error>
#include <utility>

namespace halyard::vgpu::kfd {
namespace {

// Through the folder's descriptor: the name of a socket is short (108 bytes). Those of new_name()
// have fewer than 64; what is longer is nobody's, and nobody is found there.
sockaddr_un address_of(int folder, const char* name) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/%.80s", folder, name);
  return address;
}

// No number of a process comes twice at one time, also in another namespace of processes.
std::string new_name() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  char name[64];
  std::snprintf(name, sizeof name, "%d.%llx.%lx", getpid(),
                static_cast<unsigned long long>(now.tv_sec),
                static_cast<unsigned long>(now.tv_nsec));
  return name;
}

}  // namespace

void Mailbox::start(const char* root) {
  // Beside the driver's files, as the memory in use (usage.h).
  if (root != nullptr) folder_ = std::string(root) + "/messages";
}

void Mailbox::listen(Receive receive) {
  if (folder_.empty()) return;
  mkdir(folder_.c_str(), 0700);
  const int folder = open(folder_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;
  std::string name = new_name();
  const sockaddr_un address = address_of(folder, name.c_str());
  socket_ = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (socket_ >= 0 &&
      bind(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0)
    name_ = std::move(name);
  close(folder);
  if (name_.empty()) return;
  receive_ = std::move(receive);
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error&) {
    remove();
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Mailbox::run() {
  pthread_setname_np(pthread_self(), "vgpu-mailbox");
  while (!stopping_.load(std::memory_order_acquire)) {
    unsigned char message[kMostBytes];
    const ssize_t bytes = recv(socket_, message, sizeof message, 0);
    if (bytes > 0) receive_(message, static_cast<size_t>(bytes));
    if (bytes < 0 && errno != EINTR) return;
  }
}

void Mailbox::send(const void* message, size_t bytes) const {
  if (folder_.empty()) return;
  DIR* const folder = opendir(folder_.c_str());
  if (folder == nullptr) return;
  const int sender = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  while (const dirent* const entry = sender >= 0 ? readdir(folder) : nullptr) {
    if (entry->d_name[0] == '.' || name_ == entry->d_name) continue;
    const sockaddr_un address = address_of(dirfd(folder), entry->d_name);
    if (sendto(sender, message, bytes, MSG_DONTWAIT | MSG_NOSIGNAL,
               reinterpret_cast<const sockaddr*>(&address), sizeof address) < 0 &&
        errno == ECONNREFUSED)
      unlinkat(dirfd(folder), entry->d_name, 0);
  }
  if (sender >= 0) close(sender);
  closedir(folder);
}

void Mailbox::remove() const {
  if (!name_.empty()) unlink((folder_ + "/" + name_).c_str());
}

void Mailbox::leave_to_parent() {
  name_.clear();
  if (socket_ >= 0) close(std::exchange(socket_, -1));
}

Mailbox::~Mailbox() {
  remove();
  if (thread_.joinable()) {
    stopping_.store(true, std::memory_order_release);
    shutdown(socket_, SHUT_RD);  // ends recv()
    thread_.join();
  }
  if (socket_ >= 0) close(socket_);
}

}  // namespace halyard::vgpu::kfd
