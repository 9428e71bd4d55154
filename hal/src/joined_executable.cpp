#include "joined_executable.h"

#include <string_view>
#include <unordered_set>
#include <utility>

#include "hal/contract/objects.h"
#include "hal/device.h"

namespace halyard::internal {
namespace {

class JoinedExecutable final : public driver::ExecutableBase {
 public:
  JoinedExecutable(Device& device, std::vector<Ref<Executable>> parts)
      : ExecutableBase(device),
        keep_alive_(Ref<Device>::retain(&device)),
        parts_(std::move(parts)) {
    std::unordered_set<std::string_view> names;
    for (const Ref<Executable>& part : parts_) {
      for (size_t i = 0; i < part->function_count(); ++i) {
        const Function& function = part->function(i);
        if (names.insert(function.info().name.view()).second) functions_.push_back(&function);
      }
    }
  }

 private:
  ~JoinedExecutable() = default;
  void destroy() noexcept override { delete this; }

  void do_info(ExecutableInfo* info) const override { *info = parts_.front()->info(); }
  size_t do_function_count() const override { return functions_.size(); }
  const Function* do_function(size_t index) const override { return functions_[index]; }

  Status do_global(StringView name, GlobalInfo* info) const override {
    Status first;
    for (const Ref<Executable>& part : parts_) {
      const Result<GlobalInfo> found = part->global(name);
      if (found.ok()) {
        *info = *found;
        return {};
      }
      if (first.ok()) first = found.status();
    }
    return first;
  }

  Ref<Device> keep_alive_;
  std::vector<Ref<Executable>> parts_;
  std::vector<const Function*> functions_;
};

}  // namespace

Ref<Executable> join_executables(Device& device, std::vector<Ref<Executable>> parts) {
  return Ref<Executable>::adopt(new JoinedExecutable(device, std::move(parts)));
}

}  // namespace halyard::internal
