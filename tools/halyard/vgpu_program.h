// The virtual GPU for a program that `vgpu exec` or `vgpu explore` starts.
#pragma once

#include <string>

#include "hal/status.h"

namespace halyard::cli {

// Chooses the profile, from --profile, the environment or a config, and loads it in this process as
// well, so that a mistake in it or in the environment stops the program before it starts.
// `command`: "halyard vgpu exec". Returns the profile as it is found from every folder.
Result<std::string> choose_program_profile(const std::string& command, const std::string& flag);

// Sets the environment variables that put a program on the virtual GPU.
Status set_program_environment(const std::string& profile);

// The program's file, as execvp finds it; its name if there is none.
std::string program_file(const std::string& program);

}  // namespace halyard::cli
