#include "structs.h"

namespace halyard::c {

Status bad_struct_size(const char* function, size_t given, size_t first, size_t known) {
  return error(StatusCode::kInvalidArgument,
               "{} is given a struct_size ({}) that is not legal. Legal are {} to {}; set it to "
               "the struct's sizeof, which is {} here.",
               function, given, first, kLargestCStruct, known);
}

Status check_index(const char* function, const char* what, size_t index, size_t count) {
  if (index < count) return {};
  return error(StatusCode::kOutOfRange, "{} is given {} {}; there are {}.", function, what, index,
               count);
}

Status to_range(const char* function, const halyard_range& range, BufferRange* converted) {
  if (range.buffer != nullptr) {
    HALYARD_RETURN_IF_ERROR(check(function, range.buffer));
    converted->buffer = range.buffer->object.get();
  }
  converted->offset = range.offset;
  converted->length = range.length;
  converted->slot = range.slot;
  return {};
}

Status to_points(const char* function, const halyard_point* points, size_t count,
                 SemaphorePoint* converted) {
  for (size_t i = 0; i < count; ++i) {
    HALYARD_RETURN_IF_ERROR(check(function, points[i].semaphore));
    converted[i] = {points[i].semaphore->object.get(), points[i].value};
  }
  return {};
}

namespace {

size_t usable(const void* list, size_t count) {
  return list != nullptr ? count : 0;
}

}  // namespace

SyncPoints::SyncPoints(const char* function, const halyard_sync* sync)
    : wait_(sync != nullptr ? usable(sync->wait, sync->wait_count) : 0),
      signal_(sync != nullptr ? usable(sync->signal, sync->signal_count) : 0) {
  if (sync == nullptr) return;
  const auto convert = [&]() -> Status {
    HALYARD_RETURN_IF_ERROR(check_list(function, "wait points", sync->wait, sync->wait_count));
    HALYARD_RETURN_IF_ERROR(
        check_list(function, "signal points", sync->signal, sync->signal_count));
    HALYARD_RETURN_IF_ERROR(to_points(function, sync->wait, sync->wait_count, wait_.data()));
    return to_points(function, sync->signal, sync->signal_count, signal_.data());
  };
  status_ = convert();
}

Launch::Launch(const char* function, const halyard_dispatch* given) {
  if (given == nullptr) {
    status_ = error(StatusCode::kInvalidArgument, "{} is given no dispatch (null).", function);
    return;
  }
  halyard_dispatch known;
  status_ = take(function, given, &known);
  if (status_.ok()) status_ = convert(function, known);
}

Status Launch::convert(const char* function, const halyard_dispatch& given) {
  HALYARD_RETURN_IF_ERROR(check(function, given.function));
  HALYARD_RETURN_IF_ERROR(check_list(function, "arguments", given.arguments, given.argument_count));
  HALYARD_RETURN_IF_ERROR(check_list(function, "uses", given.uses, given.use_count));
  arguments_.emplace(given.argument_count + given.use_count);
  dispatch_.function = given.function->object;
  dispatch_.grid = to_dim3(given.grid);
  dispatch_.workgroup = to_dim3(given.workgroup);
  dispatch_.dynamic_lds_bytes = given.dynamic_lds_bytes;
  for (size_t i = 0; i < given.argument_count; ++i) {
    const halyard_argument& from = given.arguments[i];
    Argument& to = (*arguments_)[i];
    switch (from.kind) {
      case HALYARD_ARGUMENT_VALUE:
        if (from.value == nullptr) {
          return error(StatusCode::kInvalidArgument,
                       "{} is given no value (null) for argument {}, which is of {} bytes.",
                       function, i, from.size);
        }
        to = Argument::bytes(from.value, from.size);
        break;
      case HALYARD_ARGUMENT_BUFFER: {
        if (from.is_address) {
          to = Argument::address(from.address);
          break;
        }
        BufferRange range;
        HALYARD_RETURN_IF_ERROR(to_range(function, from.range, &range));
        to = range;
        break;
      }
      case HALYARD_ARGUMENT_DYNAMIC_LDS:
        to = Argument::dynamic_lds(from.size);
        break;
      default:
        return error(StatusCode::kInvalidArgument,
                     "{} is given argument {} of a kind ({}) that a caller cannot give. Legal are "
                     "value (0), buffer (1) and dynamic LDS (2).",
                     function, i, static_cast<int>(from.kind));
    }
  }
  for (size_t i = 0; i < given.use_count; ++i) {
    BufferRange range;
    HALYARD_RETURN_IF_ERROR(to_range(function, given.uses[i], &range));
    (*arguments_)[given.argument_count + i] = Argument::uses(range);
  }
  dispatch_.arguments = arguments_->span();
  return {};
}

Status check_options(const char* function, const halyard_option* options, size_t count) {
  HALYARD_RETURN_IF_ERROR(check_list(function, "options", options, count));
  for (size_t i = 0; i < count; ++i) {
    if (options[i].key != nullptr && options[i].value != nullptr) continue;
    return error(StatusCode::kInvalidArgument, "{} is given option {} without a {} (null).",
                 function, i, options[i].key == nullptr ? "key" : "value");
  }
  return {};
}

std::vector<Option> to_options(const halyard_option* options, size_t count) {
  std::vector<Option> converted;
  converted.reserve(count);
  for (size_t i = 0; i < count; ++i) converted.push_back({options[i].key, options[i].value});
  return converted;
}

halyard_pool_statistics to_c(const PoolStatistics& from) noexcept {
  halyard_pool_statistics value = {};
  value.reserved_bytes = from.reserved_bytes;
  value.used_bytes = from.used_bytes;
  value.peak_reserved_bytes = from.peak_reserved_bytes;
  value.allocations = from.allocations;
  value.reuses = from.reuses;
  return value;
}

Status to_rectangle(const char* function, const halyard_rectangle* given, RectangleCopy* shape) {
  if (given == nullptr) {
    return error(StatusCode::kInvalidArgument, "{} is given no shape (null).", function);
  }
  halyard_rectangle known;
  HALYARD_RETURN_IF_ERROR(take(function, given, &known));
  shape->row_bytes = known.row_bytes;
  shape->rows = known.rows == 0 ? 1 : known.rows;
  shape->slices = known.slices == 0 ? 1 : known.slices;
  shape->source_row_pitch = known.source_row_pitch;
  shape->target_row_pitch = known.target_row_pitch;
  shape->source_slice_pitch = known.source_slice_pitch;
  shape->target_slice_pitch = known.target_slice_pitch;
  return {};
}

}  // namespace halyard::c
