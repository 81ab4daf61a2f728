extension Post {
    /// The identity of a post, given by whoever keeps the posts, and greater for a later post.
    public struct ID: Hashable, Comparable, Sendable, CustomStringConvertible {
        /// The number itself. Any number can be an identity.
        public let rawValue: Int

        /// Makes the identity with this number.
        public init(_ rawValue: Int) {
            self.rawValue = rawValue
        }

        /// Orders identities by their number, and so posts by when they were published.
        public static func < (left: Self, right: Self) -> Bool {
            left.rawValue < right.rawValue
        }

        /// The number in decimal digits.
        public var description: String { String(rawValue) }
    }
}
