import Foundation

/// How much memory the process has, in MiB; `nil` where that is not told, or says nothing about the program.
public func residentMemory() -> Double? {
    guard !hasThreadSanitizer, let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else {
        return nil
    }
    let numbers = text.split(separator: " ")
    guard numbers.count > 1, let pages = Double(numbers[1]) else { return nil }
    return pages * Double(sysconf(Int32(_SC_PAGESIZE))) / 1_048_576
}

/// Whether the thread sanitizer is in the program, whose record of the memory grows as long as it runs.
private let hasThreadSanitizer = dlsym(dlopen(nil, RTLD_NOW), "__tsan_init") != nil
