// Multiplies two matrices: one work-item for each element, in device memory that the program
// allocates and copies itself, chained by async tokens. Checked against the host.
func.func private @printMemrefI32(memref<*xi32>) attributes {llvm.emit_c_interface}

func.func @main() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %m = arith.constant 40 : index
  %n = arith.constant 24 : index
  %k = arith.constant 17 : index
  %zero = arith.constant 0.0 : f32
  %a = memref.alloc() : memref<40x17xf32>
  %b = memref.alloc() : memref<17x24xf32>
  %c = memref.alloc() : memref<40x24xf32>

  // Small whole numbers, so that sums are exact.
  scf.for %i = %c0 to %m step %c1 {
    scf.for %p = %c0 to %k step %c1 {
      %v = func.call @value(%i, %p) : (index, index) -> f32
      memref.store %v, %a[%i, %p] : memref<40x17xf32>
    }
  }
  scf.for %p = %c0 to %k step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      %v = func.call @value(%p, %j) : (index, index) -> f32
      memref.store %v, %b[%p, %j] : memref<17x24xf32>
    }
  }

  %start = gpu.wait async
  %da, %t0 = gpu.alloc async [%start] () : memref<40x17xf32>
  %db, %t1 = gpu.alloc async [%t0] () : memref<17x24xf32>
  %dc, %t2 = gpu.alloc async [%t1] () : memref<40x24xf32>
  %t3 = gpu.memcpy async [%t2] %da, %a : memref<40x17xf32>, memref<40x17xf32>
  %t4 = gpu.memcpy async [%t3] %db, %b : memref<17x24xf32>, memref<17x24xf32>
  %gy = arith.constant 5 : index
  %gx = arith.constant 3 : index
  %t5 = gpu.launch async [%t4] blocks(%bx, %by, %bz) in (%sgx = %gx, %sgy = %gy, %sgz = %c1)
             threads(%tx, %ty, %tz) in (%sbx = %c8, %sby = %c8, %sbz = %c1) {
    %i0 = arith.muli %by, %c8 : index
    %i = arith.addi %i0, %ty : index
    %j0 = arith.muli %bx, %c8 : index
    %j = arith.addi %j0, %tx : index
    %sum = scf.for %p = %c0 to %k step %c1 iter_args(%s = %zero) -> f32 {
      %x = memref.load %da[%i, %p] : memref<40x17xf32>
      %y = memref.load %db[%p, %j] : memref<17x24xf32>
      %xy = arith.mulf %x, %y : f32
      %t = arith.addf %s, %xy : f32
      scf.yield %t : f32
    }
    memref.store %sum, %dc[%i, %j] : memref<40x24xf32>
    gpu.terminator
  }
  %t6 = gpu.memcpy async [%t5] %c, %dc : memref<40x24xf32>, memref<40x24xf32>
  %t7 = gpu.dealloc async [%t6] %da : memref<40x17xf32>
  %t8 = gpu.dealloc async [%t7] %db : memref<17x24xf32>
  %t9 = gpu.dealloc async [%t8] %dc : memref<40x24xf32>
  gpu.wait [%t9]

  // How many elements are wrong, and how many are not 0.
  %counts = memref.alloc() : memref<2xi32>
  %i0 = arith.constant 0 : i32
  %i1 = arith.constant 1 : i32
  memref.store %i0, %counts[%c0] : memref<2xi32>
  memref.store %i0, %counts[%c1] : memref<2xi32>
  scf.for %i = %c0 to %m step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      %sum = scf.for %p = %c0 to %k step %c1 iter_args(%s = %zero) -> f32 {
        %x = memref.load %a[%i, %p] : memref<40x17xf32>
        %y = memref.load %b[%p, %j] : memref<17x24xf32>
        %xy = arith.mulf %x, %y : f32
        %t = arith.addf %s, %xy : f32
        scf.yield %t : f32
      }
      %got = memref.load %c[%i, %j] : memref<40x24xf32>
      %is_wrong = arith.cmpf une, %got, %sum : f32
      %is_set = arith.cmpf une, %got, %zero : f32
      %wrong = arith.extui %is_wrong : i1 to i32
      %set = arith.extui %is_set : i1 to i32
      %w = memref.load %counts[%c0] : memref<2xi32>
      %w2 = arith.addi %w, %wrong : i32
      memref.store %w2, %counts[%c0] : memref<2xi32>
      %z = memref.load %counts[%c1] : memref<2xi32>
      %z2 = arith.addi %z, %set : i32
      memref.store %z2, %counts[%c1] : memref<2xi32>
    }
  }
  %u = memref.cast %counts : memref<2xi32> to memref<*xi32>
  // EXPECT: [0,  960]
  call @printMemrefI32(%u) : (memref<*xi32>) -> ()
  return
}

// (3 i + 5 j) mod 7 - 3
func.func @value(%i: index, %j: index) -> f32 {
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index
  %c7 = arith.constant 7 : index
  %x = arith.muli %i, %c3 : index
  %y = arith.muli %j, %c5 : index
  %s = arith.addi %x, %y : index
  %r = arith.remui %s, %c7 : index
  %n = arith.subi %r, %c3 : index
  %integer = arith.index_cast %n : index to i32
  %f = arith.sitofp %integer : i32 to f32
  return %f : f32
}
