"""Measures how long commands take from their start to the first byte that they print.

    startup.py INWARD    prints a table: the command `inward`, and Python and printf beside it
"""

import statistics
import subprocess
import sys
import time

STARTS = 21


def first_byte(command):
    """Returns the milliseconds until the first byte."""
    start = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, bufsize=0) as process:
        byte = process.stdout.read(1)
        elapsed = time.perf_counter() - start
        process.stdout.read()
    if not byte:
        raise SystemExit(f"{command} printed nothing.")
    return 1_000 * elapsed


def main(arguments):
    if len(arguments) != 1:
        raise SystemExit(__doc__)
    rows = [
        ("`inward --help`", [arguments[0], "--help"], "15"),
        ("`inward --open users`, from the sample", [arguments[0], "--open", "users"], "15"),
        ("`python3 -c 'print(1)'`", [sys.executable, "-c", "print(1)"], ""),
        ("`/usr/bin/printf 1`", ["/usr/bin/printf", "1"], ""),
    ]
    times = {name: [] for name, _, _ in rows}
    for _ in range(STARTS):
        for name, command, _ in rows:
            times[name].append(first_byte(command))
    print("| command | ms | lowest | highest | at most |")
    print("|---|---|---|---|---|")
    for name, _, limit in rows:
        figures = [statistics.median(times[name]), min(times[name]), max(times[name])]
        print(f"| {name} | " + " | ".join(f"{figure:.1f}" for figure in figures) + f" | {limit} |")


main(sys.argv[1:])
