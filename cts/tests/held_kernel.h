// A kernel in flight until the host lets it end.
#pragma once

#include <atomic>
#include <cstdint>

#include "cts/harness/device_test.h"

namespace halyard::cts {

class HeldKernel {
 public:
  // `kernel` is "answer" of the fat file "coherence"; `mail`, two words of host memory that nobody
  // else uses. Does not start it.
  HeldKernel(const Function* kernel, Ref<Buffer> mail) : kernel_(kernel), mail_(std::move(mail)) {
    words_ = static_cast<uint32_t*>(take(mail_->map(0, 8, MapAccess::kReadWrite)));
    word(0).store(0);
    word(1).store(0);
  }
  HeldKernel(const HeldKernel&) = delete;
  HeldKernel& operator=(const HeldKernel&) = delete;
  // A test that fails leaves nothing behind that never ends.
  ~HeldKernel() { release(); }

  Launch launch() const {
    // How often it looks before it gives up: minutes on any device.
    constexpr uint32_t kLooks = 100 * 1000 * 1000;
    return Launch(kernel_, {1, 1, 1}, {1, 1, 1},
                  {mail_, Argument::of(uint32_t{1}), Argument::of(kLooks)});
  }
  Status start(Queue& queue, const Sync& sync = {}) const { return queue.dispatch(launch(), sync); }
  void release() { word(0).store(1); }
  // Whether it has come to its end, without any call of the interface.
  bool has_ended() const { return word(1).load() != 0; }

 private:
  std::atomic_ref<uint32_t> word(size_t i) const { return std::atomic_ref<uint32_t>(words_[i]); }

  const Function* kernel_;
  Ref<Buffer> mail_;
  uint32_t* words_ = nullptr;
};

}  // namespace halyard::cts
