import InwardRepositories

extension RecordKey {
    /// The key in bytes that are in order as keys are, and begin with those of each key that this one is under.
    ///
    /// Each byte of a component is one more, which UTF-8 leaves room for, and 0 ends the component.
    package var encoded: [UInt8] {
        var bytes: [UInt8] = []
        for component in components {
            bytes.append(contentsOf: component.utf8.lazy.map { $0 &+ 1 })
            bytes.append(0)
        }
        return bytes
    }

    /// The key that bytes are of; `nil` if they are of none.
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
