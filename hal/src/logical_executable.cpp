#include "logical_executable.h"

#include <memory>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "dispatch_check.h"
#include "gpu_group.h"
#include "hal/contract/objects.h"
#include "hal/error.h"
#include "hal/text.h"

namespace halyard::internal {
namespace {

// What the caller sees is the function of the first GPU that has it.
class LogicalFunction final : public driver::FunctionBase {
 public:
  LogicalFunction(Executable& executable, const FunctionInfo& info, size_t gpu_count)
      : FunctionBase(executable, info), variants_(gpu_count) {
    give_as(info);
  }
  ~LogicalFunction() = default;

  const Function* variant(size_t gpu) const { return variants_[gpu]; }
  void set_variant(size_t gpu, const Function& function) { variants_[gpu] = &function; }

 private:
  std::vector<const Function*> variants_;  // one for each GPU; null where it has none
};

// An executable on one GPU, or why there is none.
struct Part {
  Ref<Executable> executable;
  Status refusal;
};

class LogicalExecutable final : public driver::ExecutableBase {
 public:
  LogicalExecutable(GpuGroup& device, std::vector<Part> parts)
      : ExecutableBase(device),
        keep_alive_(Ref<Device>::retain(&device)),
        parts_(std::move(parts)) {
    std::unordered_map<std::string_view, LogicalFunction*> by_name;
    for (size_t gpu = 0; gpu < parts_.size(); ++gpu) {
      if (!parts_[gpu].executable) continue;
      const Executable& part = *parts_[gpu].executable;
      for (size_t i = 0; i < part.function_count(); ++i) {
        const Function& variant = part.function(i);
        LogicalFunction*& known = by_name[variant.info().name.view()];
        if (known == nullptr) {
          functions_.push_back(
              std::make_unique<LogicalFunction>(*this, variant.info(), parts_.size()));
          known = functions_.back().get();
        }
        if (known->variant(gpu) == nullptr) known->set_variant(gpu, variant);
      }
    }
  }

  const Part& part(size_t gpu) const { return parts_[gpu]; }

 private:
  ~LogicalExecutable() = default;
  void destroy() noexcept override { delete this; }

  void do_info(ExecutableInfo* info) const override { *info = parts_.front().executable->info(); }
  size_t do_function_count() const override { return functions_.size(); }
  const Function* do_function(size_t index) const override { return functions_[index].get(); }
  Status do_global(StringView name, GlobalInfo* info) const override {
    HALYARD_ASSIGN_OR_RETURN(*info, parts_.front().executable->global(name));
    return {};
  }

  const Ref<Device> keep_alive_;
  const std::vector<Part> parts_;
  std::vector<std::unique_ptr<LogicalFunction>> functions_;
};

[[gnu::cold]] Status no_variant(const Device& device, size_t gpu, const Function& function,
                                const Part& part) {
  const DeviceInfo& info = device.gpu(gpu).info();
  const std::string name = short_name(function.info().name);
  if (part.executable) {
    return error(StatusCode::kFailedPrecondition,
                 "The function \"{}\" is not in the variant of its executable for GPU {} (\"{}\", "
                 "{}); other GPUs of the device have it.",
                 name, gpu, info.name, info.target);
  }
  return error(StatusCode::kFailedPrecondition,
               "The executable of the function \"{}\" has no variant for GPU {} (\"{}\", {}): {}",
               name, gpu, info.name, info.target, part.refusal.message());
}

}  // namespace

Result<Ref<Executable>> load_on_each(GpuGroup& device,
                                     const std::function<Result<Ref<Executable>>(Device&)>& load) {
  std::vector<Part> parts;
  for (const Ref<Device>& gpu : device.gpus()) {
    Result<Ref<Executable>> loaded = load(*gpu);
    if (loaded.ok()) {
      parts.push_back({std::move(loaded).value(), {}});
    } else if (parts.empty() || loaded.status().code() != StatusCode::kFailedPrecondition) {
      return std::move(loaded).status();
    } else {
      parts.push_back({nullptr, loaded.status()});
    }
  }
  return Ref<Executable>::adopt(new LogicalExecutable(device, std::move(parts)));
}

Status choose_variant(const Device& device, size_t gpu, const Function** function) {
  const Executable& executable = (*function)->executable();
  if (&executable.device() != &device) return {};
  const Function* const variant = static_cast<const LogicalFunction*>(*function)->variant(gpu);
  if (variant == nullptr) [[unlikely]] {
    return no_variant(device, gpu, **function,
                      static_cast<const LogicalExecutable&>(executable).part(gpu));
  }
  if (!variant->info().problem.empty()) [[unlikely]]
    return unusable(variant->info());
  *function = variant;
  return {};
}

}  // namespace halyard::internal

namespace halyard {

Result<Executable*> Executable::on_gpu(size_t index) {
  const size_t count = device().gpu_count();
  if (index >= count) {
    return error(StatusCode::kOutOfRange, "Executable::on_gpu is given GPU {}; the device has {}.",
                 index, count);
  }
  if (count == 1) return this;
  const internal::Part& part = static_cast<internal::LogicalExecutable*>(this)->part(index);
  if (part.executable) return part.executable.get();
  return part.refusal;
}

}  // namespace halyard
