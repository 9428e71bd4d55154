// Stands in for the vendor's libhsa-runtime64.so.1.
extern "C" __attribute__((visibility("default"))) int halyard_fake_runtime_function() {
  return 8;
}
