"""Measures what the compiler spends on each library, in cold builds, and on type checking of each file.

    compile.py    prints a table of libraries, and the files that take longest (15 min on two cores)
"""

import collections
import json
import pathlib
import re
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIMIT = 0.5
LIBRARIES = sorted(
    directory.name
    for layer in ("Rings", "Libraries", "Testing")
    for directory in (ROOT / "Sources" / layer).iterdir()
)


def build(directory, *options):
    """Builds everything cold, and yields the name of each compiler job with its statistics."""
    statistics = directory / "statistics"
    statistics.mkdir()
    command = ["swift", "build", "--package-path", ROOT, "--scratch-path", directory / "build"]
    command += ["-Xswiftc", "-stats-output-dir", "-Xswiftc", statistics, *options]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    for file in statistics.glob("*-swift-frontend-*.json"):
        yield re.sub(r".*-swift-frontend-", "", file.name), json.loads(file.read_text())


def seconds_by_library(*options):
    """Returns the processor seconds that compiling each library takes."""
    sums = collections.Counter()
    with tempfile.TemporaryDirectory() as directory:
        for job, values in build(pathlib.Path(directory), *options):
            library = job.split("-")[0]
            for name, value in values.items():
                if name.startswith("time.swift-frontend.") and name.endswith((".user", ".sys")):
                    sums[library] += value
    return sums


def seconds_by_file():
    """Returns the processor seconds of type checking each file, compiled alone."""
    times = {}
    with tempfile.TemporaryDirectory() as directory:
        for job, values in build(pathlib.Path(directory), "-Xswiftc", "-disable-batch-mode"):
            library, file, *_ = job.split("-")
            if file.endswith(".swift"):
                times[f"{library}/{file}"] = values.get("time.swift.Type checking and Semantic analysis.user", 0)
    return times


def main():
    debug, release = seconds_by_library(), seconds_by_library("--configuration", "release")
    print("| library | debug, s | release, s |\n|---|---|---|")
    for library in sorted(LIBRARIES, key=lambda name: -release[name]):
        print(f"| `{library}` | {debug[library]:.1f} | {release[library]:.1f} |")
    files = sorted(seconds_by_file().items(), key=lambda item: -item[1])
    slow = [item for item in files if item[1] > LIMIT]
    print(f"\n{len(slow)} of {len(files)} files take longer than {1000 * LIMIT:.0f} ms to type-check. The longest:\n")
    for file, time in files[:5]:
        print(f"- `{file}`: {1000 * time:.0f} ms")


main()
