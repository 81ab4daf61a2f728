/// The second bytes of markers (T.81 table B.1).
enum JPEGMarker {
    static let baselineFrame: UInt8 = 0xC0
    static let extendedFrame: UInt8 = 0xC1
    static let progressiveFrame: UInt8 = 0xC2
    static let huffmanTables: UInt8 = 0xC4
    static let extensions: UInt8 = 0xC8
    static let arithmeticConditioning: UInt8 = 0xCC
    static let firstRestart: UInt8 = 0xD0
    static let startOfImage: UInt8 = 0xD8
    static let endOfImage: UInt8 = 0xD9
    static let startOfScan: UInt8 = 0xDA
    static let quantizationTables: UInt8 = 0xDB
    static let numberOfLines: UInt8 = 0xDC
    static let restartInterval: UInt8 = 0xDD
    static let hierarchicalProgression: UInt8 = 0xDE
    static let jfif: UInt8 = 0xE0
    static let exif: UInt8 = 0xE1
    static let adobe: UInt8 = 0xEE
    static let losslessFrameLS: UInt8 = 0xF7

    /// Whether a marker stands alone, without a segment that says how long it is: RST, SOI, and TEM.
    static func isAlone(_ marker: UInt8) -> Bool {
        (firstRestart...startOfImage).contains(marker) || marker == 0x01
    }

    /// Whether a marker begins a frame, of any kind.
    static func beginsFrame(_ marker: UInt8) -> Bool {
        switch marker {
        case huffmanTables, extensions, arithmeticConditioning: false
        case 0xC0...0xCF, losslessFrameLS: true
        default: false
        }
    }

    /// What is not read here of a frame; `nil` if it can be.
    static func obstacle(to marker: UInt8) -> String? {
        switch marker {
        case baselineFrame, extendedFrame, progressiveFrame: nil
        case 0xC3: "is lossless"
        case losslessFrameLS: "is in JPEG-LS"
        case 0xC5...0xC7: "is hierarchical"
        case 0xC9, 0xCA: "has arithmetic codes"
        case 0xCB: "is lossless, with arithmetic codes"
        default: "is hierarchical, with arithmetic codes"
        }
    }
}
