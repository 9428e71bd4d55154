// Memory: a buffer with Python's buffer protocol, and its ways to and from DLPack.
#include <cstring>

#include "core.h"

namespace halyard::python {
namespace {

// DLPack 0.8, dlpack.h: what a capsule named "dltensor" holds.
struct DLDevice {
  int32_t device_type;
  int32_t device_id;
};
struct DLDataType {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
};
struct DLTensor {
  void* data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t* shape;
  int64_t* strides;  // elements; null: compact, the last index first
  uint64_t byte_offset;
};
struct DLManagedTensor {
  DLTensor tensor;
  void* manager_context;
  void (*deleter)(DLManagedTensor* self);
};
constexpr int32_t kDLCPU = 1;
constexpr int32_t kDLROCM = 10;
constexpr int32_t kDLROCMHost = 11;

constexpr const char* kCapsule = "dltensor";
constexpr const char* kUsedCapsule = "used_dltensor";

// Python's buffer protocol (PEP 3118).
int get_buffer(PyObject* self, Py_buffer* view, int flags) {
  Memory* memory = nullptr;
  try {
    memory = py::handle(self).cast<Memory*>();
  } catch (...) {
    memory = nullptr;  // an object of another class
  }
  view->obj = nullptr;
  if (memory == nullptr || memory->host == nullptr) {
    PyErr_SetString(PyExc_BufferError,
                    "The array is in device memory, which the host cannot access: call download(), "
                    "or allocate it with memory=\"host\".");
    return -1;
  }
  view->obj = self;
  Py_INCREF(self);
  view->buf = memory->host;
  view->len = static_cast<Py_ssize_t>(memory->bytes());
  view->itemsize = memory->item_size;
  view->readonly = 0;
  view->ndim = static_cast<int>(memory->shape.size());
  view->format = (flags & PyBUF_FORMAT) != 0 ? memory->format.data() : nullptr;
  view->shape = (flags & PyBUF_ND) != 0 ? memory->shape.data() : nullptr;
  view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? memory->strides.data() : nullptr;
  view->suboffsets = nullptr;
  view->internal = nullptr;
  return 0;
}

void set_shape(Memory& memory, std::vector<py::ssize_t> shape, py::ssize_t item_size,
               std::string format) {
  uint64_t bytes = static_cast<uint64_t>(item_size);
  for (const py::ssize_t length : shape) {
    if (length < 0 || __builtin_mul_overflow(bytes, static_cast<uint64_t>(length), &bytes)) {
      fail(HALYARD_INVALID_ARGUMENT,
           "A shape has a length that no memory has (" + std::to_string(length) + ").");
    }
  }
  const uint64_t size = halyard_buffer_size(memory.buffer.get());
  if (bytes > size) {
    fail(HALYARD_OUT_OF_RANGE, "An array of " + std::to_string(bytes) +
                                   " bytes does not fit a buffer of " + std::to_string(size) +
                                   " bytes.");
  }
  memory.strides.resize(shape.size());
  py::ssize_t stride = item_size;
  for (size_t i = shape.size(); i-- > 0;) {
    memory.strides[i] = stride;
    stride *= shape[i];
  }
  memory.shape = std::move(shape);
  memory.item_size = item_size;
  memory.format = std::move(format);
}

struct Export {
  DLManagedTensor managed = {};
  py::object memory;
  std::vector<int64_t> shape;
};

// May be called by anybody, on any thread.
void delete_export(DLManagedTensor* self) {
  if (self == nullptr) return;
  const AcquiredGil gil;
  if (gil.entered()) delete static_cast<Export*>(self->manager_context);
}

void delete_capsule(PyObject* capsule) {
  if (PyCapsule_IsValid(capsule, kCapsule) == 0) return;  // somebody has taken it over
  auto* const managed = static_cast<DLManagedTensor*>(PyCapsule_GetPointer(capsule, kCapsule));
  if (managed != nullptr && managed->deleter != nullptr) managed->deleter(managed);
}

py::object to_dlpack(const py::object& object, int code, int bits, int device_id) {
  auto& memory = object.cast<Memory&>();
  auto exported = std::make_unique<Export>();
  exported->memory = object;
  exported->shape.assign(memory.shape.begin(), memory.shape.end());
  DLTensor& tensor = exported->managed.tensor;
  tensor.data = memory.host != nullptr
                    ? memory.host
                    : reinterpret_cast<void*>(halyard_buffer_device_address(memory.buffer.get()));
  tensor.device = {memory.host != nullptr ? kDLCPU : kDLROCM,
                   memory.host != nullptr ? 0 : device_id};
  tensor.ndim = static_cast<int32_t>(exported->shape.size());
  tensor.dtype = {static_cast<uint8_t>(code), static_cast<uint8_t>(bits), 1};
  tensor.shape = exported->shape.data();
  exported->managed.manager_context = exported.get();
  exported->managed.deleter = &delete_export;
  PyObject* const capsule = PyCapsule_New(&exported->managed, kCapsule, &delete_capsule);
  if (capsule == nullptr) throw py::error_already_set();
  exported.release();  // NOLINT(bugprone-unused-return-value): the capsule's now
  return py::reinterpret_steal<py::object>(capsule);
}

bool is_compact(const DLTensor& tensor) {
  if (tensor.strides == nullptr) return true;
  int64_t stride = 1;
  for (int32_t i = tensor.ndim; i-- > 0;) {
    if (tensor.shape[i] != 1 && tensor.strides[i] != stride) return false;
    stride *= tensor.shape[i];
  }
  return true;
}

// The capsule's tensor; taken over with the result, which owns it.
py::object take_over(const py::object& capsule) {
  auto* const managed =
      static_cast<DLManagedTensor*>(PyCapsule_GetPointer(capsule.ptr(), kCapsule));
  if (managed == nullptr) throw py::error_already_set();
  if (PyCapsule_SetName(capsule.ptr(), kUsedCapsule) != 0) throw py::error_already_set();
  return py::capsule(managed, [](void* pointer) {
    auto* const taken = static_cast<DLManagedTensor*>(pointer);
    if (taken->deleter != nullptr) taken->deleter(taken);
  });
}

// (memory, code, bits): the capsule's tensor as memory of the device, without a copy.
py::tuple from_dlpack(const py::object& device_object, const py::object& capsule);

}  // namespace

uint64_t Memory::bytes() const {
  auto bytes = static_cast<uint64_t>(item_size);
  for (const py::ssize_t length : shape) bytes *= static_cast<uint64_t>(length);
  return bytes;
}

void Memory::note(const Point& point) {
  if (!owner) return;
  for (Point& known : points) {
    if (known.semaphore.get() != point.semaphore.get()) continue;
    known.value = point.value;
    return;
  }
  points.push_back(point);
}

Memory::~Memory() {
  if (is_mapped) halyard_error_free(halyard_buffer_unmap(buffer.get(), host));
  if (!owner) return;
  host::internal::BufferHandle handle = buffer.handle();
  buffer = HeldBuffer();
  keep(std::move(handle), std::move(owner), std::move(points));
}

std::unique_ptr<Memory> make_memory(const HeldDevice& device, HeldBuffer buffer, bool map,
                                    py::object owner) {
  auto memory = std::make_unique<Memory>();
  memory->device = HeldDevice(device);
  memory->buffer = std::move(buffer);
  memory->owner = std::move(owner);
  if (map) {
    check(halyard_buffer_map(memory->buffer.get(), 0, HALYARD_TO_END, HALYARD_MAP_READ_WRITE,
                             &memory->host));
    memory->is_mapped = true;
  }
  memory->shape = {static_cast<py::ssize_t>(halyard_buffer_size(memory->buffer.get()))};
  memory->strides = {1};
  memory->format = "B";
  return memory;
}

namespace {

// Takes the memory of `other`, which is empty afterwards.
std::unique_ptr<Memory> take(Memory& other) {
  auto memory = std::make_unique<Memory>();
  memory->buffer = std::move(other.buffer);
  memory->device = std::move(other.device);
  memory->host = std::exchange(other.host, nullptr);
  memory->is_mapped = std::exchange(other.is_mapped, false);
  memory->owner = std::move(other.owner);
  memory->points = std::move(other.points);
  memory->format = std::move(other.format);
  memory->item_size = other.item_size;
  memory->shape = std::move(other.shape);
  memory->strides = std::move(other.strides);
  return memory;
}

py::tuple from_dlpack(const py::object& device_object, const py::object& capsule) {
  if (PyCapsule_IsValid(capsule.ptr(), kCapsule) == 0) {
    fail(HALYARD_INVALID_ARGUMENT,
         "The DLPack capsule holds no tensor that can be taken: it is of another kind (a "
         "\"dltensor\" is wanted), or was used before. A capsule is used once.");
  }
  auto* const pointer = PyCapsule_GetPointer(capsule.ptr(), kCapsule);
  const DLTensor& tensor = static_cast<DLManagedTensor*>(pointer)->tensor;
  const bool on_host =
      tensor.device.device_type == kDLCPU || tensor.device.device_type == kDLROCMHost;
  if (!on_host && tensor.device.device_type != kDLROCM) {
    fail(HALYARD_INVALID_ARGUMENT,
         "The DLPack tensor is in memory of device type " +
             std::to_string(tensor.device.device_type) +
             ". Halyard takes that of the CPU (1), of ROCm (10) and of ROCm's host (11).");
  }
  if (tensor.dtype.lanes != 1 || tensor.dtype.bits % 8 != 0) {
    fail(HALYARD_UNIMPLEMENTED,
         "The DLPack tensor has elements of " + std::to_string(tensor.dtype.lanes) + " lanes of " +
             std::to_string(tensor.dtype.bits) + " bits. Halyard takes one lane of whole bytes.");
  }
  if (!is_compact(tensor)) {
    fail(HALYARD_UNIMPLEMENTED,
         "The DLPack tensor has gaps between its elements, or another order than that of C. Make a "
         "contiguous copy first.");
  }
  const py::ssize_t item_size = tensor.dtype.bits / 8;
  std::vector<py::ssize_t> shape(tensor.shape, tensor.shape + tensor.ndim);
  uint64_t bytes = static_cast<uint64_t>(item_size);
  for (const py::ssize_t length : shape) bytes *= static_cast<uint64_t>(length);
  auto* const data = static_cast<std::byte*>(tensor.data) + tensor.byte_offset;

  auto options = host::internal::with_size<halyard_import_options>();
  options.kind = on_host ? HALYARD_IMPORT_HOST_MEMORY : HALYARD_IMPORT_DEVICE_POINTER;
  options.pointer = data;
  options.size = bytes;
  const py::object held = device_object.attr("_held");
  const auto& device = held.cast<const HeldDevice&>();
  HeldBuffer buffer;
  const int code = tensor.dtype.code;
  const int bits = tensor.dtype.bits;
  unlocked([&] { return halyard_device_import_buffer(device.get(), &options, buffer.out()); });
  std::unique_ptr<Memory> memory =
      make_memory(device, std::move(buffer), false, take_over(capsule));
  if (on_host) memory->host = data;
  set_shape(*memory, std::move(shape), item_size, "B");
  return py::make_tuple(std::move(memory), code, bits);
}

}  // namespace

void define_memory(py::module_& module) {
  const py::class_<HeldDevice> held_device(module, "_HeldDevice");
  py::class_<Memory>(module, "Memory", py::custom_type_setup([](PyHeapTypeObject* type) {
                       type->as_buffer.bf_getbuffer = &get_buffer;
                       type->ht_type.tp_as_buffer = &type->as_buffer;
                     }))
      .def(py::init(&take))
      .def_property_readonly(
          "address", [](const Memory& m) { return halyard_buffer_device_address(m.buffer.get()); })
      .def_property_readonly("size_in_bytes",
                             [](const Memory& m) { return halyard_buffer_size(m.buffer.get()); })
      .def_property_readonly(
          "memory_type",
          [](const Memory& m) { return static_cast<int>(halyard_buffer_type(m.buffer.get())); })
      .def_property_readonly("host_address",
                             [](const Memory& m) { return reinterpret_cast<uintptr_t>(m.host); })
      .def_readonly("shape", &Memory::shape)
      .def("set_shape", &set_shape)
      .def("part",
           [](const Memory& m, uint64_t offset, uint64_t size) {
             HeldBuffer view;
             check(halyard_buffer_subspan(m.buffer.get(), offset, size, view.out()));
             auto part = make_memory(m.device, std::move(view), m.is_mapped, m.owner);
             if (!m.is_mapped && m.host != nullptr) {
               part->host = static_cast<std::byte*>(m.host) + offset;
             }
             part->points = m.points;
             return part;
           })
      .def("export_ipc",
           [](const Memory& m) {
             const auto handle = read_unlocked<halyard_exported_handle>(
                 &halyard_device_export_buffer, m.device.get(), m.buffer.get());
             return py::bytes(reinterpret_cast<const char*>(handle.ipc), sizeof handle.ipc);
           })
      .def("export_dmabuf", [](const Memory& m) {
        const auto dmabuf = read_unlocked<halyard_dmabuf>(&halyard_device_export_dmabuf,
                                                          m.device.get(), m.buffer.get());
        return py::make_tuple(dmabuf.fd, dmabuf.offset);
      });
  module.def("to_dlpack", &to_dlpack);
  module.def("from_dlpack", &from_dlpack);
}

}  // namespace halyard::python
