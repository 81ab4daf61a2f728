import Foundation
import InterfaceAdapters
import UseCases

/// What belongs to a mirror: the names of its files, and what each is a copy of. A line for each, so that one can be added.
struct MirrorList {
    private struct Line: Codable {
        let fileName: String
        let copy: MirroredCopy
    }

    /// What the files are copies of, by their names.
    private(set) var copies: [String: MirroredCopy] = [:]

    /// A list of nothing.
    init() {}

    /// Reads the list in a file; `nil` if there is none. A line that is not whole is left out.
    init?(of file: URL) {
        guard let text = FileManager.default.contents(atPath: file.path(percentEncoded: false)) else { return nil }
        for line in text.split(separator: UInt8(ascii: "\n")) {
            guard let line = try? JSONDecoder().decode(Line.self, from: line) else { continue }
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
