import Foundation

/// How much memory the process has, in MiB; `nil` where that is not told.
func residentMemory() -> Double? {
    guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else { return nil }
    let numbers = text.split(separator: " ")
    guard numbers.count > 1, let pages = Double(numbers[1]) else { return nil }
    return pages * Double(sysconf(Int32(_SC_PAGESIZE))) / 1_048_576
}
