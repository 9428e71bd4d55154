#include "plugins/sdk/reserved_memory.h"

#include <algorithm>

#include "hal/contract/objects.h"
#include "hal/error.h"

namespace halyard {

namespace {

// A view can begin anywhere in the buffer.
Status check_granules(const char* operation, uint64_t offset, uint64_t length) {
  if (offset % kCommitGranule == 0 && length % kCommitGranule == 0) return {};
  return error(StatusCode::kInvalidArgument,
               "{} is given {} bytes from byte {} of a reserved buffer on. Both must be multiples "
               "of {} (DeviceInfo::commit_granule).",
               operation, length, offset, kCommitGranule);
}

Status not_reserved(const char* operation, const Buffer& buffer) {
  return error(
      StatusCode::kFailedPrecondition,
      "{} is given a buffer of {} memory ({} bytes) that is not reserved. Allocate it with "
      "BufferOptions::reserve.",
      operation, to_string(buffer.type()), buffer.size());
}

}  // namespace

Status ReservedMemory::commit(uint64_t offset, uint64_t length) {
  HALYARD_RETURN_IF_ERROR(check_granules("Device::commit", offset, length));
  const std::lock_guard lock(mutex_);
  const auto above = pieces_.lower_bound(offset);
  auto taken = piece_of(offset);
  if (above != pieces_.end() && above->first < offset + length) taken = above;
  if (taken != pieces_.end()) {
    return error(StatusCode::kFailedPrecondition,
                 "Device::commit is given {} bytes from byte {} on, of which a part has memory "
                 "already ({} bytes from byte {} on). Commit what has none.",
                 length, offset, taken->second.length, taken->first);
  }
  Piece piece{length, 0};
  HALYARD_RETURN_IF_ERROR(map(offset, length, &piece.memory));
  pieces_.emplace_hint(above, offset, piece);
  return {};
}

Status ReservedMemory::decommit(uint64_t offset, uint64_t length) {
  HALYARD_RETURN_IF_ERROR(check_granules("Device::decommit", offset, length));
  const std::lock_guard lock(mutex_);
  const auto first = pieces_.find(offset);
  auto behind = first;
  uint64_t end = offset;
  while (behind != pieces_.end() && behind->first == end && end < offset + length) {
    end += behind->second.length;
    ++behind;
  }
  if (end != offset + length) {
    return error(StatusCode::kFailedPrecondition,
                 "Device::decommit is given {} bytes from byte {} on, which are not one or several "
                 "whole ranges of Device::commit. Give ranges back as they were committed.",
                 length, offset);
  }
  for (auto it = first; it != behind; it = pieces_.erase(it)) {
    HALYARD_RETURN_IF_ERROR(unmap(it->first, it->second.length, it->second.memory));
  }
  return {};
}

uint64_t ReservedMemory::length_in_piece(uint64_t offset, uint64_t length) const {
  const std::lock_guard lock(mutex_);
  const auto piece = piece_of(offset);
  if (piece == pieces_.end()) return length;
  return std::min(length, piece->first + piece->second.length - offset);
}

std::map<uint64_t, ReservedMemory::Piece>::const_iterator ReservedMemory::piece_of(
    uint64_t offset) const {
  auto piece = pieces_.upper_bound(offset);
  if (piece == pieces_.begin()) return pieces_.end();
  --piece;
  return piece->first + piece->second.length > offset ? piece : pieces_.end();
}

void ReservedMemory::decommit_all() {
  const std::lock_guard lock(mutex_);
  for (const auto& [offset, piece] : pieces_) unmap(offset, piece.length, piece.memory).ignore();
  pieces_.clear();
}

Status reserved_by_another(const Device& owner, const Device& user) {
  return error(
      StatusCode::kUnimplemented,
      "The device {} is given a reserved buffer of {}. Only the device that has reserved a "
      "buffer can use it.",
      driver::info_of(user).name, driver::info_of(owner).name);
}

Status commit(ReservedMemory* memory, const BufferRange& range, uint64_t view) {
  if (memory == nullptr) return not_reserved("Device::commit", *range.buffer);
  return memory->commit(view + range.offset, range.length);
}

Status decommit(ReservedMemory* memory, const BufferRange& range, uint64_t view) {
  if (memory == nullptr) return not_reserved("Device::decommit", *range.buffer);
  return memory->decommit(view + range.offset, range.length);
}

}  // namespace halyard
