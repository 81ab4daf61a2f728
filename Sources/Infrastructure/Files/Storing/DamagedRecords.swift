import Foundation

/// Where damaged parts of logs are put, so that somebody can look at them. Those that came first go first.
struct DamagedRecords: Sendable {
    /// How many files there are at the most.
    static let countLimit = 64
    /// How many bytes each has at the most.
    static let byteLimit = 256 * 1_024

    let directory: RecordDirectory

    /// Puts bytes into a file of their own; gives its path, or `nil` if it could not be written.
    ///
    /// What is damaged is no use to the store, so that nothing depends on it.
    func add(_ bytes: [UInt8]) -> String? {
        let url = directory.url.appending(path: RecordDirectory.damaged, directoryHint: .isDirectory)
        let manager = FileManager.default
        try? manager.createDirectory(at: url, withIntermediateDirectories: false)
        let names = ((try? manager.contentsOfDirectory(atPath: url.path(percentEncoded: false))) ?? [])
        let numbers = names.compactMap { Int($0) }.sorted()
        for number in numbers.dropLast(Self.countLimit - 1) {
            try? manager.removeItem(at: url.appending(path: String(number)))
        }
        // A name of somebody's that is no next number has its place among the others.
        let next = numbers.last.map { $0 < .max ? $0 + 1 : $0 } ?? 1
        let file = url.appending(path: String(next))
        guard (try? Data(bytes.prefix(Self.byteLimit)).write(to: file)) != nil else { return nil }
        return file.path(percentEncoded: false)
    }
}
