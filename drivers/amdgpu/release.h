// Release: how something is given back once.
#pragma once

#include <functional>
#include <type_traits>
#include <utility>

namespace halyard::amdgpu {

// Calls its function when it is destroyed, unless somebody has taken it. So what is on its way into
// an object is given back, too, if there is no memory for the object.
class Release {
 public:
  Release() = default;
  // If there is no memory for the function itself, it is called.
  template <typename Function>
    requires(!std::is_same_v<std::remove_cvref_t<Function>, Release>)
  Release(Function&& function) {
    try {
      function_ = function;
    } catch (...) {
      function();
      throw;
    }
  }
  Release(Release&& other) noexcept : function_(other.take()) {}
  Release& operator=(Release&& other) noexcept {
    std::swap(function_, other.function_);
    return *this;
  }
  ~Release() {
    if (function_) function_();
  }

  // Empty if there is none.
  std::function<void()> take() noexcept { return std::exchange(function_, nullptr); }

 private:
  std::function<void()> function_;
};

}  // namespace halyard::amdgpu
