// What a run was worth: how often each instruction was executed, and how near its result is to
// hardware's (vgpu/isa/fidelity.h).
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "vgpu/isa/observer.h"

namespace halyard::vgpu::observe {

class FidelityCounts {
 public:
  // `executed`: by waves. The processor and the instruction are names.
  void add(const std::string& processor, const std::string& instruction, uint64_t executed);
  // What add() was told, from a text of text() or json(). False if it is none of these.
  bool add(std::string_view report);
  bool empty() const { return executed_.empty(); }
  void clear() { executed_.clear(); }

  // Instructions that are not exact come first, then those that were executed most.
  std::string text() const;
  std::string json() const;

 private:
  using Key = std::pair<std::string, std::string>;  // processor, instruction
  struct Line;
  std::vector<Line> lines() const;

  std::map<Key, uint64_t> executed_;
};

class FidelityCounter final : public isa::Observer {
 public:
  // `write` gets what was counted since the last time: when a dispatch fails, since that may end
  // the process, and with flush().
  explicit FidelityCounter(std::function<void(const FidelityCounts&)> write)
      : write_(std::move(write)) {}

  void begin(const isa::GroupContext&) override {}
  void end(const isa::GroupContext& context, const isa::DispatchResult& result) override;
  std::unique_ptr<isa::GroupObserver> watch(const isa::WorkGroup& group,
                                            const isa::GroupContext& context) override;
  void flush();

 private:
  class Group;

  std::function<void(const FidelityCounts&)> write_;
  std::mutex mutex_;
  FidelityCounts counts_;
};

}  // namespace halyard::vgpu::observe
