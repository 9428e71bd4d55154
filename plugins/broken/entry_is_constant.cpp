// Exports a constant where the function should be.
// NOLINTNEXTLINE(readability-identifier-naming): the loader's name
extern "C" __attribute__((visibility("default"))) const char halyard_plugin[] = "skeleton";
