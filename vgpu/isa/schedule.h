// Schedules: the order in which waves and work-groups take turns.
//
// On hardware the order is nobody's: a kernel with a race gives one result today and another one
// tomorrow. Here it is an input (EngineOptions::schedule), so that a result can be repeated.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace halyard::vgpu::isa {

// Every schedule gives each resident wave its turn again and again, so waves may wait for each
// other under all of them.
struct Schedule {
  enum class Kind : uint8_t {
    kWaves,  // a wave runs until it ends, sleeps, is at a barrier, or has used the wave budget
    kWaits,  // the same, and it changes with the others of its work-group at each s_waitcnt
    kEvery,  // after `number` instructions it is the next wave's turn
    kSeed,   // wave, work-group and length of each turn are drawn from the seed `number`
  };
  Kind kind = Kind::kWaves;
  uint64_t number = 0;
  // One thread runs all work-groups of a dispatch, so that the order is the same in each run.
  bool serial = false;
  // The order holds for so many instructions of the engine; then follows kWaves.
  std::optional<uint64_t> until;

  // Several threads have no order.
  bool has_one_thread() const {
    return serial || until || kind == Kind::kEvery || kind == Kind::kSeed;
  }
  // As parse() reads it.
  std::string text() const;
  // "waves", "waits", "every:COUNT" or "seed:NUMBER"; ",serial" and ",until:COUNT" can follow. On
  // failure `error` is a sentence, and `schedule` stays as it was.
  static bool parse(std::string_view text, Schedule& schedule, std::string& error);

  bool operator==(const Schedule&) const = default;
};

// The decisions of one thread while it runs a dispatch's work-groups.
class Turns {
 public:
  // `wave_budget`: instructions that a wave runs at most before the next one gets its turn.
  // `stream`: a number of the dispatch; with a seed, dispatches with different ones differ.
  // `executed`: counts the instructions of all dispatches, for Schedule::until.
  Turns(const Schedule& schedule, uint32_t wave_budget, uint64_t stream,
        std::atomic<uint64_t>& executed);

  // The kind of order that holds now. It changes once, to kWaves, when `until` is reached.
  Schedule::Kind kind() const { return kind_; }
  uint32_t wave_budget() const { return wave_budget_; }
  // How many instructions the next wave may run. At least 1.
  uint32_t share() { return is_plain() ? wave_budget_ : other_share(); }
  // A wave has run so many.
  void ran(uint32_t instructions) {
    since_start_ += instructions;
    if (is_counting_) count(instructions);
  }
  // A number below `count`, drawn from the seed.
  uint64_t draw(uint64_t count);
  // How many work-groups to start before the first turn.
  size_t first_starts() const { return window_; }
  // How many to start when each of the `running` ones has had a turn. `ended`: one of
  // them has ended. `worked`: not all of them sleep.
  size_t starts(size_t running, bool ended, bool worked) {
    return is_plain() && ended ? 1 : other_starts(running, ended, worked);
  }

 private:
  bool is_plain() const { return kind_ <= Schedule::Kind::kWaits && !is_counting_; }
  uint32_t other_share();
  size_t other_starts(size_t running, bool ended, bool worked);
  void count(uint32_t instructions);
  uint64_t next_random();

  Schedule::Kind kind_;
  const uint32_t wave_budget_;
  const uint64_t number_;
  bool is_counting_;
  const uint64_t until_;
  std::atomic<uint64_t>& executed_;
  uint64_t random_;
  uint64_t since_start_ = 0;  // instructions since the last work-group was started, or has ended
  // Of kEvery and kSeed: work-groups that are resident together, if there are so many.
  size_t window_ = 1;
  uint32_t mean_share_ = 1;  // of kSeed
};

}  // namespace halyard::vgpu::isa
