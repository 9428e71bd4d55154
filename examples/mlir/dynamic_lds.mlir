// Reverses each group's part of a vector through LDS whose size the launch chooses.
func.func private @printMemrefI32(memref<*xi32>) attributes {llvm.emit_c_interface}

func.func @main() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %items = arith.constant 8 : index
  %last = arith.constant 7 : index
  %n = arith.constant 16 : index
  %bytes = arith.constant 32 : i32
  %data = memref.alloc() : memref<16xi32>
  scf.for %i = %c0 to %n step %c1 {
    %x = arith.index_cast %i : index to i32
    memref.store %x, %data[%i] : memref<16xi32>
  }
  %u = memref.cast %data : memref<16xi32> to memref<*xi32>
  gpu.host_register %u : memref<*xi32>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c2, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %items, %sy = %c1, %sz = %c1)
             dynamic_shared_memory_size %bytes {
    %lds = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    %view = memref.view %lds[%c0][] : memref<?xi8, #gpu.address_space<workgroup>>
                                   to memref<8xi32, #gpu.address_space<workgroup>>
    %first = arith.muli %bx, %items : index
    %i = arith.addi %first, %tx : index
    %x = memref.load %data[%i] : memref<16xi32>
    memref.store %x, %view[%tx] : memref<8xi32, #gpu.address_space<workgroup>>
    gpu.barrier
    %other = arith.subi %last, %tx : index
    %y = memref.load %view[%other] : memref<8xi32, #gpu.address_space<workgroup>>
    memref.store %y, %data[%i] : memref<16xi32>
    gpu.terminator
  }
  // EXPECT: [7,  6,  5,  4,  3,  2,  1,  0,  15,  14,  13,  12,  11,  10,  9,  8]
  call @printMemrefI32(%u) : (memref<*xi32>) -> ()
  return
}
