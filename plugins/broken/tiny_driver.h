// The smallest driver that a plugin of the loader's tests needs.
#pragma once

#include <unistd.h>

#include <bit>
#include <csignal>
#include <stdexcept>
#include <string>

#include "hal/contract/objects.h"
#include "hal/contract/plugin.h"
#include "hal/driver.h"

class TinyDriver final : public halyard::driver::DriverBase {
 public:
  struct Behaviour {
    bool enumerate_crashes = false;
    bool enumerate_throws = false;
    bool enumerate_fails = false;
    bool open_crashes = false;  // the first device
    bool open_hangs = false;
    uint32_t devices = 0;
  };

  explicit TinyDriver(Behaviour behaviour)
      : behaviour_(behaviour), functions_(*contract()->functions) {
    // As a driver that does without the base classes, which would have caught it.
    if (behaviour.enumerate_throws) {
      functions_.enumerate = [](HalyardDriver*, HalyardDeviceSink, void*) -> HalyardStatus* {
        throw std::runtime_error("the devices are out");
      };
    }
    functions_.create_device = [](HalyardDriver* driver, uint32_t ordinal, HalyardOptions options,
                                  HalyardDevice** device) -> HalyardStatus* {
      auto* const self = static_cast<TinyDriver*>(from_contract<halyard::Driver>(driver));
      if (ordinal == 0 && !self->behaviour_.open_crashes && !self->behaviour_.open_hangs) {
        throw std::runtime_error("no opening today");
      }
      halyard::Device* made = nullptr;
      *device = nullptr;
      return self
          ->do_create_device(ordinal, std::bit_cast<halyard::Span<const halyard::Option>>(options),
                             &made)
          .leak();
    };
    contract()->functions = &functions_;
  }

 private:
  ~TinyDriver() = default;
  void destroy() noexcept override { delete this; }

  void do_info(halyard::DriverInfo* info) const override {
    info->library_name = "libtiny.so.1";
    info->library_version = "1.2.3";
    info->library_path = "/tiny/libtiny.so.1.2.3";
  }

  halyard::Status do_enumerate(void (*sink)(void*, const halyard::DeviceSummary&),
                               void* context) override {
    if (behaviour_.enumerate_crashes) raise(SIGSEGV);
    if (behaviour_.enumerate_fails) {
      return halyard::Status(halyard::StatusCode::kUnavailable, "The runtime cannot say.");
    }
    for (uint32_t i = 0; i < behaviour_.devices; ++i) {
      halyard::DeviceSummary summary;
      summary.ordinal = i;
      summary.name = "tiny";
      summary.uuid = i == 0 ? "GPU-aa00" : i == 1 ? "GPU-bb11" : "";
      sink(context, summary);
    }
    return {};
  }

  halyard::Status do_create_device(uint32_t ordinal, halyard::Span<const halyard::Option> options,
                                   halyard::Device**) override {
    if (ordinal == 0 && behaviour_.open_crashes) raise(SIGSEGV);
    while (ordinal == 0 && behaviour_.open_hangs) pause();
    if (ordinal == 1) return {};
    std::string text;
    for (const halyard::Option& option : options) {
      text += "[" + std::string(option.key.view()) + "=" + std::string(option.value.view()) + "]";
    }
    return halyard::Status(halyard::StatusCode::kUnimplemented, "options: " + text);
  }

  Behaviour behaviour_;
  HalyardDriverFunctions functions_;
};

#define HALYARD_TINY_PLUGIN(name, behaviour)                                            \
  namespace {                                                                           \
  halyard::Status create(halyard::Span<const halyard::Option>, halyard::Driver** out) { \
    *out = new TinyDriver(behaviour);                                                   \
    return {};                                                                          \
  }                                                                                     \
  }                                                                                     \
  HALYARD_PLUGIN(name, "0.0", "for the loader's tests", create)
