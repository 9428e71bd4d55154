#include "toolchain/builtin_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace halyard::toolchain {
namespace {

BuiltinLibrary library_of(std::string_view bitcode) {
  return BuiltinLibrary(std::as_bytes(std::span(bitcode)));
}

// As clang 15 and clang 22 write them.
constexpr struct {
  const char* spelled;
  const char* unspelled;
} kNames[] = {
    {"_Z6sincosfPU3AS0f", "_Z6sincosfPf"},
    {"_Z6sincosDv4_fPU3AS0S_", "_Z6sincosDv4_fPS_"},
    {"_Z5frexpDv4_fPU3AS0Dv4_i", "_Z5frexpDv4_fPDv4_i"},
    {"_Z5fractDhPU3AS0Dh", "_Z5fractDhPDh"},
    {"_Z6vload4mPU3AS0Ks", "_Z6vload4mPKs"},
    {"_Z7vstore4Dv4_fmPU3AS0f", "_Z7vstore4Dv4_fmPf"},
    {"_Z16atomic_fetch_addPU3AS0VU7_Atomicii", "_Z16atomic_fetch_addPVU7_Atomicii"},
    {"_Z30atomic_compare_exchange_strongPU3AS0VU7_AtomiciPU3AS0ii",
     "_Z30atomic_compare_exchange_strongPVU7_AtomiciPii"},
    {"_Z37atomic_compare_exchange_weak_explicitPU3AS0VU7_AtomiciPU3AS0ii12memory_orderS4_"
     "12memory_scope",
     "_Z37atomic_compare_exchange_weak_explicitPVU7_AtomiciPii12memory_orderS4_12memory_scope"},
    {"_Z17wait_group_eventsiPU3AS09ocl_event", "_Z17wait_group_eventsiP9ocl_event"},
    // Other address spaces are spelled in any case.
    {"_Z10atomic_addPU3AS1Vii", "_Z10atomic_addPU3AS1Vii"},
    {"_Z13get_global_idj", "_Z13get_global_idj"},
};

TEST(BuiltinNames, TheGenericAddressSpaceIsSpelledOrNot) {
  for (const auto& name : kNames) {
    for (const char* const from : {name.spelled, name.unspelled}) {
      EXPECT_EQ(respelled(from, true), name.spelled);
      EXPECT_EQ(respelled(from, false), name.unspelled);
    }
  }
}

TEST(BuiltinNames, WhatIsNoBuiltinsNameIsLeftAlone) {
  const std::string deep = "_Z1f" + std::string(100'000, 'P') + "f";
  for (const char* const name :
       {"", "sincos", "_Z", "_Z99f", "_Z1fS9_", "_Z1fS_", "_Z1fPU3AS0", "_Z1fDv4", "_Z1fDv4_",
        "_ZN1a1bEv", "_Z1fIiEvT_", "_Z1fPFvvE", "_Z1fU9", deep.c_str()}) {
    EXPECT_EQ(respelled(name, true), std::nullopt) << std::string_view(name).substr(0, 40);
  }
}

TEST(BuiltinNames, TheLibrarysOwnNameIsTaken) {
  const BuiltinLibrary old = library_of("…_Z6sincosfPU3AS0f_Z5fractfPU3AS0f…");
  EXPECT_EQ(old.other_name("_Z6sincosfPf"), "_Z6sincosfPU3AS0f");
  EXPECT_EQ(old.other_name("_Z6sincosfPU3AS0f"), std::nullopt);
  EXPECT_EQ(old.other_name("_Z5frexpfPi"), std::nullopt);  // in no spelling
  const BuiltinLibrary recent = library_of("…_Z6sincosfPf…");
  EXPECT_EQ(recent.other_name("_Z6sincosfPf"), std::nullopt);
  EXPECT_EQ(recent.other_name("_Z6sincosfPU3AS0f"), "_Z6sincosfPf");
}

TEST(BuiltinNames, AnObjectsUseIsSeen) {
  const BuiltinLibrary old = library_of("_Z6sincosfPU3AS0f");
  const auto needs = [&](std::string_view object) {
    return needs_other_names(std::as_bytes(std::span(object)), old);
  };
  EXPECT_TRUE(needs(std::string_view("\0_Z3sinf\0_Z6sincosfPf\0", 22)));
  EXPECT_FALSE(needs(std::string_view("\0_Z3sinf\0_Z3ownPf\0", 18)));
  EXPECT_FALSE(needs(""));
}

TEST(BuiltinNames, OnlyDeclaredFunctionsAreRenamed) {
  const BuiltinLibrary old = library_of("_Z6sincosfPU3AS0f_Z5fractfPU3AS0f");
  const std::string_view ir =
      "; \"@_Z6sincosfPf\n"
      "@text = constant [14 x i8] c\"@_Z6sincosfPf\\00\"\n"
      "define float @_Z5fractfPf(float %0, ptr %1) {\n"
      "  %3 = call float @_Z6sincosfPf(float %0, ptr %1)\n"
      "  %4 = call float @_Z6sincosfPf2(float %3)\n"
      "  %5 = call float @_Z5fractfPf(float %4)\n"
      "}\n"
      "declare hidden float @_Z6sincosfPf(float noundef, ptr noundef) #2\n";
  std::string wanted(ir);
  for (const char* const before : {"call float @_Z6sincosfPf(", "hidden float @_Z6sincosfPf("}) {
    const std::string from = before;
    std::string to = from;
    to.replace(to.find("Pf("), 3, "PU3AS0f(");
    wanted.replace(wanted.find(from), from.size(), to);
  }
  EXPECT_EQ(with_names_of(old, ir), wanted);
}

}  // namespace
}  // namespace halyard::toolchain
