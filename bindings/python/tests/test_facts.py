"""Device.info against `halyard dump devices --json`: the same names, the same values, of each device of
HALYARD_DEVICE on HALYARD_VGPU. HALYARD_PROGRAM is the program halyard."""

import json
import os
import subprocess
import unittest

import halyard

DRIVER = os.environ["HALYARD_DEVICE"]
PROFILE = os.environ["HALYARD_VGPU"]


def dump():
    command = [os.environ["HALYARD_PROGRAM"], "dump", "devices", DRIVER, "--json", f"--vgpu={PROFILE}"]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


class Facts(unittest.TestCase):
    def test_of_each_device_are_those_of_the_dump(self):
        devices = dump()
        self.assertGreater(len(devices), 0)
        for expected in devices:
            with self.subTest(device=expected["uri"]):
                info = halyard.open(expected["uri"], vgpu=PROFILE).info
                # A dump is of single GPUs, and has the target's name of `list devices` beside it.
                self.assertEqual(info.pop("gpu_count"), 1)
                self.assertEqual(info.pop("target"), expected["gpu_target"])
                self.assertEqual(set(info) - set(expected), set())
                for name, value in info.items():
                    wanted = expected[name]
                    self.assertEqual(list(value) if isinstance(value, tuple) else value, wanted, name)

    def test_what_the_dump_has_beside_them(self):
        # What is not a fact of the device alone, or is asked for by calls of its own.
        beside = {"device", "uri", "plugin", "library", "library_path", "library_version", "heaps", "links"}
        expected = dump()[0]
        info = halyard.open(expected["uri"], vgpu=PROFILE).info
        self.assertEqual(set(expected) - set(info), beside)

    def test_of_drivers_are_those_of_the_dump(self):
        expected = dump()[0]
        halyard.open(expected["uri"], vgpu=PROFILE)
        (driver,) = [one for one in halyard.drivers() if one["name"] == DRIVER]
        self.assertEqual(os.path.realpath(driver["path"]), os.path.realpath(expected["plugin"]))
        self.assertEqual(driver["library_name"], expected["library"])
        self.assertEqual(driver["library_path"], expected["library_path"])
        self.assertEqual(driver["library_version"], expected["library_version"])


if __name__ == "__main__":
    unittest.main()
