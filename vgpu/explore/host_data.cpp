#include "vgpu/explore/host_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "vgpu/coherence/accesses.h"
#include "vgpu/host_guard.h"
#include "vgpu/isa/work_group.h"

namespace halyard::vgpu::explore {
namespace {

// FNV-1a.
class Digest {
 public:
  void add(uint8_t byte) { value_ = (value_ ^ byte) * 0x100000001b3; }
  void add(uint64_t word) {
    for (unsigned n = 0; n < 8; ++n) add(static_cast<uint8_t>(word >> n * 8));
  }
  uint64_t value() const { return value_; }

 private:
  uint64_t value_ = 0xcbf29ce484222325;
};

}  // namespace

class HostData::Group final : public isa::GroupObserver {
 public:
  Group(HostData& data, const isa::GroupContext& context) : data_(data), context_(context) {}
  ~Group() override {
    if (lines_.empty()) return;
    const std::lock_guard lock(data_.mutex_);
    Lines& all = data_.stored_[&context_];
    for (const auto& [line, mask] : lines_) all[line] |= mask;
  }

  void before(const isa::Wave& wave, const isa::Instruction& instruction) override {
    const coherence::Effect effect = coherence::effect_of(instruction);
    const bool is_memory = effect.kind == coherence::Effect::Kind::kVector ||
                           effect.kind == coherence::Effect::Kind::kScalar;
    if (!is_memory || effect.use == coherence::Use::kLoad) return;
    accesses_.read(wave, instruction, effect);
    for (const coherence::LineAccess& at : accesses_.lines()) {
      if (!range_.contains(at.line)) range_ = data_.find_(at.line);
      if (range_.contains(at.line)) lines_[at.line] |= at.mask;
    }
  }
  void after(const isa::Wave&, const isa::Instruction&, uint64_t, isa::Outcome) override {}
  void barrier() override {}

 private:
  HostData& data_;
  const isa::GroupContext& context_;
  coherence::Accesses accesses_;
  HostRange range_;  // the last that was found
  Lines lines_;
};

std::unique_ptr<isa::GroupObserver> HostData::watch(const isa::WorkGroup&,
                                                    const isa::GroupContext& context) {
  return std::make_unique<Group>(*this, context);
}

void HostData::end(const isa::GroupContext& context, const isa::DispatchResult&) {
  Lines lines;
  {
    const std::lock_guard lock(mutex_);
    const auto found = stored_.find(&context);
    if (found == stored_.end()) return;
    lines = std::move(found->second);
    stored_.erase(found);
  }
  std::vector<std::pair<uint64_t, uint64_t>> sorted(lines.begin(), lines.end());
  std::sort(sorted.begin(), sorted.end());
  // Where allocations lie differs from run to run: their digests are added up.
  uint64_t sum = 0;
  for (size_t n = 0; n < sorted.size();) {
    const HostRange range = find_(sorted[n].first);
    if (!range.contains(sorted[n].first)) {  // the host has freed it
      ++n;
      continue;
    }
    Digest digest;
    for (; n < sorted.size() && range.contains(sorted[n].first); ++n) {
      const auto [line, mask] = sorted[n];
      std::array<uint8_t, coherence::kLineBytes> bytes = {};
      if (!read_host(bytes.data(), coherence::memory_at(line), coherence::kLineBytes)) continue;
      digest.add(line - range.begin);
      digest.add(mask);
      for (unsigned byte = 0; byte < coherence::kLineBytes; ++byte) {
        if ((mask >> byte & 1) != 0) digest.add(bytes[byte]);
      }
    }
    sum += digest.value();
  }
  std::string name = names_ ? names_(context.dispatch->kernel_object) : "";
  name = name.empty() ? "kernels of unknown name" : "kernel " + name;
  report_(fmt::format("stores of {} to the host's memory\t{:016x}\n", name, sum));
}

void HostData::copied(uint64_t to, uint64_t bytes) const {
  if (!find_(to).contains(to)) return;
  Digest digest;
  std::array<uint8_t, 4096> part;
  for (uint64_t at = 0; at < bytes;) {
    const size_t size = std::min<uint64_t>(part.size(), bytes - at);
    if (!read_host(part.data(), coherence::memory_at(to + at), size)) return;
    for (size_t n = 0; n < size; ++n) digest.add(part[n]);
    at += size;
  }
  report_(fmt::format("copies of {} bytes to the host's memory\t{:016x}\n", bytes, digest.value()));
}

}  // namespace halyard::vgpu::explore
