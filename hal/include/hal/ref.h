// Reference counting for the interface's objects.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace halyard {

// Base of every object of the interface. Born with one reference, which its creator owns.
// Thread-safe. The object is destroyed by the side that made it: destroy() is virtual, the
// destructor is not, so the vtable has the same shape for every compiler.
class RefCounted {
 public:
  RefCounted(const RefCounted&) = delete;
  RefCounted& operator=(const RefCounted&) = delete;

  void add_ref() const noexcept { __atomic_fetch_add(&references_, 1, __ATOMIC_RELAXED); }
  void release() const noexcept {
    // Release, so that this thread's writes are seen by the one that destroys; acquire for that
    // one.
    if (__atomic_fetch_sub(&references_, 1, __ATOMIC_ACQ_REL) == 1) {
      const_cast<RefCounted*>(this)->destroy();
    }
  }

 protected:
  RefCounted() noexcept = default;
  ~RefCounted() = default;

 private:
  virtual void destroy() noexcept = 0;

  mutable uint32_t references_ = 1;
};

// An owning pointer to a RefCounted.
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
