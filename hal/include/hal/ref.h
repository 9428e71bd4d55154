// Ref: an owning pointer to an object that counts its references.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

namespace halyard {

// T has add_ref() and release().
template <typename T>
class Ref {
 public:
  constexpr Ref() noexcept = default;
  constexpr Ref(std::nullptr_t) noexcept {}  // NOLINT(google-explicit-constructor)

  // Takes over a reference that the caller owns.
  static Ref adopt(T* object) noexcept {
    Ref ref;
    ref.object_ = object;
    return ref;
  }
  // Adds a reference.
  static Ref retain(T* object) noexcept {
    if (object != nullptr) object->add_ref();
    return adopt(object);
  }

  Ref(const Ref& other) noexcept : object_(other.object_) {
    if (object_ != nullptr) object_->add_ref();
  }
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  template <typename U>
    requires std::is_convertible_v<U*, T*>
  Ref(Ref<U> other) noexcept  // NOLINT(google-explicit-constructor)
      : object_(other.leak()) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() {
    if (object_ != nullptr) object_->release();
  }

  T* get() const noexcept { return object_; }
  T& operator*() const noexcept { return *object_; }
  T* operator->() const noexcept { return object_; }
  explicit operator bool() const noexcept { return object_ != nullptr; }
  // Gives the reference up to the caller.
  T* leak() noexcept { return std::exchange(object_, nullptr); }

 private:
  T* object_ = nullptr;
};

}  // namespace halyard
