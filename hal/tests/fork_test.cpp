// What a child of fork() can do with what its parent made, and with drivers of its own.
#include "hal/fork.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <string>
#include <vector>

#include "fake_device.h"
#include "hal/driver.h"
#include "hal/memory_pool.h"

namespace halyard {
namespace {

using testing::FakeDevice;

// What `work` returns in a child of fork(), which then ends.
std::string in_child_of_fork(const std::function<std::string()>& work) {
  int ends[2];
  if (pipe(ends) != 0) return "pipe fails";
  const pid_t child = fork();
  if (child == 0) {
    const std::string text = work();
    _exit(write(ends[1], text.data(), text.size()) == std::ssize(text) ? 0 : 1);
  }
  close(ends[1]);
  std::string text;
  char block[4096];
  for (ssize_t count; (count = read(ends[0], block, sizeof block)) > 0;) {
    text.append(block, static_cast<size_t>(count));
  }
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return status == 0 ? text : text + " [the child has crashed]";
}

HalyardStatus* refuse(HalyardOptions, HalyardDriver**) {
  return Status(StatusCode::kUnavailable, "called").leak();
}

// Before the first driver, a child is a process like any other. Both are one test, because nothing
// takes a note of a driver back.
TEST(Fork, AChildHasNoDriverOnceItsParentHasHadOne) {
  const Ref<FakeDevice> device = Ref<FakeDevice>::adopt(new FakeDevice);
  const Ref<Buffer> buffer = device->allocate(4096).value();
  const auto allocate = [&] { return device->allocate(4096).status().to_string(); };
  if (!is_fork_of_user()) {
    EXPECT_EQ(in_child_of_fork([&] { return Driver::create(&refuse, {}).status().to_string(); }),
              "UNAVAILABLE: called");
  }

  EXPECT_EQ(Driver::create(&refuse, {}).status().code(), StatusCode::kUnavailable);
  EXPECT_EQ(allocate(), "OK");
  const Ref<Queue> queue = device->create_queue().value();
  const Ref<Semaphore> semaphore = device->create_semaphore(0).value();
  const Ref<CommandBuffer> commands = device->create_command_buffer().value();
  const Ref<MemoryPool> pool = device->create_pool({}).value();
  const std::string fails =
      "FAILED_PRECONDITION: This process (#) is a child of fork(), and process " +
      std::to_string(getpid()) +
      " had started a driver before the fork. The vendor's runtime does not survive a fork, so "
      "this process cannot use or open a device. Start it by exec or posix_spawn instead (in "
      "Python: multiprocessing.get_context(\"spawn\")), or open devices only after the fork.";
  const auto check = [&](const char* what, const std::function<std::string()>& work) {
    EXPECT_EQ(in_child_of_fork([&] {
                std::string text = work();
                const std::string number = "(" + std::to_string(getpid()) + ")";
                if (const size_t at = text.find(number); at != std::string::npos) {
                  text.replace(at, number.size(), "(#)");
                }
                return text;
              }),
              fails)
        << what;
  };
  const auto text = [](const auto& result) { return result.status().to_string(); };
  check("a driver", [&] { return text(Driver::create(&refuse, {})); });
  check("allocate", allocate);
  check("create_queue", [&] { return text(device->create_queue()); });
  check("heap", [&] { return text(device->heap(0)); });
  check("load", [&] { return text(device->load_executable("x", 1)); });
  check("import", [&] { return text(device->import_buffer({.pointer = &fails, .size = 1})); });
  check("fill", [&] { return queue->fill(*buffer, "x", 1).to_string(); });
  check("a fill of nothing", [&] { return queue->fill({*buffer, 0, 0}, "x", 1).to_string(); });
  check("abandon", [&] { return queue->abandon().to_string(); });
  check("fault", [&] { return queue->fault().to_string(); });
  check("wait", [&] { return semaphore->wait(1).to_string(); });
  check("query", [&] { return text(semaphore->query()); });
  check("finish", [&] { return commands->finish().to_string(); });
  check("subspan", [&] { return text(buffer->subspan(0, 16)); });
  check("statistics", [&] { return text(pool->statistics()); });

  // These cannot say why they do nothing.
  const Ref<FakeDevice> peer = Ref<FakeDevice>::adopt(new FakeDevice);
  device->set_peer(peer.get());
  EXPECT_TRUE(device->can_access(*peer));
  EXPECT_EQ(in_child_of_fork([&] {
              semaphore->fail(Status(StatusCode::kAborted, "given up"));
              return std::to_string(device->can_access(*peer)) +
                     std::to_string(device->log.failures.size());
            }),
            "00");
  // A child that tries drivers at its own risk.
  EXPECT_EQ(in_child_of_fork([&] {
              use_drivers_in_spite_of_fork();
              return allocate();
            }),
            "OK");
  EXPECT_EQ(allocate(), "OK");
}

// Its destructor is noticed.
class Noticed final : public driver::SemaphoreBase {
 public:
  Noticed(Device& device, bool* gone) : SemaphoreBase(device), gone_(gone) {}

 private:
  void destroy() noexcept override {
    *gone_ = true;
    delete this;
  }
  Status do_query(uint64_t*) const override { return {}; }
  Status do_signal(uint64_t) override { return {}; }
  Status do_wait(uint64_t, Deadline) const override { return {}; }
  void do_fail(const Status&) override {}
  bool* gone_;
};

TEST(Fork, AChildDoesNotDestroyWhatItsParentMade) {
  note_driver_in_use();
  const Ref<FakeDevice> device = Ref<FakeDevice>::adopt(new FakeDevice);
  bool gone = false;
  Ref<Noticed> semaphore = Ref<Noticed>::adopt(new Noticed(*device, &gone));
  EXPECT_EQ(in_child_of_fork([&] {
              semaphore = nullptr;
              return std::string(gone ? "destroyed" : "left to the parent");
            }),
            "left to the parent");
  semaphore = nullptr;
  EXPECT_TRUE(gone);
}

}  // namespace
}  // namespace halyard
