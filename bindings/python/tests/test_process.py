"""The package halyard and the ends and children of processes. HALYARD_DEVICE and HALYARD_VGPU name the
device. Each test runs programs of its own."""

import os
import subprocess
import sys
import textwrap
import unittest

DRIVER = os.environ["HALYARD_DEVICE"]
PROFILE = os.environ["HALYARD_VGPU"]

START = f"""
import multiprocessing, os, sys, threading, time
import numpy as np
import halyard
device = halyard.open({DRIVER!r}, vgpu={PROFILE!r})
"""


def run(program, timeout=120):
    """A program that has opened the device."""
    command = [sys.executable, "-W", "ignore", "-c", START + textwrap.dedent(program)]
    return subprocess.run(command, capture_output=True, text=True, timeout=timeout)


class Base(unittest.TestCase):
    def assertEnds(self, program, output):
        ended = run(program)
        self.assertEqual((ended.returncode, ended.stdout, ended.stderr), (0, output, ""))


class Ends(Base):
    """Of the interpreter, while other threads are in Halyard."""

    def test_a_thread_waits(self):
        self.assertEnds(
            """
            gate = device.semaphore()
            for _ in range(4):
                threading.Thread(target=gate.wait, args=(1,), daemon=True).start()
            time.sleep(0.1)
            print("end")
            """,
            "end\n",
        )

    def test_a_thread_comes_back_from_a_wait_at_the_end(self):
        # Other work of the interpreter's end is under way when the wait returns.
        self.assertEnds(
            """
            class Late:
                def __del__(self):
                    gate.signal(1)
                    time.sleep(0.2)
            gate = device.semaphore()
            sys.modules["late"] = Late()
            threading.Thread(target=gate.wait, args=(1,), daemon=True).start()
            time.sleep(0.1)
            print("end")
            """,
            "end\n",
        )

    def test_threads_submit(self):
        self.assertEnds(
            """
            array = device.zeros(1 << 16, np.uint32)
            def submit(queue):
                while True:
                    array.fill(7, queue=queue)
                    array.download(queue=queue)
            for _ in range(3):
                threading.Thread(target=submit, args=(device.queue(),), daemon=True).start()
            time.sleep(0.3)
            print("end")
            """,
            "end\n",
        )

    def test_a_host_function_sleeps(self):
        self.assertEnds(
            """
            begun = threading.Event()
            def function():
                begun.set()
                time.sleep(1000)
            device.queue().call(function)
            begun.wait()
            print("end")
            """,
            "end\n",
        )

    def test_a_host_function_computes(self):
        self.assertEnds(
            """
            begun = threading.Event()
            def function():
                begun.set()
                while True:
                    pass
            device.queue().call(function)
            begun.wait()
            print("end")
            """,
            "end\n",
        )

    def test_a_host_function_waits_for_another_queue(self):
        self.assertEnds(
            """
            begun = threading.Event()
            gate = device.semaphore()
            def function():
                begun.set()
                gate.wait(1)
            device.queue().call(function)
            begun.wait()
            print("end")
            """,
            "end\n",
        )

    def test_host_functions_are_queued(self):
        # None of them begins once the interpreter ends; work that waits for them fails.
        self.assertEnds(
            """
            queue = device.queue()
            gate = device.semaphore()
            queue.after(gate.at(1))
            last = [queue.call(lambda: print("called", flush=True)) for _ in range(10)][-1]
            import atexit
            def ends():
                gate.signal(1)
                try:
                    last.wait(60)
                except halyard.Error as error:
                    print(error.code.name, "Python has ended" in error.message)
            import halyard._core
            atexit.unregister(halyard._core.end)
            atexit.register(ends)
            atexit.register(halyard._core.end)
            """,
            "CANCELLED True\n",
        )

    def test_objects_of_every_kind_are_left(self):
        self.assertEnds(
            """
            queue, pool = device.queue(), device.pool()
            array = queue.empty(1024, pool)
            source = np.zeros(1024, np.float32)
            shared = device.from_dlpack(source)
            future = shared.fill(1, queue=queue)
            view = np.from_dlpack(device.empty(16, memory="host"))
            gate = device.semaphore()
            held = queue.after(gate.at(1))
            print("end")
            """,
            "end\n",
        )


