package import Foundation

/// Where what is damaged is put, so that somebody can look at it. What came first goes first.
package struct DamagedRecords: Sendable {
    /// How many files there are at the most.
    static let countLimit = 64
    /// How many bytes each has at the most.
    static let byteLimit = 256 * 1_024

    private let url: URL

    /// Names the directory `damaged` of a store.
    package init(directory: RecordDirectory) {
        url = directory.url.appending(path: RecordDirectory.damaged, directoryHint: .isDirectory)
    }

    /// Puts bytes into a file of their own, or as many as there may be; gives its path, or `nil` if it could not be written.
    ///
    /// What is damaged is no use to the store, so that nothing depends on it.
    package func add(_ bytes: [UInt8]) -> String? {
        let file = Self.makeRoom(in: url, count: Self.countLimit)
        guard (try? Data(bytes.prefix(Self.byteLimit)).write(to: file)) != nil else { return nil }
        return file.path(percentEncoded: false)
    }

    /// Where a whole database is to be moved to, of which two are kept: a place of which there is nothing yet.
    package func placeForDatabase() -> URL {
        Self.makeRoom(in: url.appending(path: "databases", directoryHint: .isDirectory), count: 2)
    }

    /// Removes what there are too many of; gives the place of the next, whose name is the next number.
    private static func makeRoom(in url: URL, count: Int) -> URL {
        let manager = FileManager.default
        try? manager.createDirectory(at: url, withIntermediateDirectories: true)
        let names = ((try? manager.contentsOfDirectory(atPath: url.path(percentEncoded: false))) ?? [])
        let numbers = names.compactMap { Int($0) }.sorted()
        for number in numbers.dropLast(count - 1) {
            try? manager.removeItem(at: url.appending(path: String(number)))
        }
        // A name of somebody's that is no next number has its place among the others.
        let next = numbers.last.map { $0 < .max ? $0 + 1 : $0 } ?? 1
        return url.appending(path: String(next))
    }
}
