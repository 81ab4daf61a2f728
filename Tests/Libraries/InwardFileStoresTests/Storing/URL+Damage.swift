import Foundation
import Testing

extension URL {
    /// Changes one byte of a file, at the only place where the given bytes occur.
    func changeByte(of bytes: [UInt8]) throws {
        let contents = try Data(contentsOf: self)
        let range = try #require(contents.firstRange(of: Data(bytes)))
        let file = try FileHandle(forWritingTo: self)
        try file.seek(toOffset: UInt64(range.lowerBound))
        try file.write(contentsOf: Data([contents[range.lowerBound] ^ 1]))
        try file.close()
    }
}
