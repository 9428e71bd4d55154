// What OpenCL's work-item functions say, written by every work-item: 24 words each, at the
// work-item's place in the grid (x fastest). Versions 4 and 5 of the code object keep these facts
// in different places (dispatch packet and three hidden offsets; hidden arguments).
kernel void shape(global uint* out) {
  const size_t place = ((get_global_id(2) - get_global_offset(2)) * get_global_size(1) +
                        (get_global_id(1) - get_global_offset(1))) *
                           get_global_size(0) +
                       (get_global_id(0) - get_global_offset(0));
  global uint* o = out + place * 24;
  for (uint d = 0; d < 3; ++d) {
    o[d] = get_global_id(d);
    o[3 + d] = get_local_id(d);
    o[6 + d] = get_group_id(d);
    o[9 + d] = get_global_size(d);
    o[12 + d] = get_local_size(d);
    o[15 + d] = get_enqueued_local_size(d);
    o[18 + d] = get_num_groups(d);
  }
  o[21] = get_work_dim();
  o[22] = get_global_linear_id();
  o[23] = get_local_linear_id();
}

// out[place] = place + base, for a grid of up to three dimensions that need not be whole groups.
kernel void fill_ids(global uint* out, uint base) {
  const uint place =
      (get_global_id(2) * get_global_size(1) + get_global_id(1)) * get_global_size(0) +
      get_global_id(0);
  out[place] = place + base;
}
