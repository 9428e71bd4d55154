// Multiplies two matrices by tiles of 16 × 16 in LDS: f32, and f16 with sums in f32. Checked against
// the host. The two kernels are two modules.
func.func private @printMemrefI32(memref<*xi32>) attributes {llvm.emit_c_interface}

func.func @main() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c16 = arith.constant 16 : index
  %n = arith.constant 32 : index
  %zero = arith.constant 0.0 : f32
  %a = memref.alloc() : memref<32x32xf32>
  %b = memref.alloc() : memref<32x32xf32>
  %c = memref.alloc() : memref<32x32xf32>
  %ah = memref.alloc() : memref<32x32xf16>
  %bh = memref.alloc() : memref<32x32xf16>
  %ch = memref.alloc() : memref<32x32xf16>
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      %x = func.call @value(%i, %j) : (index, index) -> f32
      %y = func.call @value(%j, %i) : (index, index) -> f32
      %xh = arith.truncf %x : f32 to f16
      %yh = arith.truncf %y : f32 to f16
      memref.store %x, %a[%i, %j] : memref<32x32xf32>
      memref.store %y, %b[%i, %j] : memref<32x32xf32>
      memref.store %xh, %ah[%i, %j] : memref<32x32xf16>
      memref.store %yh, %bh[%i, %j] : memref<32x32xf16>
    }
  }
  %ua = memref.cast %a : memref<32x32xf32> to memref<*xf32>
  %ub = memref.cast %b : memref<32x32xf32> to memref<*xf32>
  %uc = memref.cast %c : memref<32x32xf32> to memref<*xf32>
  %uah = memref.cast %ah : memref<32x32xf16> to memref<*xf16>
  %ubh = memref.cast %bh : memref<32x32xf16> to memref<*xf16>
  %uch = memref.cast %ch : memref<32x32xf16> to memref<*xf16>
  gpu.host_register %ua : memref<*xf32>
  gpu.host_register %ub : memref<*xf32>
  gpu.host_register %uc : memref<*xf32>
  gpu.host_register %uah : memref<*xf16>
  gpu.host_register %ubh : memref<*xf16>
  gpu.host_register %uch : memref<*xf16>

  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c2, %gy = %c2, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c16, %sy = %c16, %sz = %c1)
             workgroup(%ta : memref<16x16xf32, #gpu.address_space<workgroup>>,
                       %tb : memref<16x16xf32, #gpu.address_space<workgroup>>) {
    %i0 = arith.muli %by, %c16 : index
    %i = arith.addi %i0, %ty : index
    %j0 = arith.muli %bx, %c16 : index
    %j = arith.addi %j0, %tx : index
    %sum = scf.for %p0 = %c0 to %n step %c16 iter_args(%s = %zero) -> f32 {
      %pa = arith.addi %p0, %tx : index
      %pb = arith.addi %p0, %ty : index
      %x = memref.load %a[%i, %pa] : memref<32x32xf32>
      %y = memref.load %b[%pb, %j] : memref<32x32xf32>
      memref.store %x, %ta[%ty, %tx] : memref<16x16xf32, #gpu.address_space<workgroup>>
      memref.store %y, %tb[%ty, %tx] : memref<16x16xf32, #gpu.address_space<workgroup>>
      gpu.barrier
      %t = scf.for %p = %c0 to %c16 step %c1 iter_args(%u = %s) -> f32 {
        %xt = memref.load %ta[%ty, %p] : memref<16x16xf32, #gpu.address_space<workgroup>>
        %yt = memref.load %tb[%p, %tx] : memref<16x16xf32, #gpu.address_space<workgroup>>
        %xy = arith.mulf %xt, %yt : f32
        %v = arith.addf %u, %xy : f32
        scf.yield %v : f32
      }
      gpu.barrier
      scf.yield %t : f32
    }
    memref.store %sum, %c[%i, %j] : memref<32x32xf32>
    gpu.terminator
  }

  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c2, %gy = %c2, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c16, %sy = %c16, %sz = %c1)
             workgroup(%ta : memref<16x16xf16, #gpu.address_space<workgroup>>,
                       %tb : memref<16x16xf16, #gpu.address_space<workgroup>>) {
    %i0 = arith.muli %by, %c16 : index
    %i = arith.addi %i0, %ty : index
    %j0 = arith.muli %bx, %c16 : index
    %j = arith.addi %j0, %tx : index
    %sum = scf.for %p0 = %c0 to %n step %c16 iter_args(%s = %zero) -> f32 {
      %pa = arith.addi %p0, %tx : index
      %pb = arith.addi %p0, %ty : index
      %x = memref.load %ah[%i, %pa] : memref<32x32xf16>
      %y = memref.load %bh[%pb, %j] : memref<32x32xf16>
      memref.store %x, %ta[%ty, %tx] : memref<16x16xf16, #gpu.address_space<workgroup>>
      memref.store %y, %tb[%ty, %tx] : memref<16x16xf16, #gpu.address_space<workgroup>>
      gpu.barrier
      %t = scf.for %p = %c0 to %c16 step %c1 iter_args(%u = %s) -> f32 {
        %xt = memref.load %ta[%ty, %p] : memref<16x16xf16, #gpu.address_space<workgroup>>
        %yt = memref.load %tb[%p, %tx] : memref<16x16xf16, #gpu.address_space<workgroup>>
        %xe = arith.extf %xt : f16 to f32
        %ye = arith.extf %yt : f16 to f32
        %xy = arith.mulf %xe, %ye : f32
        %v = arith.addf %u, %xy : f32
        scf.yield %v : f32
      }
      gpu.barrier
      scf.yield %t : f32
    }
    %half = arith.truncf %sum : f32 to f16
    memref.store %half, %ch[%i, %j] : memref<32x32xf16>
    gpu.terminator
  }

  // Elements that are wrong, in f32 and in f16: whole numbers below 2048 are exact in both.
  %wrong = memref.alloc() : memref<2xi32>
  %i0 = arith.constant 0 : i32
  memref.store %i0, %wrong[%c0] : memref<2xi32>
  memref.store %i0, %wrong[%c1] : memref<2xi32>
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      %sum = scf.for %p = %c0 to %n step %c1 iter_args(%s = %zero) -> f32 {
        %x = memref.load %a[%i, %p] : memref<32x32xf32>
        %y = memref.load %b[%p, %j] : memref<32x32xf32>
        %xy = arith.mulf %x, %y : f32
        %t = arith.addf %s, %xy : f32
        scf.yield %t : f32
      }
      %got = memref.load %c[%i, %j] : memref<32x32xf32>
      %got_half = memref.load %ch[%i, %j] : memref<32x32xf16>
      %got_wide = arith.extf %got_half : f16 to f32
      %is_wrong = arith.cmpf une, %got, %sum : f32
      %is_wrong_half = arith.cmpf une, %got_wide, %sum : f32
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

// (3 i + 5 j) mod 7 + 1
func.func @value(%i: index, %j: index) -> f32 {
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index
  %c7 = arith.constant 7 : index
  %x = arith.muli %i, %c3 : index
  %y = arith.muli %j, %c5 : index
  %s = arith.addi %x, %y : index
  %r = arith.remui %s, %c7 : index
  %n = arith.addi %r, %c1 : index
  %integer = arith.index_cast %n : index to i32
  %f = arith.sitofp %integer : i32 to f32
  return %f : f32
}
