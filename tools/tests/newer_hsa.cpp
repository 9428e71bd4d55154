// The HSA runtime of the system, but one that takes no code objects of version 3: what the driver
// says then.
#include <dlfcn.h>
#include <elf.h>
#include <hsa/hsa.h>

#include <cstddef>

extern "C" [[gnu::visibility("default")]] hsa_status_t hsa_code_object_reader_create_from_memory(
    const void* code_object, size_t size, hsa_code_object_reader_t* reader) {
  constexpr unsigned char kVersion3 = 1;
  const auto* const bytes = static_cast<const unsigned char*>(code_object);
  if (size > EI_ABIVERSION && bytes[EI_ABIVERSION] == kVersion3) {
    return HSA_STATUS_ERROR_INVALID_CODE_OBJECT;
  }
  using Create = decltype(&hsa_code_object_reader_create_from_memory);
  const auto create =
      reinterpret_cast<Create>(dlsym(RTLD_NEXT, "hsa_code_object_reader_create_from_memory"));
  return create(code_object, size, reader);
}
