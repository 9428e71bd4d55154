// Softmax of each row, a work-group for each: an all-reduce for the largest element, one for the sum
// of the exponentials. In f32 and, from and to memory only, in f16. Checked against the host.
func.func private @printMemrefI32(memref<*xi32>) attributes {llvm.emit_c_interface}
func.func private @printMemrefF32(memref<*xf32>) attributes {llvm.emit_c_interface}

func.func @main() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %rows = arith.constant 5 : index
  %items = arith.constant 128 : index
  %zero = arith.constant 0.0 : f32
  %eighth = arith.constant 0.125 : f32
  %x = memref.alloc() : memref<5x128xf32>
  %xh = memref.alloc() : memref<5x128xf16>
  // x[r][i] = ((7 i + 11 r) mod 128 - 48) / 8, which f16 holds exactly.
  %offset = arith.constant 48.0 : f32
  scf.for %r = %c0 to %rows step %c1 {
    scf.for %i = %c0 to %items step %c1 {
      %c11 = arith.constant 11 : index
      %p = arith.muli %i, %c7 : index
      %q = arith.muli %r, %c11 : index
      %s = arith.addi %p, %q : index
      %m = arith.remui %s, %items : index
      %integer = arith.index_cast %m : index to i32
      %f = arith.sitofp %integer : i32 to f32
      %g = arith.subf %f, %offset : f32
      %v = arith.mulf %g, %eighth : f32
      %h = arith.truncf %v : f32 to f16
      memref.store %v, %x[%r, %i] : memref<5x128xf32>
      memref.store %h, %xh[%r, %i] : memref<5x128xf16>
    }
  }
  %y = memref.alloc() : memref<5x128xf32>
  %yh = memref.alloc() : memref<5x128xf16>
  %ux = memref.cast %x : memref<5x128xf32> to memref<*xf32>
  %uxh = memref.cast %xh : memref<5x128xf16> to memref<*xf16>
  %uy = memref.cast %y : memref<5x128xf32> to memref<*xf32>
  %uyh = memref.cast %yh : memref<5x128xf16> to memref<*xf16>
  gpu.host_register %ux : memref<*xf32>
  gpu.host_register %uxh : memref<*xf16>
  gpu.host_register %uy : memref<*xf32>
  gpu.host_register %uyh : memref<*xf16>

  gpu.launch blocks(%bx, %by, %bz) in (%gx = %rows, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %items, %sy = %c1, %sz = %c1) {
    %v = memref.load %x[%bx, %tx] : memref<5x128xf32>
    %most = gpu.all_reduce maximumf %v uniform {} : (f32) -> (f32)
    %d = arith.subf %v, %most : f32
    %e = math.exp %d : f32
    %sum = gpu.all_reduce add %e uniform {} : (f32) -> (f32)
    %q = arith.divf %e, %sum : f32
    memref.store %q, %y[%bx, %tx] : memref<5x128xf32>
    gpu.terminator
  }
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %rows, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %items, %sy = %c1, %sz = %c1) {
    %h = memref.load %xh[%bx, %tx] : memref<5x128xf16>
    %v = arith.extf %h : f16 to f32
    %most = gpu.all_reduce maximumf %v uniform {} : (f32) -> (f32)
    %d = arith.subf %v, %most : f32
    %e = math.exp %d : f32
    %sum = gpu.all_reduce add %e uniform {} : (f32) -> (f32)
    %q = arith.divf %e, %sum : f32
    %qh = arith.truncf %q : f32 to f16
    memref.store %qh, %yh[%bx, %tx] : memref<5x128xf16>
    gpu.terminator
  }

  // Elements that differ from the host's by more than 1e-5 (f32) and 2e-4 (f16) of the largest, 0.12.
  %wrong = memref.alloc() : memref<2xi32>
  %i0 = arith.constant 0 : i32
  memref.store %i0, %wrong[%c0] : memref<2xi32>
  memref.store %i0, %wrong[%c1] : memref<2xi32>
  %tolerance = arith.constant 1.2e-6 : f32
  %tolerance_half = arith.constant 1.0e-4 : f32
  %lowest = arith.constant -1000.0 : f32
  scf.for %r = %c0 to %rows step %c1 {
    %most = scf.for %i = %c0 to %items step %c1 iter_args(%m = %lowest) -> f32 {
      %v = memref.load %x[%r, %i] : memref<5x128xf32>
      %m2 = arith.maximumf %m, %v : f32
      scf.yield %m2 : f32
    }
    %sum = scf.for %i = %c0 to %items step %c1 iter_args(%s = %zero) -> f32 {
      %v = memref.load %x[%r, %i] : memref<5x128xf32>
      %d = arith.subf %v, %most : f32
      %e = math.exp %d : f32
      %s2 = arith.addf %s, %e : f32
      scf.yield %s2 : f32
    }
    scf.for %i = %c0 to %items step %c1 {
      %v = memref.load %x[%r, %i] : memref<5x128xf32>
      %d = arith.subf %v, %most : f32
      %e = math.exp %d : f32
      %want = arith.divf %e, %sum : f32
      %got = memref.load %y[%r, %i] : memref<5x128xf32>
      %got_half = memref.load %yh[%r, %i] : memref<5x128xf16>
      %got_wide = arith.extf %got_half : f16 to f32
      %difference = arith.subf %got, %want : f32
      %difference_half = arith.subf %got_wide, %want : f32
      %size = math.absf %difference : f32
      %size_half = math.absf %difference_half : f32
      // Not "greater", which a NaN is not.
      %is_wrong = arith.cmpf ugt, %size, %tolerance : f32
      %is_wrong_half = arith.cmpf ugt, %size_half, %tolerance_half : f32
      %one = arith.extui %is_wrong : i1 to i32
      %one_half = arith.extui %is_wrong_half : i1 to i32
      %w = memref.load %wrong[%c0] : memref<2xi32>
      %w2 = arith.addi %w, %one : i32
      memref.store %w2, %wrong[%c0] : memref<2xi32>
      %h = memref.load %wrong[%c1] : memref<2xi32>
      %h2 = arith.addi %h, %one_half : i32
      memref.store %h2, %wrong[%c1] : memref<2xi32>
    }
  }
  %u = memref.cast %wrong : memref<2xi32> to memref<*xi32>
  // EXPECT: [0,  0]
  call @printMemrefI32(%u) : (memref<*xi32>) -> ()
  return
}
