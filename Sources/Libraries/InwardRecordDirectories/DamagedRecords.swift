package import Foundation
package import InwardRepositories

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Keeps damaged parts for inspection. The oldest are removed first.
package struct DamagedRecords: Sendable {
    /// How many files there are at the most.
    package static let countLimit = 64
    /// How many bytes each has at the most.
    package static let byteLimit = 256 * 1_024

    private let place: RecordDirectory

    /// Names the directory `damaged` of a store.
    package init(directory: RecordDirectory) {
        place = RecordDirectory(
            url: directory.url.appending(path: RecordDirectory.damaged, directoryHint: .isDirectory),
            faults: directory.faults
        )
    }

    /// Puts bytes into a file of their own, or as many as there may be; gives its path, or `nil` if it could not be written.
    ///
    /// The store does not need what is damaged, so failures here are ignored.
    package func add(_ bytes: [UInt8]) -> String? {
        do throws(RecordStoreError) {
            let name = try Self.makeRoom(in: place, count: Self.countLimit)
            let file = try place.open(name, O_WRONLY | O_CREAT | O_EXCL)
            try file.write(Array(bytes.prefix(Self.byteLimit)), at: 0)
            return place.path(of: name)
        } catch {
            return nil
        }
    }

    /// Keeps a log that the disk cannot read everywhere when another takes its place, for it may be able to later. Two of them
    /// are kept.
    package func keepLog() {
        do throws(RecordStoreError) {
            let logs = RecordDirectory(
                url: place.url.appending(path: "logs", directoryHint: .isDirectory),
                faults: place.faults
            )
            let name = try Self.makeRoom(in: logs, count: 2)
            let store = RecordDirectory(url: place.url.deletingLastPathComponent(), faults: place.faults)
            try store.link(RecordDirectory.log, to: logs.path(of: name))
        } catch {
            // A file system without links keeps the bytes that can be read, in a file of their own.
        }
    }

    /// Returns an unused path to move a whole database to. Two databases are kept.
    package func placeForDatabase() throws(RecordStoreError) -> URL {
        let databases = RecordDirectory(
            url: place.url.appending(path: "databases", directoryHint: .isDirectory),
            faults: place.faults
        )
        return databases.url.appending(path: try Self.makeRoom(in: databases, count: 2))
    }

    /// Removes what there are too many of; gives the name of the next, which is the next number.
    private static func makeRoom(in place: RecordDirectory, count: Int) throws(RecordStoreError) -> String {
        try place.make()
        let numbers = place.names().compactMap { Int($0) }.sorted()
        for number in numbers.dropLast(count - 1) {
            // What stays takes room and does no harm.
            try? FileManager.default.removeItem(at: place.url.appending(path: String(number)))
        }
        // A foreign name without a next number is sorted among the others.
        return String(numbers.last.map { $0 < .max ? $0 + 1 : $0 } ?? 1)
    }
}