class Forks(Base):
    SPAWN = 'multiprocessing.get_context("spawn")'

    def test_a_child_of_fork_is_told_to_spawn(self):
        self.assertEnds(
            """
            array, queue, gate = device.zeros(16), device.queue(), device.semaphore()
            future = queue.future()
            def fails(work, *arguments):
                try:
                    work(*arguments)
                except halyard.Error as error:
                    if error.code == halyard.Code.FAILED_PRECONDITION and "child of fork()" in error.message:
                        assert 'multiprocessing.get_context("spawn")' in error.message
                        return
                    print(work, error)
                else:
                    print(work, "no error")
            child = os.fork()
            if child == 0:
                for work, *arguments in (
                    (device.empty, 16), (device.queue,), (device.semaphore,), (device.pool,), (device.fault,),
                    (array.fill, 1), (array.download,), (array.fill, 1, queue), (queue.wait,), (queue.abandon,),
                    (queue.call, print), (gate.signal, 1), (gate.wait, 1), (gate.fail, "x"), (future.wait,),
                    (halyard.open, device.uri), (device.load, b"x"), (device.read_clocks,), (gate.export,),
                ):
                    fails(work, *arguments)
                print("child", flush=True)
                sys.exit(3)
            status = os.waitpid(child, 0)[1]
            print(os.waitstatus_to_exitcode(status))
            gate.signal(1)
            array.fill(5).wait()
            print(array.download()[3])
            """,
            "child\n3\n5.0\n",
        )

    def test_a_fork_while_other_threads_submit(self):
        self.assertEnds(
            """
            array = device.zeros(1 << 16, np.uint32)
            queue = device.queue()
            def submit():
                while True:
                    array.fill(7, queue=queue).wait()
            for _ in range(2):
                threading.Thread(target=submit, daemon=True).start()
            for _ in range(10):
                child = os.fork()
                if child == 0:
                    try:
                        array.fill(7, queue=queue)
                    except halyard.Error as error:
                        sys.exit(0 if "spawn" in error.message else 2)
                    sys.exit(3)
                assert os.waitpid(child, 0)[1] == 0
            print("end")
            """,
            "end\n",
        )

    def test_a_child_that_runs_a_program(self):
        self.assertEnds(
            """
            import subprocess
            array = device.zeros(16)
            words = f"import halyard; print(halyard.open({device.uri!r}, vgpu=sys.argv[1]).zeros(4).download()[0])"
            for close_fds in (True, False):
                program = [sys.executable, "-c", "import sys; " + words, sys.argv[1] if sys.argv[1:] else PROFILE]
                print(subprocess.run(program, close_fds=close_fds, stdout=subprocess.PIPE, text=True).stdout, end="")
            child = os.fork()
            if child == 0:
                os.execv(sys.executable, program)
            os.waitpid(child, 0)
            print(array.download()[0])
            """.replace("sys.argv[1] if sys.argv[1:] else PROFILE", repr(PROFILE)),
            "0.0\n0.0\n0.0\n0.0\n",
        )

    def test_a_child_of_a_process_that_has_used_no_driver(self):
        program = f"""
import os, halyard
halyard.load_virtual_gpu({PROFILE!r})
child = os.fork()
if child == 0:
    device = halyard.open({DRIVER!r})
    print(device.zeros(4).download()[0], flush=True)
    os._exit(0)
print(os.waitpid(child, 0)[1])
print(halyard.open({DRIVER!r}).zeros(4).download()[1])
"""
        ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
        self.assertEqual((ended.returncode, ended.stdout, ended.stderr), (0, "0.0\n0\n0.0\n", ""))


if __name__ == "__main__":
    unittest.main(verbosity=1)
