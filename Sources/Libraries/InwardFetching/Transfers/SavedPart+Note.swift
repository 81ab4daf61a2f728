import InwardTransfers

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What a saver keeps beside a part, to know it again: the numbers as JSON, and their checksum on a line behind, because a number that
/// is damaged would have another run go on from the wrong place.
extension SavedPart {
    /// More bytes are nowhere, and could not be counted on from.
    private static let mostBytes = 1 << 60

    /// Reads a note; `nil` if it is none, or damaged.
    package init?(note: [UInt8]) {
        let lines = note.split(separator: UInt8(ascii: "\n"))
        guard lines.count == 2, String(decoding: lines[1], as: UTF8.self) == Self.sum(Array(lines[0])),
            let part = try? JSONDecoder().decode(Self.self, from: Data(lines[0])),
            // It may be a server's, which can say what it likes.
            (0...Self.mostBytes).contains(part.loadedByteCount), (0...Self.mostBytes).contains(part.savedByteCount)
        else { return nil }
        self = part
    }

    /// The part as a note.
    package var note: [UInt8] {
        // Texts and numbers can be written.
        let numbers = [UInt8]((try? JSONEncoder().encode(self)) ?? Data())
        return numbers + Array("\n\(Self.sum(numbers))\n".utf8)
    }

    private static func sum(_ bytes: [UInt8]) -> String {
        String(Checksum(of: bytes.span).value, radix: 16)
    }
}
