// The operations of queues and of recordings, a row each. Whatever has something for every
// operation is made of these rows: the tables and base classes (objects.h), what passes operations
// on (forwarding.h), and the headers of drivers that have them all. Define one of these macros, and
// include this; it undefines them:
//
//   HALYARD_QUEUE_OPERATION(name, need, arguments, parameters…)   for each operation of a queue
//   HALYARD_COMMAND(name, need, arguments, parameters…)           for each that can be recorded
//
// `name` is the method of Queue or CommandBuffer and the entry of the table in driver.h; the method
// of a driver is do_`name`. `need` is REQUIRED or OPTIONAL, as in driver.h. `arguments` are the
// parameters' names, in parentheses; a queue's have a `sync` at their end.
//
// Not here are operations that return an object or have another name in the table (alloca_buffer,
// dealloca_buffer), and what is no operation (fault, abandon, finish, …).

#define HALYARD_AND_SYNC(...) (__VA_ARGS__ __VA_OPT__(, ) sync)
#ifdef HALYARD_QUEUE_OPERATION
#define HALYARD_RECORDABLE(name, need, arguments, ...)            \
  HALYARD_QUEUE_OPERATION(name, need, HALYARD_AND_SYNC arguments, \
                          __VA_ARGS__ __VA_OPT__(, ) const Sync& sync)
#define HALYARD_QUEUED HALYARD_RECORDABLE
#else
#define HALYARD_RECORDABLE HALYARD_COMMAND
#define HALYARD_QUEUED(...)
#endif

// clang-format off

HALYARD_RECORDABLE(fill, REQUIRED, (target, pattern, pattern_size),
                   const BufferRange& target, const void* pattern, uint32_t pattern_size)
HALYARD_RECORDABLE(update, REQUIRED, (target, source, size),
                   const BufferRange& target, const void* source, uint64_t size)
HALYARD_RECORDABLE(copy, REQUIRED, (source, target),
                   const BufferRange& source, const BufferRange& target)
// The pitches are given, and the ranges as long as they have to be.
HALYARD_RECORDABLE(copy_rectangle, OPTIONAL, (source, target, shape),
                   const BufferRange& source, const BufferRange& target, const RectangleCopy& shape)
HALYARD_RECORDABLE(dispatch, REQUIRED, (dispatch), const Dispatch& dispatch)
HALYARD_RECORDABLE(dispatch_indirect, OPTIONAL, (dispatch, group_counts),
                   const Dispatch& dispatch, const BufferRange& group_counts)
HALYARD_RECORDABLE(barrier, REQUIRED, ())
HALYARD_QUEUED(execute, OPTIONAL, (commands, bindings),
               CommandBuffer& commands, Span<const BufferRange> bindings)
HALYARD_QUEUED(read, OPTIONAL, (source, target), const FileRange& source, const BufferRange& target)
HALYARD_QUEUED(write, OPTIONAL, (source, target), const BufferRange& source, const FileRange& target)
HALYARD_QUEUED(host_call, OPTIONAL, (call), const HostCall& call)
// Of managed memory.
HALYARD_QUEUED(prefetch, OPTIONAL, (range, to), const BufferRange& range, PrefetchTarget to)

// clang-format on

#undef HALYARD_AND_SYNC
#undef HALYARD_RECORDABLE
#undef HALYARD_QUEUED
#undef HALYARD_QUEUE_OPERATION
#undef HALYARD_COMMAND
