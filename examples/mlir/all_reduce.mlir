// Sums and largest elements of rows: an all-reduce within the work-group of each row.
func.func private @printMemrefI32(memref<*xi32>) attributes {llvm.emit_c_interface}

func.func @main() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = arith.constant 3 : index
  %items = arith.constant 128 : index
  %data = memref.alloc() : memref<3x128xi32>
  %sums = memref.alloc() : memref<3xi32>
  %largest = memref.alloc() : memref<3xi32>
  // data[r][i] = (r + 1) i - 100
  %offset = arith.constant 100 : i32
  scf.for %r = %c0 to %rows step %c1 {
    scf.for %i = %c0 to %items step %c1 {
      %factor = arith.addi %r, %c1 : index
      %product = arith.muli %factor, %i : index
      %x = arith.index_cast %product : index to i32
      %y = arith.subi %x, %offset : i32
      memref.store %y, %data[%r, %i] : memref<3x128xi32>
    }
  }
  %udata = memref.cast %data : memref<3x128xi32> to memref<*xi32>
  %usums = memref.cast %sums : memref<3xi32> to memref<*xi32>
  %ulargest = memref.cast %largest : memref<3xi32> to memref<*xi32>
  gpu.host_register %udata : memref<*xi32>
  gpu.host_register %usums : memref<*xi32>
  gpu.host_register %ulargest : memref<*xi32>

  gpu.launch blocks(%bx, %by, %bz) in (%gx = %rows, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %items, %sy = %c1, %sz = %c1) {
    %x = memref.load %data[%bx, %tx] : memref<3x128xi32>
    %sum = gpu.all_reduce add %x uniform {} : (i32) -> (i32)
    %most = gpu.all_reduce %x uniform {
    ^bb(%left : i32, %right : i32):
      %greater = arith.maxsi %left, %right : i32
      "gpu.yield"(%greater) : (i32) -> ()
    } : (i32) -> (i32)
    // From the last work-item, which a sum that only reached the first one would miss.
    %last = arith.constant 127 : index
    %is_last = arith.cmpi eq, %tx, %last : index
    scf.if %is_last {
      memref.store %sum, %sums[%bx] : memref<3xi32>
      memref.store %most, %largest[%bx] : memref<3xi32>
    }
    gpu.terminator
  }
  // EXPECT: [-4672,  3456,  11584]
  call @printMemrefI32(%usums) : (memref<*xi32>) -> ()
  // EXPECT: [27,  154,  281]
  call @printMemrefI32(%ulargest) : (memref<*xi32>) -> ()
  return
}
