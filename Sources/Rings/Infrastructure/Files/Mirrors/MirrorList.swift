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

/// What belongs to a mirror: the names of its files, and what each is a copy of. A line for each, so that one can be added.
struct MirrorList {
    private struct Line: Codable {
        let fileName: String
        let copy: MirroredCopy
    }

    /// More is not the list of any mirror, and would take up memory.
    private static let maximumByteCount = 256 * 1_024 * 1_024

    /// What the files are copies of, by their names.
    private(set) var copies: [String: MirroredCopy] = [:]

    /// A list of nothing.
    init() {}

    /// Reads the list in a file of a directory; `nil` if the file does not exist. Incomplete lines are left out.
    init?(in directory: DirectoryHandle, _ name: String) throws(RecordStoreError) {
        guard try directory.status(of: name) != nil else { return nil }
        let file = try directory.file(name, O_RDONLY)
        let size = try file.status().size
        guard size <= Self.maximumByteCount else {
            throw RecordStoreError(
                .unavailable,
                explanation:
                    "“\(directory.path(of: name))” is too large for a list of a mirror. Look at it, and remove it."
            )
        }
        let text = try file.read(at: 0, count: size)
        for line in text.split(separator: UInt8(ascii: "\n")) {
            guard let line = try? JSONDecoder().decode(Line.self, from: Data(line)) else { continue }
            copies[line.fileName] = line.copy
        }
    }

    /// The line that says what a file is a copy of.
    static func line(_ fileName: String, _ copy: MirroredCopy) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Text and numbers can be written.
        let line = (try? encoder.encode(Line(fileName: fileName, copy: copy))) ?? Data()
        return [UInt8](line) + [UInt8(ascii: "\n")]
    }

    /// Says what a file is a copy of.
    mutating func set(_ copy: MirroredCopy, for fileName: String) {
        copies[fileName] = copy
    }

    /// The whole list, in the order of the names.
    var bytes: [UInt8] {
        copies.sorted { $0.key < $1.key }.flatMap { Self.line($0.key, $0.value) }
    }
}
