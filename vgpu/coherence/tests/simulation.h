// Real memory, and GPUs' accesses to it as the model is told of them: for the model's own tests.
#pragma once

#include <gmock/gmock.h>

#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "vgpu/coherence/model.h"

namespace halyard::vgpu::coherence::testing {

struct Packet {
  Scope acquire = Scope::kSystem;
  Scope release = Scope::kSystem;
  std::string name = "kernel k";
  uint32_t queue = 1;
  uint64_t index = 0;
  uint64_t ordered_below = ~uint64_t{0};
};

class Simulation {
 public:
  explicit Simulation(const std::vector<std::string>& processors, bool notes = false,
                      uint32_t xcds = 1);
  ~Simulation();

  Model& model() { return *model_; }

  // Pages of zeros: coarse-grained memory of GPU `node` (0: the host's), or fine-grained.
  uint32_t* allocate(uint32_t node, bool coarse = true, size_t pages = 1);
  uint32_t* fine(uint32_t node = 0) { return allocate(node, false); }
  // Fine-grained memory of GPU `node` that the host reaches through the PCI window.
  uint32_t* behind_window(uint32_t node, size_t pages = 1);
  // The host flushes the GPU's HDP.
  void flush(uint32_t node) { registers_[node - 1] = 1; }
  // The model forgets it, and knows it again as memory that was just allocated.
  void reallocate(uint32_t* memory);

  WorkId begin(uint32_t node, Packet packet = {}, WorkKind kind = WorkKind::kDispatch);
  void end(WorkId work) { model_->end(work); }
  // A packet that does nothing.
  void pass(uint32_t node, Packet packet = {}, WorkKind kind = WorkKind::kBarrier) {
    end(begin(node, std::move(packet), kind));
  }

  // A copy engine of GPU `node` writes `value` to all of [to, to + words), or reads as many.
  void copy_in(uint32_t node, uint32_t* to, uint32_t value, size_t words = 1);
  void copy_out(uint32_t node, const uint32_t* from, size_t words = 1);

  // What was found since the last time.
  std::vector<std::string> take() { return std::exchange(found_, {}); }

 private:
  friend class Group;

  uint32_t* allocate(size_t pages, const Placement& placement);

  std::unique_ptr<Model> model_;
  std::vector<uint32_t> registers_;
  std::vector<std::string> found_;
  std::vector<std::pair<uint32_t*, Allocation>> memory_;
};

// A work-group of a dispatch. Each access is a place of its own in its kernel, unless `at` says
// which.
class Group {
 public:
  Group(Simulation& simulation, WorkId work, uint32_t waves = 1, uint32_t xcd = 0);
  ~Group();
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  Group& wave(uint32_t wave) {
    wave_ = wave;
    return *this;
  }
  Group& at(uint64_t place) {
    place_ = place;
    return *this;
  }

  void load(const uint32_t* from, size_t words = 1) { vector(Use::kLoad, false, from, words); }
  void load_past_l1(const uint32_t* from) { vector(Use::kLoad, true, from, 1); }
  void store(uint32_t* to, uint32_t value, size_t words = 1);
  void add(uint32_t* to);
  void wait(uint32_t count = 0);
  void invalidate_l1() { Model::invalidate_l1(view_); }
  // What gfx942's buffer_inv and buffer_wbl2 do, and the scope of the next access.
  void invalidate(Scope scope) {
    invalidate_l1();
    model_.invalidate_l2(view_, scope);
  }
  void write_back(Scope scope) { model_.write_back_l2(view_, scope); }
  Group& scope(Scope scope) {
    scope_ = scope;
    return *this;
  }
  const GroupView& view() const { return view_; }

  void load_scalar(const uint32_t* from);
  void store_scalar(uint32_t* to, uint32_t value);
  void add_scalar(uint32_t* to);

 private:
  class Names;

  using Change = std::function<void()>;
  void vector(
      Use use, bool past_l1, const uint32_t* at, size_t words, const Change& change = [] {});
  void scalar(Use use, const uint32_t* at, const Change& change = [] {});
  uint64_t next_place();
  AuthorId author(uint64_t place, Use use);

  Simulation& simulation_;
  Model& model_;
  GroupView view_;
  uint32_t wave_ = 0;
  uint64_t place_ = 0;  // 0: a new one
  Scope scope_ = Scope::kNone;
};

// One finding, with these parts in it.
template <class... Parts>
auto one_finding(Parts... parts) {
  return ::testing::ElementsAre(::testing::AllOf(::testing::HasSubstr(parts)...));
}

}  // namespace halyard::vgpu::coherence::testing
