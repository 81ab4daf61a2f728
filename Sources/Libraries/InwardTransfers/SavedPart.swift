/// The state of a transfer, from which another run can resume it.
///
/// ```swift
/// var draft = try await saver.openDraft()
/// if let part = draft.saved, part.canBeResumed {
///     print("The next run continues after \(part.loadedByteCount) bytes of \(part.source ?? "the source").")
/// }
/// await draft.leave()
/// ```
///
/// A saver stores it next to the saved bytes, and need not interpret it.
public struct SavedPart: Hashable, Codable, Sendable {
    /// The name of the source, or `nil` if it has no stable name.
    public var source: String?
    /// The validator of the source's version, or `nil` if it has none.
    public var validator: String?
    /// The names of the steps, or `nil` if the steps cannot be resumed.
    public var steps: [String]?
    /// The number of source bytes that went into this part.
    public var loadedByteCount: Int
    /// The number of saved bytes.
    public var savedByteCount: Int
    /// The value of the ``Checksum`` of the saved bytes.
    public var checksum: UInt64

    /// Creates the state of a transfer, by default without any bytes.
    public init(
        source: String?,
        validator: String?,
        steps: [String]?,
        loadedByteCount: Int = 0,
        savedByteCount: Int = 0,
        checksum: UInt64 = 0
    ) {
        self.source = source
        self.validator = validator
        self.steps = steps
        self.loadedByteCount = loadedByteCount
        self.savedByteCount = savedByteCount
        self.checksum = checksum
    }

    /// Whether a later run can resume from this part. It requires a source name, a validator, resumable steps and some bytes. A
    /// saver need not store a part that cannot be resumed.
    public var canBeResumed: Bool { source != nil && validator != nil && steps != nil && loadedByteCount > 0 }

    /// Adds the processed bytes of a chunk with `count` source bytes.
    mutating func add(_ bytes: [UInt8], madeOf count: Int) {
        var checksum = Checksum(value: checksum)
        checksum.update(with: bytes.span)
        self.checksum = checksum.value
        savedByteCount += bytes.count
        loadedByteCount += count
    }
}

/// An incremental CRC-64 checksum, with the polynomial of ECMA-182 in reflected form (CRC-64/XZ).
///
/// ```swift
/// var checksum = Checksum()
/// checksum.update(with: Array("Well ".utf8).span)
/// checksum.update(with: Array("said.".utf8).span)
/// print(checksum == Checksum(of: Array("Well said.".utf8).span))  // true
/// ```
///
/// It detects accidental corruption. It does not protect against deliberate manipulation.
public struct Checksum: Hashable, Sendable {
    /// Eight consecutive tables, one for each number of following bytes from 0 to 7. Each maps a byte to its effect on the
    /// register.
    private static let table: [UInt64] = {
        var table = [UInt64](repeating: 0, count: 8 * 256)
        for byte in 0..<256 {
            var register = UInt64(byte)
            for _ in 0..<8 {
                register = register & 1 == 0 ? register >> 1 : register >> 1 ^ 0xC96C_5795_D787_0F42
            }
            table[byte] = register
        }
        for index in 256..<table.count {
            let register = table[index - 256]
            table[index] = register >> 8 ^ table[Int(register & 0xFF)]
        }
        return table
    }()

    /// The checksum of all bytes so far, or 0 for no bytes. You can resume from it with `init(value:)`.
    public private(set) var value: UInt64

    /// Creates a checksum that continues from the value of earlier bytes, or from no bytes if `value` is 0.
    public init(value: UInt64 = 0) {
        self.value = value
    }

    /// Creates the checksum of bytes.
    public init(of bytes: Span<UInt8>) {
        value = 0
        update(with: bytes)
    }

    /// Adds bytes.
    ///
    /// - Complexity: O(n) in the number of bytes.
    public mutating func update(with bytes: Span<UInt8>) {
        let entries = Self.table
        let table = entries.span
        var register = ~value
        var index = 0
        // Slicing-by-8: each byte is looked up in the table for the number of bytes that follow it. The loop over the eight
        // bytes is unrolled by hand, because unoptimized builds take several times as long otherwise.
        while index <= bytes.count &- 8 {
            let low =
                UInt64(bytes[index]) | UInt64(bytes[index &+ 1]) &<< 8 | UInt64(bytes[index &+ 2]) &<< 16
                | UInt64(bytes[index &+ 3]) &<< 24
            let high =
                UInt64(bytes[index &+ 4]) | UInt64(bytes[index &+ 5]) &<< 8 | UInt64(bytes[index &+ 6]) &<< 16
                | UInt64(bytes[index &+ 7]) &<< 24
            let word = Int(truncatingIfNeeded: register ^ (low | high &<< 32))
            let first = table[0x700 | word & 0xFF] ^ table[0x600 | word &>> 8 & 0xFF]
            let second = table[0x500 | word &>> 16 & 0xFF] ^ table[0x400 | word &>> 24 & 0xFF]
            let third = table[0x300 | word &>> 32 & 0xFF] ^ table[0x200 | word &>> 40 & 0xFF]
            let fourth = table[0x100 | word &>> 48 & 0xFF] ^ table[word &>> 56 & 0xFF]
            register = first ^ second ^ third ^ fourth
            index &+= 8
        }
        while index < bytes.count {
            register = register >> 8 ^ table[Int(UInt8(truncatingIfNeeded: register) ^ bytes[index])]
            index &+= 1
        }
        value = ~register
    }
}
