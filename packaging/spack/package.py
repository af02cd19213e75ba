# A recipe for Spack: this folder, as packages/blackjackbench in a repository of recipes; docs/installing.md says how.
import os

from spack.package import *


class Blackjackbench(CMakePackage):
    """What a machine effectively gives a C program, by timing alone: caches, memory, TLBs, arithmetic, registers, which
    cpus are near each other and which collide; each answer with an interval and a confidence, or the reason why there is
    none. No root, no hardware counters."""

    license("BSD-3-Clause")

    # The tarball is what `make dist` makes, from the folder where spack is called. It cannot hold its own checksum.
    manual_download = True
    version("0.2.0")

    variant("hwloc", default=True, description="What the operating system claims, beside the answers")
    variant("zlib", default=True, description="Compressed profiles")
    variant("mpi", default=False, description="blackjack-comm: what messages between ranks cost")

    depends_on("c", type="build")
    depends_on("cmake@3.18:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("jansson@2.9:")
    depends_on("hwloc@2:", when="+hwloc")
    depends_on("zlib-api", when="+zlib")
    depends_on("mpi", when="+mpi")
    depends_on("cmocka", type="test")
    depends_on("python@3:", type="test")

    def url_for_version(self, version):
        return f"file://{os.getcwd()}/blackjackbench-{version}.tar.gz"

    def cmake_args(self):
        return [
            # Comes with the release tarball; node would fetch packages.
            self.define("BJ_PAGE", False),
            self.define_from_variant("BJ_MPI", "mpi"),
            self.define("BUILD_TESTING", self.run_tests),
            self.define_from_variant("BJ_HWLOC", "hwloc"),
            self.define_from_variant("BJ_ZLIB", "zlib"),
        ]

    def check(self):
        with working_dir(self.build_directory):
            ctest("-L", "^(unit|lib)$", "-E", "^lib[.]speed$", "--output-on-failure")

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def check_install(self):
        blackjack = Executable(self.prefix.bin.blackjack)
        blackjack("run", "clock", "--effort", "quick", "-q", "-o", "clock.json")
        blackjack("get", "clock.json", "cpu.clock_ghz", "status")
