// When the vendor's runtime returns to the program.
//
// A page that the runtime has opened for its stores stays open, and the program could store there
// too without a signal. So the right to execute is taken from the page of code that the runtime
// returns to: its first instruction there raises a signal, and the model asks for the writers of
// pages anew.
#pragma once

#include <cstdint>

namespace halyard::vgpu::coherence {

// The runtime is to return to `pc`, in code of the program that is mapped from a file.
void expect_return(uint64_t pc);

// In the signal's handler: whether the access is the execution of such a page, which may then be
// executed again. Takes no lock of the model's.
bool has_returned(uint64_t address, uint64_t pc);

}  // namespace halyard::vgpu::coherence
