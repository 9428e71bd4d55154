// Multiplies two matrices of f16, with sums in f32 and a product in f16: one work-item for each
// element, in device memory, chained by async tokens. @reference says what the product is.
func.func private @printMemrefF32(memref<*xf32>) attributes {llvm.emit_c_interface}

func.func @main() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %k = arith.constant 17 : index
  %zero = arith.constant 0.0 : f32
  %a = memref.alloc() : memref<16x17xf16>
  %b = memref.alloc() : memref<17x24xf16>
  %c = memref.alloc() : memref<16x24xf16>
  call @fill(%a, %b) : (memref<16x17xf16>, memref<17x24xf16>) -> ()

  %start = gpu.wait async
  %da, %t0 = gpu.alloc async [%start] () : memref<16x17xf16>
  %db, %t1 = gpu.alloc async [%t0] () : memref<17x24xf16>
  %dc, %t2 = gpu.alloc async [%t1] () : memref<16x24xf16>
  %t3 = gpu.memcpy async [%t2] %da, %a : memref<16x17xf16>, memref<16x17xf16>
  %t4 = gpu.memcpy async [%t3] %db, %b : memref<17x24xf16>, memref<17x24xf16>
  %gy = arith.constant 2 : index
  %gx = arith.constant 3 : index
  %t5 = gpu.launch async [%t4] blocks(%bx, %by, %bz) in (%sgx = %gx, %sgy = %gy, %sgz = %c1)
             threads(%tx, %ty, %tz) in (%sbx = %c8, %sby = %c8, %sbz = %c1) {
    %i0 = arith.muli %by, %c8 : index
    %i = arith.addi %i0, %ty : index
    %j0 = arith.muli %bx, %c8 : index
    %j = arith.addi %j0, %tx : index
    %sum = scf.for %p = %c0 to %k step %c1 iter_args(%s = %zero) -> f32 {
      %xh = memref.load %da[%i, %p] : memref<16x17xf16>
      %yh = memref.load %db[%p, %j] : memref<17x24xf16>
      %x = arith.extf %xh : f16 to f32
      %y = arith.extf %yh : f16 to f32
      %xy = arith.mulf %x, %y : f32
      %t = arith.addf %s, %xy : f32
      scf.yield %t : f32
    }
    %half = arith.truncf %sum : f32 to f16
    memref.store %half, %dc[%i, %j] : memref<16x24xf16>
    gpu.terminator
  }
  %t6 = gpu.memcpy async [%t5] %c, %dc : memref<16x24xf16>, memref<16x24xf16>
  %t7 = gpu.dealloc async [%t6] %da : memref<16x17xf16>
  %t8 = gpu.dealloc async [%t7] %db : memref<17x24xf16>
  %t9 = gpu.dealloc async [%t8] %dc : memref<16x24xf16>
  gpu.wait [%t9]
  call @print(%c) : (memref<16x24xf16>) -> ()
  return
}

// The same on the CPU.
func.func @reference() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = arith.constant 16 : index
  %n = arith.constant 24 : index
  %k = arith.constant 17 : index
  %zero = arith.constant 0.0 : f32
  %a = memref.alloc() : memref<16x17xf16>
  %b = memref.alloc() : memref<17x24xf16>
  %c = memref.alloc() : memref<16x24xf16>
  call @fill(%a, %b) : (memref<16x17xf16>, memref<17x24xf16>) -> ()
  scf.for %i = %c0 to %m step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      %sum = scf.for %p = %c0 to %k step %c1 iter_args(%s = %zero) -> f32 {
        %xh = memref.load %a[%i, %p] : memref<16x17xf16>
        %yh = memref.load %b[%p, %j] : memref<17x24xf16>
        %x = arith.extf %xh : f16 to f32
        %y = arith.extf %yh : f16 to f32
        %xy = arith.mulf %x, %y : f32
        %t = arith.addf %s, %xy : f32
        scf.yield %t : f32
      }
      %half = arith.truncf %sum : f32 to f16
      memref.store %half, %c[%i, %j] : memref<16x24xf16>
    }
  }
  call @print(%c) : (memref<16x24xf16>) -> ()
  return
}

func.func @fill(%a: memref<16x17xf16>, %b: memref<17x24xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = arith.constant 16 : index
  %n = arith.constant 24 : index
  %k = arith.constant 17 : index
  scf.for %p = %c0 to %k step %c1 {
    scf.for %i = %c0 to %m step %c1 {
      %v = func.call @value(%i, %p) : (index, index) -> f16
      memref.store %v, %a[%i, %p] : memref<16x17xf16>
    }
    scf.for %j = %c0 to %n step %c1 {
      %v = func.call @value(%p, %j) : (index, index) -> f16
      memref.store %v, %b[%p, %j] : memref<17x24xf16>
    }
  }
  return
}

// ((3 i + 5 j) mod 7 - 3) / 4, which f16 holds exactly.
func.func @value(%i: index, %j: index) -> f16 {
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index
  %c7 = arith.constant 7 : index
  %quarter = arith.constant 0.25 : f32
  %x = arith.muli %i, %c3 : index
  %y = arith.muli %j, %c5 : index
  %s = arith.addi %x, %y : index
  %r = arith.remui %s, %c7 : index
  %n = arith.subi %r, %c3 : index
  %integer = arith.index_cast %n : index to i32
  %f = arith.sitofp %integer : i32 to f32
  %q = arith.mulf %f, %quarter : f32
  %h = arith.truncf %q : f32 to f16
  return %h : f16
}

func.func @print(%c: memref<16x24xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = arith.constant 16 : index
  %n = arith.constant 24 : index
  %wide = memref.alloc() : memref<16x24xf32>
  scf.for %i = %c0 to %m step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      %h = memref.load %c[%i, %j] : memref<16x24xf16>
      %f = arith.extf %h : f16 to f32
      memref.store %f, %wide[%i, %j] : memref<16x24xf32>
    }
  }
  %u = memref.cast %wide : memref<16x24xf32> to memref<*xf32>
  call @printMemrefF32(%u) : (memref<*xf32>) -> ()
  return
}
