// Read-modify-write operations, as functors of (old value in memory, data, compare value) → new
// value, and the two ways to carry them out: on memory that other threads use, and on LDS.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "vgpu/isa/valu/half.h"

namespace halyard::vgpu::isa::atomic {

struct Swap {
  template <class T>
  static T f(T, T data, T) {
    return data;
  }
};
struct Cmpswap {
  template <class T>
  static T f(T old, T data, T compare) {
    return old == compare ? data : old;
  }
};
struct Add {
  template <class T>
  static T f(T old, T data, T) {
    return old + data;
  }
};
struct Sub {
  template <class T>
  static T f(T old, T data, T) {
    return old - data;
  }
};
struct Rsub {
  template <class T>
  static T f(T old, T data, T) {
    return data - old;
  }
};
struct Smin {
  template <class T>
  static T f(T old, T data, T) {
    using S = std::make_signed_t<T>;
    return static_cast<S>(data) < static_cast<S>(old) ? data : old;
  }
};
struct Smax {
  template <class T>
  static T f(T old, T data, T) {
    using S = std::make_signed_t<T>;
    return static_cast<S>(data) > static_cast<S>(old) ? data : old;
  }
};
struct Umin {
  template <class T>
  static T f(T old, T data, T) {
    return data < old ? data : old;
  }
};
struct Umax {
  template <class T>
  static T f(T old, T data, T) {
    return data > old ? data : old;
  }
};
struct And {
  template <class T>
  static T f(T old, T data, T) {
    return old & data;
  }
};
struct Or {
  template <class T>
  static T f(T old, T data, T) {
    return old | data;
  }
};
struct Xor {
  template <class T>
  static T f(T old, T data, T) {
    return old ^ data;
  }
};
struct Inc {
  template <class T>
  static T f(T old, T data, T) {
    return old >= data ? T{0} : static_cast<T>(old + 1);
  }
};
struct Dec {
  template <class T>
  static T f(T old, T data, T) {
    return old == 0 || old > data ? data : static_cast<T>(old - 1);
  }
};

template <class T>
using Float = std::conditional_t<sizeof(T) == 8, double, float>;

// A sum, with a NaN chosen as the vector ALU chooses it (valu/values.h).
template <class F>
F sum_of(F a, F b) {
  const F sum = a + b;
  return valu::is_nan(sum) ? valu::nan_result(a, b) : sum;
}

// Float operations on bit patterns. All round to nearest even, regardless of MODE.
struct Fadd {
  template <class T>
  static T f(T old, T data, T) {
    return valu::to_bits(sum_of(std::bit_cast<Float<T>>(old), std::bit_cast<Float<T>>(data)));
  }
};
// Flushes denormals by a mode field: inputs if its bit 0 is clear, outputs if its bit 1 is clear. A
// flushed value keeps its sign.
template <unsigned kDenormals>
struct FaddFlushing {
  template <class T>
  static T f(T old, T data, T) {
    using valu::flush, valu::from_bits, valu::to_bits;
    Float<T> a = from_bits<Float<T>>(old), b = from_bits<Float<T>>(data);
    if (!(kDenormals & 1)) a = flush(a), b = flush(b);
    const Float<T> sum = sum_of(a, b);
    return to_bits(kDenormals & 2 ? sum : flush(sum));
  }
};
// f32 in memory, up to gfx90a: denormals are flushed in every mode (LLVM's SIISelLowering on global
// atomics, https://reviews.llvm.org/D87864: "a hardcoded FP mode", no f32 denormals, but those of
// v2f16). Where Target::f32_atomic_denormals is set it is Fadd.
using FaddMemory = FaddFlushing<0>;

inline valu::F16 rounded_to(valu::F16, float x) {
  return valu::nearest_f16(x);
}
inline valu::BF16 rounded_to(valu::BF16, float x) {
  return valu::nearest_bf16(x);
}
// Two f16 or bf16, each on its own. f32 has bits enough for rounding twice to be harmless.
// kDenormals: as for FaddFlushing.
template <class Half, unsigned kDenormals>
struct PkFadd {
  template <class T>
  static T f(T old, T data, T) {
    const auto half = [&](unsigned shift) {
      Half a{static_cast<uint16_t>(old >> shift)}, b{static_cast<uint16_t>(data >> shift)};
      if (!(kDenormals & 1)) a = valu::flush(a), b = valu::flush(b);
      const float sum = valu::to_f32(a) + valu::to_f32(b);
      const Half r = valu::is_nan(sum) ? valu::nan_result(a, b) : rounded_to(a, sum);
      return T{(kDenormals & 2 ? r : valu::flush(r)).bits} << shift;
    };
    return half(0) | half(16);
  }
};
using PkFaddF16 = PkFadd<valu::F16, 3>;
using PkFaddBF16 = PkFadd<valu::BF16, 3>;
// A NaN on either side compares false: memory is left as it is.
struct Fmin {
  template <class T>
  static T f(T old, T data, T) {
    return std::bit_cast<Float<T>>(data) < std::bit_cast<Float<T>>(old) ? data : old;
  }
};
struct Fmax {
  template <class T>
  static T f(T old, T data, T) {
    return std::bit_cast<Float<T>>(data) > std::bit_cast<Float<T>>(old) ? data : old;
  }
};
struct Fcmpswap {
  template <class T>
  static T f(T old, T data, T compare) {
    return std::bit_cast<Float<T>>(old) == std::bit_cast<Float<T>>(compare) ? data : old;
  }
};

// On memory shared with other threads; `p` is aligned. Returns the old value.
template <class F, class T>
T shared(uint8_t* p, T data, T compare) {
  auto* const word = reinterpret_cast<T*>(p);
#if defined(__SANITIZE_THREAD__)
  // The sanitizer's own atomics hold its locks: a guard must take the fault, a write's, before
  // (host_guard.h).
  asm volatile("lock orb $0, %0" : "+m"(*p));
#endif
  if constexpr (std::is_same_v<F, Add>) {
    return __atomic_fetch_add(word, data, __ATOMIC_SEQ_CST);
  } else if constexpr (std::is_same_v<F, Sub>) {
    return __atomic_fetch_sub(word, data, __ATOMIC_SEQ_CST);
  } else if constexpr (std::is_same_v<F, Swap>) {
    return __atomic_exchange_n(word, data, __ATOMIC_SEQ_CST);
  } else if constexpr (std::is_same_v<F, Cmpswap>) {
    T expected = compare;
    __atomic_compare_exchange_n(word, &expected, data, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    return expected;
  } else {
    T old = __atomic_load_n(word, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(word, &old, F::template f<T>(old, data, compare), true,
                                        __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {
    }
    return old;
  }
}

// On LDS, which one thread runs at a time.
template <class F, class T>
T local(uint8_t* p, T data, T compare) {
  T old;
  std::memcpy(&old, p, sizeof old);
  const T value = F::template f<T>(old, data, compare);
  std::memcpy(p, &value, sizeof value);
  return old;
}

}  // namespace halyard::vgpu::isa::atomic
