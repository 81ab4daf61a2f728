import Foundation

/// Returns the resident memory of the process in MiB, or `nil` if it is unknown or meaningless.
public func residentMemory() -> Double? {
    guard !hasThreadSanitizer, let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else {
        return nil
    }
    let numbers = text.split(separator: " ")
    guard numbers.count > 1, let pages = Double(numbers[1]) else { return nil }
    return pages * Double(sysconf(Int32(_SC_PAGESIZE))) / 1_048_576
}

/// Whether the process runs under the thread sanitizer, whose shadow memory grows with the run.
private let hasThreadSanitizer = dlsym(dlopen(nil, RTLD_NOW), "__tsan_init") != nil
