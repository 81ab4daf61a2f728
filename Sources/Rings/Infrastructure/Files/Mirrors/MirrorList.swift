import Foundation
import InwardFileStores
import InwardRecordDirectories
import InwardRepositories
import UseCases

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The list of a mirror's files. On disk, each file is a line of JSON, so that files can be appended to the list.
struct MirrorList {
    private struct Line: Codable {
        let fileName: String
        let copy: MirroredCopy
    }

    /// The maximum size of the list on disk. A larger file is not the list of a mirror, and reading it could exhaust memory.
    private static let maximumByteCount = 256 * 1_024 * 1_024

    /// The record of each copied file, by file name.
    private(set) var copies: [String: MirroredCopy] = [:]

    /// Creates an empty list.
    init() {}

    /// Reads the list from a file of a directory; `nil` if the file does not exist. Incomplete lines are skipped.
    init?(in directory: DirectoryHandle, _ name: String) throws(RecordStoreError) {
        guard try directory.status(of: name) != nil else { return nil }
        let file = try directory.file(name, O_RDONLY)
        let size = try file.status().size
        guard size <= Self.maximumByteCount else {
            throw RecordStoreError(
                .unavailable,
                explanation:
                    "“\(directory.path(of: name))” is too large to be the file list of a mirror. Inspect it, and remove it."
            )
        }
        let text = try file.read(at: 0, count: size)
        for line in text.split(separator: UInt8(ascii: "\n")) {
            guard let line = try? JSONDecoder().decode(Line.self, from: Data(line)) else { continue }
            copies[line.fileName] = line.copy
        }
    }

    /// Returns the line for a file.
    static func line(_ fileName: String, _ copy: MirroredCopy) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Encoding strings and numbers cannot fail.
        let line = (try? encoder.encode(Line(fileName: fileName, copy: copy))) ?? Data()
        return [UInt8](line) + [UInt8(ascii: "\n")]
    }

    /// Adds or replaces the record of a file.
    mutating func set(_ copy: MirroredCopy, for fileName: String) {
        copies[fileName] = copy
    }

    /// The whole list, sorted by file name.
    var bytes: [UInt8] {
        copies.sorted { $0.key < $1.key }.flatMap { Self.line($0.key, $0.value) }
    }
}
