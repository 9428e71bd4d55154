// The plain types that cross the boundary between a host program and a driver plugin.
//
// All are standard layout and free of std:: types, because the two sides can be built by different
// compilers with different standard libraries.
//
// Structs that can grow begin with `struct_size`, their size in bytes in the version of their
// creator; the initializer sets it. Members are only appended, and a member whose bytes are all 0
// has the meaning of its absence. So for a struct from a caller:
//   - the smallest legal size is that of the interface's first version; members that a shorter
//     struct lacks have their defaults;
//   - a longer one than this version's comes from a newer caller, and is legal up to
//     kLargestStruct if the additional bytes are 0;
//   - any other size is INVALID_ARGUMENT.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string_view>
#include <type_traits>

namespace halyard {

// A pointer and a count. Does not own its data.
template <typename T>
class Span {
 public:
  constexpr Span() noexcept = default;
  constexpr Span(T* data, size_t size) noexcept : data_(data), size_(size) {}

  // Any contiguous container. A temporary container lives until the end of the full expression, so
  // it outlives the call.
  template <typename Container>
    requires requires(Container& c) {
      { c.data() } -> std::convertible_to<T*>;
      { c.size() } -> std::convertible_to<size_t>;
    }
  constexpr Span(Container&& c) noexcept  // NOLINT(google-explicit-constructor)
      : data_(c.data()), size_(c.size()) {}

  template <size_t N>
  constexpr Span(T (&array)[N]) noexcept  // NOLINT(google-explicit-constructor)
      : data_(array), size_(N) {}

  // For braces in a call: `queue.barrier({.wait = {{semaphore, 1}}})` needs a named array, but
  // `f({a, b})` works, because the list lives until the call returns.
  constexpr Span(std::initializer_list<std::remove_const_t<T>> list) noexcept
    requires std::is_const_v<T>
  {
    // Not in the member initializers: gcc would warn about the array's lifetime, for which the
    // caller of any Span is responsible.
    data_ = list.begin();
    size_ = list.size();
  }

  constexpr T* data() const noexcept { return data_; }
  constexpr size_t size() const noexcept { return size_; }
  constexpr bool empty() const noexcept { return size_ == 0; }
  constexpr T& operator[](size_t i) const noexcept { return data_[i]; }
  constexpr T* begin() const noexcept { return data_; }
  constexpr T* end() const noexcept { return data_ + size_; }

 private:
  T* data_ = nullptr;
  size_t size_ = 0;
};

// UTF-8 text, not necessarily terminated. Does not own its data.
class StringView {
 public:
  constexpr StringView() noexcept = default;
  constexpr StringView(const char* data, size_t size) noexcept : data_(data), size_(size) {}
  constexpr StringView(const char* text) noexcept  // NOLINT(google-explicit-constructor)
      : data_(text), size_(std::char_traits<char>::length(text)) {}
  // std::string_view, std::string and other text.
  template <typename Text>
    requires std::is_convertible_v<const Text&, std::string_view> &&
                 (!std::is_convertible_v<const Text&, const char*>)
  constexpr StringView(const Text& text) noexcept  // NOLINT(google-explicit-constructor)
      : data_(std::string_view(text).data()), size_(std::string_view(text).size()) {}

  constexpr const char* data() const noexcept { return data_; }
  constexpr size_t size() const noexcept { return size_; }
  constexpr bool empty() const noexcept { return size_ == 0; }
  constexpr std::string_view view() const noexcept { return {data_, size_}; }
  constexpr operator std::string_view() const noexcept {  // NOLINT(google-explicit-constructor)
    return view();
  }

 private:
  const char* data_ = "";
  size_t size_ = 0;
};

struct Dim3 {
  uint32_t x = 1;
  uint32_t y = 1;
  uint32_t z = 1;

  constexpr uint64_t volume() const noexcept { return uint64_t{x} * y * z; }
  friend constexpr bool operator==(const Dim3&, const Dim3&) = default;
};

// A setting by name, from a config, a device URI or a flag. A driver refuses an unknown key, and
// lists the known ones.
struct Option {
  StringView key;
  StringView value;
};

// The largest legal struct_size, in bytes. It bounds the reads beyond a struct whose struct_size is
// invalid.
inline constexpr uint32_t kLargestStruct = 256;

// The part of a struct with struct_size that this side knows: the other side can be built with
// fewer members, which have their defaults here, or with more.
template <typename T>
T known_part(const T& given) noexcept {
  T known;
  const size_t size = given.struct_size < sizeof(T) ? given.struct_size : sizeof(T);
  std::memcpy(static_cast<void*>(&known), &given, size);
  known.struct_size = sizeof(T);
  return known;
}

// A point in time on CLOCK_MONOTONIC, in nanoseconds. Absolute, so that a restarted wait does not
// last longer.
struct Deadline {
  uint64_t monotonic_ns = UINT64_MAX;

  static constexpr Deadline infinite() noexcept { return {UINT64_MAX}; }
  static constexpr Deadline poll() noexcept { return {0}; }
  // `ns` from now; saturates.
  static Deadline after_ns(uint64_t ns) noexcept;

  constexpr bool is_infinite() const noexcept { return monotonic_ns == UINT64_MAX; }
};

}  // namespace halyard
