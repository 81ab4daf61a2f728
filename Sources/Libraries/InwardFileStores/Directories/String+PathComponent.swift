extension String {
    /// Whether this is the name of one thing in a directory, and no way to anywhere else.
    package var isPathComponent: Bool {
        !["", ".", ".."].contains(self) && !utf8.contains { $0 == UInt8(ascii: "/") || $0 == 0 }
    }
}
