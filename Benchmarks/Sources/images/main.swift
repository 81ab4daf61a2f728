import Foundation

#if canImport(Glibc)
import Glibc
#endif

/// Does one thing to an image for a while, and prints the nanoseconds that a processor was busy with it each time, and the most
/// memory that the process ever took, in KiB.
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
    // The sum is printed so that nothing of the work can be left out.
    print("\(durations.joined(separator: " "))\n\(usage.ru_maxrss)\n\(sum)")
}

func processorTime() -> Int {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return time.tv_sec * 1_000_000_000 + time.tv_nsec
}

let arguments = CommandLine.arguments
guard arguments.count == 4, let task = ImageTask(rawValue: arguments[1]), let times = Int(arguments[3]) else {
    print("usage: images \(ImageTask.allCases.map(\.rawValue).joined(separator: "|")) DIRECTORY TIMES")
    exit(2)
}
try measure(task, in: URL(filePath: arguments[2], directoryHint: .isDirectory), times: times)
