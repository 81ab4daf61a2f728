/// What a chunk of a PNG holds, by the four letters of its name.
struct PNGChunkType: RawRepresentable, Hashable, CustomStringConvertible {
    let rawValue: UInt32

    static let header = PNGChunkType(rawValue: 0x4948_4452)
    static let palette = PNGChunkType(rawValue: 0x504C_5445)
    static let transparency = PNGChunkType(rawValue: 0x7452_4E53)
    static let exif = PNGChunkType(rawValue: 0x6558_4966)
    static let data = PNGChunkType(rawValue: 0x4944_4154)
    static let end = PNGChunkType(rawValue: 0x4945_4E44)

    /// The four letters, the first one highest.
    private var letters: [UInt8] { [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: rawValue >> $0) } }

    /// Whether it is made of nothing but letters, as ISO/IEC 15948, section 5.4, has it.
    var isName: Bool { letters.allSatisfy { (0x41...0x5A).contains($0 & 0xDF) } }

    /// Whether a picture cannot be shown by who does not know it: its first letter is a capital one.
    var isCritical: Bool { rawValue & 0x2000_0000 == 0 }

    /// The name, if it is one.
    var description: String { isName ? String(decoding: letters, as: UTF8.self) : "a chunk without a name" }
}
