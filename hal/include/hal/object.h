// Object: the base of the interface's classes. Each class is the host's view of a driver's object
// in the contract (hal/contract/driver.h). Its members are exactly that struct's, and its methods
// check their arguments before they call the driver's functions.
#pragma once

#include <cstdint>

#include "hal/contract/driver.h"
#include "hal/fork.h"

namespace halyard {

// Starts with one reference, which its creator owns. Counting is thread-safe. The driver that made
// the object destroys it.
template <typename C>
class Object : protected C {
 public:
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;

  void add_ref() const noexcept {
    __atomic_fetch_add(&contract()->references, 1, __ATOMIC_RELAXED);
  }
  void release() const noexcept {
    // Release, so that this thread's writes are seen by the one that destroys; acquire for that
    // one.
    if (__atomic_fetch_sub(&contract()->references, 1, __ATOMIC_ACQ_REL) == 1) destroy_now();
  }

  // For hal and the driver SDK: the object in the contract, and back.
  C* contract() const noexcept { return const_cast<Object*>(this); }
  template <typename T>
  static T* from_contract(C* object) noexcept {
    return static_cast<T*>(static_cast<Object*>(object));
  }

 protected:
  Object() noexcept : C() {}
  ~Object() = default;

 private:
  void destroy_now() const noexcept {
    if (is_fork_of_user()) return;  // it is the parent's
    C* const object = contract();
    if (object->host != nullptr) object->host->destroy(object->host);
    object->functions->destroy(object);
  }
};

}  // namespace halyard
