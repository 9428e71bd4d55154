#include "plugins/sdk/code_start.h"

#include <algorithm>
#include <cstdio>

#include "hal/error.h"
#include "hal/text.h"
#include "plugins/sdk/own_queue.h"
#include "plugins/sdk/remains.h"

namespace halyard {
namespace {

constexpr std::string_view kInitialValue = ".managed";
constexpr uint64_t kPointerBytes = 8;

// The variables of which there are both the pointer and the initial value, which is what is listed.
std::vector<GlobalSymbol> managed_variables(const CodeObject& object) {
  std::vector<GlobalSymbol> managed;
  for (const GlobalSymbol& value : object.globals()) {
    std::string_view name = value.name.view();
    if (!name.ends_with(kInitialValue)) continue;
    name.remove_suffix(kInitialValue.size());
    const auto& all = object.globals();
    const bool has_pointer = std::any_of(all.begin(), all.end(), [&](const GlobalSymbol& other) {
      return other.name.view() == name && other.size == kPointerBytes;
    });
    if (has_pointer) managed.push_back(value);
  }
  return managed;
}

Status place(DriverDevice& device, OwnQueue& queue, const GlobalSymbol& value,
             const std::string& pointer, const CodeStart::AddressOf& address_of,
             Ref<Buffer>* memory) {
  uint64_t from = 0;
  uint64_t pointer_at = 0;
  HALYARD_RETURN_IF_ERROR(address_of(std::string(value.name.view()), &from));
  HALYARD_RETURN_IF_ERROR(address_of(pointer, &pointer_at));
  BufferOptions options;
  options.type = MemoryType::kHost;
  Buffer* made = nullptr;
  HALYARD_RETURN_IF_ERROR(device.do_allocate(std::max<uint64_t>(value.size, 1), options, &made));
  *memory = Ref<Buffer>::adopt(made);
  const uint64_t address = (*memory)->device_address();
  if (value.size != 0) HALYARD_RETURN_IF_ERROR(queue.copy(address, from, value.size));
  return queue.write(pointer_at, &address, sizeof address);
}

}  // namespace

Status CodeStart::place_managed_variables(DriverDevice& device, const CodeObject& object,
                                          const AddressOf& address_of) {
  const std::vector<GlobalSymbol> variables = managed_variables(object);
  if (variables.empty()) return {};
  HALYARD_ASSIGN_OR_RETURN(OwnQueue queue, OwnQueue::make(device));
  for (const GlobalSymbol& value : variables) {
    const std::string_view full = value.name.view();
    const std::string name(full.substr(0, full.size() - kInitialValue.size()));
    const Status placed = place(device, queue, value, name, address_of, &managed_[name]);
    if (placed.ok()) continue;
    return placed.with_context(fmt::format("The managed variable {}", short_name(name)));
  }
  return {};
}

Status CodeStart::run_init(DriverDevice& device, const std::vector<Kernel>& kernels) {
  std::vector<const driver::FunctionBase*> init;
  std::vector<const driver::FunctionBase*> fini;
  for (const Kernel& kernel : kernels) {
    if (kernel.kind == KernelKind::kInit) init.push_back(kernel.function);
    if (kernel.kind == KernelKind::kFini) fini.push_back(kernel.function);
  }
  if (!init.empty()) {
    HALYARD_ASSIGN_OR_RETURN(OwnQueue queue, OwnQueue::make(device));
    for (const driver::FunctionBase* const function : init) {
      const Status done = queue.run(*function, Deadline::infinite());
      if (done.ok()) continue;
      return done.with_context(
          fmt::format("The kernel \"{}\" (of kind init), which initializes the code object's "
                      "variables as it is loaded",
                      short_name(function->info().name)));
    }
  }
  fini_ = std::move(fini);
  return {};
}

void CodeStart::run_fini(DriverDevice& device) {
  const std::vector<const driver::FunctionBase*> functions = std::move(fini_);
  fini_.clear();
  if (!device.do_fault().ok()) return;
  Result<OwnQueue> queue = OwnQueue::make(device);
  Status done = queue.status();
  for (auto function = functions.rbegin(); done.ok() && function != functions.rend(); ++function) {
    done = queue->run(**function, Deadline::after_ns(kReleaseGraceNs));
    const std::string name = short_name((*function)->info().name);
    if (done.code() == StatusCode::kDeadlineExceeded) {
      done = error(StatusCode::kDeadlineExceeded,
                   "The kernel \"{}\" has not ended after {} s, and is waited for no longer.", name,
                   kReleaseGraceNs / 1'000'000'000);
    } else if (!done.ok()) {
      done = done.with_context(fmt::format("The kernel \"{}\"", name));
    }
  }
  if (done.ok()) return;
  const std::string text(done.message().view());
  std::fprintf(stderr,
               "halyard: error: The kernels of kind fini of an executable that was released did "
               "not all run. %s\n",
               text.c_str());
}

const Buffer* CodeStart::managed(std::string_view name) const {
  const auto found = managed_.find(name);
  return found == managed_.end() ? nullptr : found->second.get();
}

}  // namespace halyard
