// A good shared library that is no plugin.
extern "C" __attribute__((visibility("default"))) int halyard_test_something_else() {
  return 1;
}
