// The newest accesses to some bytes of memory that are always accessed together, and whether the
// order of the next one and of these matters. Pure decisions.
//
// Kept are the newest write, and two reads since, of different waves and, where there are such, of
// different work-groups. A third would not be found to race where these do not, unless atomics
// order both kept ones before a write and not the third (as in FastTrack, PLDI 2009, which keeps a
// vector there).
#pragma once

#include <cstdint>

#include "vgpu/races/access.h"
#include "vgpu/races/clock.h"

namespace halyard::vgpu::races {

// What is ordered before what a wave does now.
struct Order {
  WaveId wave;
  Time barrier = 0;              // its work-group's accesses before this time: by the last barrier
  const Clock* known = nullptr;  // by atomics; null: none

  bool is_behind(const Access& access) const {
    const WaveId other = access.wave();
    if (other.group == wave.group && (other.index == wave.index || access.time() < barrier))
      return true;
    return known != nullptr && known->knows(access);
  }
};

enum class Conflict : uint8_t {
  kNone,
  kEqual,  // the bytes stay as they were, so the order does not matter
  kMixed,  // an atomic access and a plain one
  kRace,
};

// What a write finds and leaves: whether the two differ, and hashes of them.
struct Bytes {
  bool changes = false;
  uint32_t before = 0;
  uint32_t after = 0;
};

class Cell {
 public:
  // `found(Conflict, Access)` gets the earlier accesses that have no order with this one.
  template <class Found>
  void read(const Order& order, const Access& now, Found&& found);
  // A plain one.
  template <class Found>
  void write(const Order& order, const Access& now, const Bytes& bytes, Found&& found);
  // A read-modify-write, or a store that is known to be atomic.
  template <class Found>
  void update(const Order& order, const Access& now, Found&& found);

  const Access& last_write() const { return write_; }
  // It is now one of several cells, whose bytes are not those that it had.
  void divide() { is_left_known_ = 0; }

 private:
  static constexpr unsigned kHashBits = 29;

  // Whether the wave has written what is there, too.
  bool has_written(WaveId wave) const {
    return wave.group == write_.wave().group && (equal_waves_ >> wave.index & 1) != 0;
  }
  void forget_equals() {
    equal_waves_ = 0;
    has_groups_ = 0;
  }
  void add_equal(WaveId earlier, WaveId now) {
    if (earlier.group == now.group) {
      equal_waves_ |= 1u << earlier.index;
    } else {
      equal_waves_ = 0;
      has_groups_ = 1;
    }
  }
  // The host, or another dispatch, has written since: it is for them to order that.
  bool was_changed_by_others(uint32_t before) const {
    return is_left_known_ != 0 && left_ != (before & ((1u << kHashBits) - 1));
  }
  bool has_no_order(const Order& order, const Access& earlier) const {
    return earlier && !order.is_behind(earlier);
  }

  Access write_;
  Access reads_[2];  // plain ones; since the write
  // Waves of the newest writer's work-group that have written the same bytes with no order.
  uint32_t equal_waves_ = 0;
  uint32_t left_ : kHashBits = 0;  // the hash of what the write has left
  uint32_t is_left_known_ : 1 = 0;
  uint32_t has_groups_ : 1 = 0;  // waves of other work-groups have written the same, too
  uint32_t is_changed_ : 1 = 0;  // by the write, or by those that it is equal to
};
static_assert(sizeof(Cell) == 32);

template <class Found>
void Cell::read(const Order& order, const Access& now, Found&& found) {
  if (has_no_order(order, write_) && !has_written(order.wave)) {
    const bool matters = is_changed_ != 0 && has_groups_ == 0;
    found(write_.is_atomic() ? Conflict::kMixed
          : matters          ? Conflict::kRace
                             : Conflict::kEqual,
          write_);
  }
  for (Access& read : reads_) {
    if (!read || read.wave() == order.wave || order.is_behind(read)) {
      read = now;
      // The same wave's, or one that needs no place of its own.
      if (&read == &reads_[0] && reads_[1] && reads_[1].wave() == order.wave) reads_[1] = {};
      return;
    }
  }
  const uint32_t group = reads_[0].wave().group;
  if (group == reads_[1].wave().group && group != order.wave.group) reads_[1] = now;
}

template <class Found>
void Cell::write(const Order& order, const Access& now, const Bytes& bytes, Found&& found) {
  if (was_changed_by_others(bytes.before)) *this = {};
  const bool changes = bytes.changes;
  bool changed = changes;
  const bool overlaps = has_no_order(order, write_);
  const bool is_equal = overlaps && !write_.is_atomic() && !changes;
  if (overlaps) {
    found(write_.is_atomic() ? Conflict::kMixed
          : changes          ? Conflict::kRace
                             : Conflict::kEqual,
          write_);
  }
  bool keeps_reads = false;
  for (const Access& read : reads_) {
    if (!has_no_order(order, read)) continue;
    found(changes ? Conflict::kRace : Conflict::kEqual, read);
    keeps_reads = !changes;
  }
  const bool again = write_ && write_.wave() == order.wave && write_.time() == now.time();
  if (is_equal) {
    changed = changed || is_changed_ != 0;
    add_equal(write_.wave(), order.wave);
  } else if (again && !changes) {
    changed = changed || is_changed_ != 0;
  } else {
    forget_equals();
  }
  write_ = now;
  is_changed_ = changed ? 1 : 0;
  left_ = bytes.after & ((1u << kHashBits) - 1);
  is_left_known_ = 1;
  if (!keeps_reads) reads_[0] = reads_[1] = {};
}

template <class Found>
void Cell::update(const Order& order, const Access& now, Found&& found) {
  if (has_no_order(order, write_) && !write_.is_atomic()) found(Conflict::kMixed, write_);
  for (const Access& read : reads_) {
    if (has_no_order(order, read)) found(Conflict::kMixed, read);
  }
  write_ = now;
  is_changed_ = 1;
  is_left_known_ = 0;
  forget_equals();
  reads_[0] = reads_[1] = {};
}

}  // namespace halyard::vgpu::races
