// Sums of rows by an all-reduce within the work-group of each row: in f32, and of elements in f16.
// @reference says what they are.
func.func private @printMemrefF32(memref<*xf32>) attributes {llvm.emit_c_interface}

func.func @main() {
  %c1 = arith.constant 1 : index
  %rows = arith.constant 5 : index
  %items = arith.constant 128 : index
  %data = memref.alloc() : memref<5x128xf32>
  %halves = memref.alloc() : memref<5x128xf16>
  %sums = memref.alloc() : memref<2x5xf32>
  call @fill(%data, %halves) : (memref<5x128xf32>, memref<5x128xf16>) -> ()
  %udata = memref.cast %data : memref<5x128xf32> to memref<*xf32>
  %uhalves = memref.cast %halves : memref<5x128xf16> to memref<*xf16>
  %usums = memref.cast %sums : memref<2x5xf32> to memref<*xf32>
  gpu.host_register %udata : memref<*xf32>
  gpu.host_register %uhalves : memref<*xf16>
  gpu.host_register %usums : memref<*xf32>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %rows, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %items, %sy = %c1, %sz = %c1) {
    %first = arith.constant 0 : index
    %second = arith.constant 1 : index
    %x = memref.load %data[%bx, %tx] : memref<5x128xf32>
    %h = memref.load %halves[%bx, %tx] : memref<5x128xf16>
    %sum = gpu.all_reduce add %x uniform {} : (f32) -> (f32)
    %sum_half = gpu.all_reduce add %h uniform {} : (f16) -> (f16)
    %wide = arith.extf %sum_half : f16 to f32
    // From the last work-item, which a sum that only reached the first one would miss.
    %last = arith.constant 127 : index
    %is_last = arith.cmpi eq, %tx, %last : index
    scf.if %is_last {
      memref.store %sum, %sums[%first, %bx] : memref<2x5xf32>
      memref.store %wide, %sums[%second, %bx] : memref<2x5xf32>
    }
    gpu.terminator
  }
  call @printMemrefF32(%usums) : (memref<*xf32>) -> ()
  return
}

// The same on the CPU.
func.func @reference() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = arith.constant 5 : index
  %items = arith.constant 128 : index
  %zero = arith.constant 0.0 : f32
  %zero_half = arith.constant 0.0 : f16
  %data = memref.alloc() : memref<5x128xf32>
  %halves = memref.alloc() : memref<5x128xf16>
  %sums = memref.alloc() : memref<2x5xf32>
  call @fill(%data, %halves) : (memref<5x128xf32>, memref<5x128xf16>) -> ()
  scf.for %r = %c0 to %rows step %c1 {
    %sum = scf.for %i = %c0 to %items step %c1 iter_args(%s = %zero) -> f32 {
      %x = memref.load %data[%r, %i] : memref<5x128xf32>
      %t = arith.addf %s, %x : f32
      scf.yield %t : f32
    }
    %sum_half = scf.for %i = %c0 to %items step %c1 iter_args(%s = %zero_half) -> f16 {
      %h = memref.load %halves[%r, %i] : memref<5x128xf16>
      %t = arith.addf %s, %h : f16
      scf.yield %t : f16
    }
    %wide = arith.extf %sum_half : f16 to f32
    memref.store %sum, %sums[%c0, %r] : memref<2x5xf32>
    memref.store %wide, %sums[%c1, %r] : memref<2x5xf32>
  }
  %u = memref.cast %sums : memref<2x5xf32> to memref<*xf32>
  call @printMemrefF32(%u) : (memref<*xf32>) -> ()
  return
}

// ((7 i + 11 r) mod 37 - 15) / 4: all sums are exact, in f16 too.
func.func @fill(%data: memref<5x128xf32>, %halves: memref<5x128xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %c11 = arith.constant 11 : index
  %modulus = arith.constant 37 : index
  %rows = arith.constant 5 : index
  %items = arith.constant 128 : index
  %offset = arith.constant 15.0 : f32
  %quarter = arith.constant 0.25 : f32
  scf.for %r = %c0 to %rows step %c1 {
    scf.for %i = %c0 to %items step %c1 {
      %p = arith.muli %i, %c7 : index
      %q = arith.muli %r, %c11 : index
      %s = arith.addi %p, %q : index
      %m = arith.remui %s, %modulus : index
      %integer = arith.index_cast %m : index to i32
      %f = arith.sitofp %integer : i32 to f32
      %g = arith.subf %f, %offset : f32
      %v = arith.mulf %g, %quarter : f32
      %h = arith.truncf %v : f32 to f16
      memref.store %v, %data[%r, %i] : memref<5x128xf32>
      memref.store %h, %halves[%r, %i] : memref<5x128xf16>
    }
  }
  return
}
