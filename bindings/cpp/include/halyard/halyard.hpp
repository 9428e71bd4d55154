// Halyard for C++20 programs: a header over the C interface (halyard/halyard.h). Include this file;
// its parts are in halyard/cpp/.
//
//     using namespace halyard::host;
//     Device device = Device::open("amdgpu");
//     Kernel vadd = device.load("vadd.hipfb").kernel("vadd");
//     Queue queue = device.queue();
//     Array<float> a = device.array<float>(n), b = device.array<float>(n);
//     queue.upload(numbers, a);
//     queue.launch(vadd, {n}, {256}, a, a, b, n);
//     queue.download(b, sums);
//
// Errors: every function that can fail throws Error, which has a code and a message. The function
// with the prefix try_ returns a Result or Status instead, and throws only std::bad_alloc. With
// -fno-exceptions only that one exists.
//
// Cost: a function copies or waits only if its comment says so. Objects are handles: copies refer
// to the same object. handle() returns the C handle, for operations that this header does not have.
//
// Threads: as the C interface. Only one thread at a time may copy or assign an object.
//
// The namespace differs from that of the C++ headers in hal/, so a program can use both.
#ifndef HALYARD_HALYARD_HPP
#define HALYARD_HALYARD_HPP

#include <halyard/cpp/device.hpp>
#include <halyard/cpp/error.hpp>
#include <halyard/cpp/kernel.hpp>
#include <halyard/cpp/memory.hpp>
#include <halyard/cpp/queue.hpp>

#undef HALYARD_HOST_TRY

#endif  // HALYARD_HALYARD_HPP
