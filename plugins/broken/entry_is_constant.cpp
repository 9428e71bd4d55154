// Exports a constant where the function should be.
extern "C" __attribute__((visibility("default"))) const char halyard_plugin[] = "skeleton";
