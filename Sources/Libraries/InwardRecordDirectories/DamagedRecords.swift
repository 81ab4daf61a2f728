package import Foundation
package import InwardRepositories

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The directory that keeps damaged data for inspection. When it is full, the oldest files are removed.
package struct DamagedRecords: Sendable {
    /// The maximum number of files.
    package static let countLimit = 64
    /// The maximum size of each file, in bytes.
    package static let byteLimit = 256 * 1_024

    private let place: RecordDirectory

    /// Creates the collection in the directory `damaged` of a store.
    package init(directory: RecordDirectory) {
        place = RecordDirectory(
            url: directory.url.appending(path: RecordDirectory.damaged, directoryHint: .isDirectory),
            faults: directory.faults
        )
    }

    /// Writes bytes, up to the size limit, to a new file. Returns the file's path, or `nil` if it could not be written.
    ///
    /// The store does not need the damaged data, so failures are ignored.
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

    /// Keeps the current log by linking to it, because the disk may be able to read its unreadable sectors later. Up to two
    /// logs are kept.
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
            // Without support for links, the log is lost, but `add` has kept the readable bytes of its damaged parts.
        }
    }

    /// Returns an unused path to move a whole database to. Up to two databases are kept.
    package func placeForDatabase() throws(RecordStoreError) -> URL {
        let databases = RecordDirectory(
            url: place.url.appending(path: "databases", directoryHint: .isDirectory),
            faults: place.faults
        )
        return databases.url.appending(path: try Self.makeRoom(in: databases, count: 2))
    }

    /// Removes the files beyond the limit, and returns the next name, which is the next number.
    private static func makeRoom(in place: RecordDirectory, count: Int) throws(RecordStoreError) -> String {
        try place.make()
        let numbers = place.names().compactMap { Int($0) }.sorted()
        for number in numbers.dropLast(count - 1) {
            // If the file cannot be removed, it only takes up space.
            try? FileManager.default.removeItem(at: place.url.appending(path: String(number)))
        }
        // If another program's file has the largest possible number, that number is returned, and creating the file fails.
        return String(numbers.last.map { $0 < .max ? $0 + 1 : $0 } ?? 1)
    }
}
