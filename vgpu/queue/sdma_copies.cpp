// What moves memory: copies, fills and writes of an SDMA queue. They go piece by piece, and look
// for each piece anew: a program may unmap memory meanwhile, and hardware then faults.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "vgpu/queue/sdma_queue.h"

namespace halyard::vgpu::queue {
namespace {

// Who unmaps memory waits for no more than this. A multiple of a dword.
constexpr uint64_t kPieceBytes = 256 * 1024;

}  // namespace

template <class Function>
void SdmaQueue::observed(uint64_t from, uint64_t to, uint64_t bytes, Function&& function) {
  if (device_.observer == nullptr) return function();
  device_.observer->copy({device_.node, id_, at_, from, to, bytes}, function);
}

// Whether the GPU may access all of it, in as many ranges as it likes.
SdmaQueue::Step SdmaQueue::check(RangeCache& memory, uint64_t address, uint64_t bytes,
                                 bool is_write, const char* what) {
  return access([&] {
    for (uint64_t done = 0; done < bytes;) {
      const uint64_t size = memory.reach(address + done, bytes - done, is_write);
      if (size == 0) {
        refused_ = {address, bytes, is_write, what, address + done};
        return;
      }
      done += size;
    }
  });
}

// As memmove(): if the target begins inside of the source, the last piece goes first.
SdmaQueue::Step SdmaQueue::copy_bytes(uint64_t from, uint64_t to, uint64_t bytes,
                                      const char* what) {
  // A copy that the GPU may not make as a whole moves nothing.
  Step step = check(source_, from, bytes, false, what);
  if (step == Step::kDone) step = check(target_, to, bytes, true, what);
  if (step != Step::kDone) return step;
  const bool is_backward = to > from && to - from < bytes;
  for (uint64_t done = 0; done < bytes && step == Step::kDone;) {
    if (stopping()) return Step::kStopped;
    uint64_t size = std::min(kPieceBytes, bytes - done);
    const uint64_t at = is_backward ? bytes - done - size : done;
    step = access([&] { size = copy_piece(from + at, to + at, size, is_backward, what); });
    done += size;
  }
  return step;
}

// Copies what lies in one range on both sides; of a backward copy all of it, in as many parts.
// Returns how much that was.
uint64_t SdmaQueue::copy_piece(uint64_t from, uint64_t to, uint64_t bytes, bool is_backward,
                               const char* what) {
  uint64_t part = source_.reach(from, bytes, false);
  if (part == 0) refused_ = {from, bytes, false, what, from};
  if (part != 0) {
    part = target_.reach(to, part, true);
    if (part == 0) refused_ = {to, bytes, true, what, to};
  }
  if (part == 0) return bytes;
  // What is behind goes first.
  if (is_backward && part < bytes) {
    copy_piece(from + part, to + part, bytes - part, is_backward, what);
    if (refused_.what != nullptr) return bytes;
  }
  const uint8_t* const source = source_.find(from, part);
  uint8_t* const target = target_.find(to, part, true);
  observed(from, to, part, [=] { std::memmove(target, source, part); });
  return is_backward ? bytes : part;
}

SdmaQueue::Step SdmaQueue::copy() {
  const uint64_t bytes = uint64_t{word(1)} + 1;
  const bool is_broadcast = (word(0) & sdma::kBroadcast) != 0;
  const uint64_t targets[] = {address(5), is_broadcast ? address(7) : 0};
  for (size_t i = 0; i < (is_broadcast ? 2 : 1); ++i) {
    const Step step = copy_bytes(address(3), targets[i], bytes, "copy");
    if (step != Step::kDone) return step;
  }
  return Step::kDone;
}

SdmaQueue::Step SdmaQueue::copy_rectangle() {
  const uint32_t element = word(0) >> 29;  // log2 of the bytes of an element
  if (element > 4)
    return unknown(fmt::format("COPY_LINEAR_RECT has an element size of 2^{}", element));
  struct Side {
    uint64_t base, x, y, z, pitch, slice;
  };
  const auto side = [this](uint32_t first) {
    const uint32_t xy = word(first + 2);
    const uint32_t zp = word(first + 3);
    return Side{address(first),         xy & 0x3fff,
                (xy >> 16) & 0x3fff,    zp & 0x7ff,
                uint64_t{zp >> 13} + 1, uint64_t{word(first + 4) & 0x0fffffff} + 1};
  };
  const Side from = side(1);
  const Side to = side(6);
  const uint64_t width = (uint64_t{word(11) & 0x3fff} + 1) << element;
  const uint64_t height = uint64_t{(word(11) >> 16) & 0x3fff} + 1;
  const uint64_t depth = uint64_t{word(12) & 0x7ff} + 1;
  const auto row = [element](const Side& s, uint64_t y, uint64_t z) {
    return s.base + (((s.z + z) * s.slice + (s.y + y) * s.pitch + s.x) << element);
  };
  for (uint64_t z = 0; z < depth; ++z) {
    for (uint64_t y = 0; y < height; ++y) {
      const Step step = copy_bytes(row(from, y, z), row(to, y, z), width, "rectangle copy");
      if (step != Step::kDone) return step;
    }
  }
  return Step::kDone;
}

template <class Put>
SdmaQueue::Step SdmaQueue::produce(uint64_t to, uint64_t bytes, const char* what, Put&& put) {
  Step step = check(target_, to, bytes, true, what);
  for (uint64_t done = 0; done < bytes && step == Step::kDone;) {
    if (stopping()) return Step::kStopped;
    // Ranges end with pages, so that no dword is parted unless it is not aligned.
    uint64_t size = std::min(kPieceBytes, bytes - done);
    step = access([&] {
      size = target_.reach(to + done, size, true);
      uint8_t* const target = size != 0 ? target_.find(to + done, size, true) : nullptr;
      if (target == nullptr) {
        refused_ = {to + done, bytes - done, true, what, to + done};
        return;
      }
      observed(0, to + done, size, [&] { put(target, done, size); });
    });
    done += size;
  }
  return step;
}

SdmaQueue::Step SdmaQueue::fill() {
  const uint32_t size_code = word(0) >> 30;
  const uint64_t to = address(1);
  const uint32_t value = word(3);
  const uint64_t count = word(4);
  if (size_code != 0 && size_code != 2) {
    return unknown(
        fmt::format("CONST_FILL with elements of code {} is not implemented; 0 (byte) "
                    "and 2 (dword) are",
                    size_code));
  }
  // The count is one element short of the bytes to fill.
  const uint64_t bytes = size_code == 0 ? count + 1 : (count & ~uint64_t{3}) + 4;
  return produce(to, bytes, "fill", [=](uint8_t* target, uint64_t offset, uint64_t size) {
    if (size_code == 0) {
      std::memset(target, static_cast<int>(value & 0xff), size);
      return;
    }
    for (uint64_t i = 0; i < size; ++i)
      target[i] = static_cast<uint8_t>(value >> (offset + i) % 4 * 8);
  });
}

SdmaQueue::Step SdmaQueue::write() {
  const uint64_t to = address(1);
  return produce(to, data_.size() * 4, "write",
                 [this, to](uint8_t* target, uint64_t offset, uint64_t size) {
                   if (to % 4 != 0) {
                     const auto* const bytes = reinterpret_cast<const uint8_t*>(data_.data());
                     std::memcpy(target, bytes + offset, size);
                     return;
                   }
                   // The host may be polling a dword.
                   auto* const words = reinterpret_cast<uint32_t*>(target);
                   for (uint64_t i = 0; i < size / 4; ++i)
                     __atomic_store_n(words + i, data_[offset / 4 + i], __ATOMIC_RELEASE);
                 });
}

}  // namespace halyard::vgpu::queue
