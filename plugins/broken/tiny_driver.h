// The smallest driver that a plugin of the loader's tests needs.
#pragma once

#include <unistd.h>

#include <csignal>
#include <stdexcept>
#include <string>

#include "hal/driver.h"
#include "plugins/plugin.h"

class TinyDriver final : public halyard::Driver {
 public:
  struct Behaviour {
    bool enumerate_crashes = false;
    bool enumerate_throws = false;
    bool enumerate_fails = false;
    bool open_crashes = false;  // the first device
    bool open_hangs = false;
    uint32_t devices = 0;
  };

  explicit TinyDriver(Behaviour behaviour) : behaviour_(behaviour) {}

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
    if (behaviour_.enumerate_throws) throw std::runtime_error("the devices are out");
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
    if (ordinal == 0) throw std::runtime_error("no opening today");
    if (ordinal == 1) return {};
    std::string text;
    for (const halyard::Option& option : options) {
      text += "[" + std::string(option.key.view()) + "=" + std::string(option.value.view()) + "]";
    }
    return halyard::Status(halyard::StatusCode::kUnimplemented, "options: " + text);
  }

  Behaviour behaviour_;
};

#define HALYARD_TINY_PLUGIN(name, behaviour)                                                   \
  namespace {                                                                                  \
  halyard::Status create(const halyard::Span<const halyard::Option>*, halyard::Driver** out) { \
    *out = new TinyDriver(behaviour);                                                          \
    return {};                                                                                 \
  }                                                                                            \
  }                                                                                            \
  HALYARD_PLUGIN(name, "0.0", "for the loader's tests", create)
