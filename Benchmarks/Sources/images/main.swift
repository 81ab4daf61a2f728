import Foundation

#if canImport(Glibc)
import Glibc
#endif

/// Repeats one image operation for a while. Prints the processor nanoseconds per operation, and the peak memory of the process
/// in KiB.
func measure(_ task: ImageTask, in directory: URL, times: Int) throws {
    let bytes = [UInt8](try Data(contentsOf: directory.appending(path: task.file)))
    let work = try task.work(on: bytes)
    var sum = try work()
    var durations: [String] = []
    for _ in 0..<times {
        let start = processorTime()
        sum &+= try work()
        durations.append(String(processorTime() - start))
    }
    var usage = rusage()
    #if canImport(Glibc)
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    #else
    getrusage(RUSAGE_SELF, &usage)
    #endif
    // The sum is printed so that the compiler cannot omit any of the work.
    print("\(durations.joined(separator: " "))\n\(usage.ru_maxrss)\n\(sum)")
}

func processorTime() -> Int {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return time.tv_sec * 1_000_000_000 + time.tv_nsec
}

let arguments = CommandLine.arguments
if arguments.count == 4, arguments[1] == "two-cores", let rounds = Int(arguments[3]) {
    let file = URL(filePath: arguments[2], directoryHint: .isDirectory).appending(path: "6-megapixels.jpg")
    try await TwoCores(photo: [UInt8](try Data(contentsOf: file))).run(rounds: rounds)
    exit(0)
}
guard arguments.count == 4, let task = ImageTask(rawValue: arguments[1]), let times = Int(arguments[3]) else {
    print("usage: images \(ImageTask.allCases.map(\.rawValue).joined(separator: "|"))|two-cores DIRECTORY TIMES")
    exit(2)
}
try measure(task, in: URL(filePath: arguments[2], directoryHint: .isDirectory), times: times)
