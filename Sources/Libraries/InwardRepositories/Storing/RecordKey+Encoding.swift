extension RecordKey {
    /// The encoded key. The encoding preserves the order of keys, and the encoding of a parent key is a prefix of its descendants'
    /// encodings.
    ///
    /// Each byte of a component is incremented by one, which cannot overflow because UTF-8 does not use 0xFF. A 0 ends the
    /// component.
    package var encoded: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(components.reduce(0) { $0 + $1.utf8.count + 1 })
        for component in components {
            for byte in component.utf8 { bytes.append(byte &+ 1) }
            bytes.append(0)
        }
        return bytes
    }

    /// Decodes a key, or returns `nil` if the bytes are not an encoded key.
    package init?(encoded bytes: [UInt8]) {
        var components: [String] = []
        var start = 0
        while let end = bytes[start...].firstIndex(of: 0) {
            guard
                let component = String(validating: bytes[start..<end].lazy.map { $0 &- 1 }, as: UTF8.self)
            else {
                return nil
            }
            components.append(component)
            start = end + 1
        }
        guard start == bytes.count else { return nil }
        self.init(components)
    }
}
