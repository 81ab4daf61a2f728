extension User {
    /// The identity of a user, given by whoever keeps the users.
    public struct ID: Hashable, Comparable, Sendable, CustomStringConvertible {
        /// The number itself. Any number can be an identity.
        public let rawValue: Int

        /// Makes the identity with this number.
        public init(_ rawValue: Int) {
            self.rawValue = rawValue
        }

        /// Orders identities by their number.
        public static func < (left: Self, right: Self) -> Bool {
            left.rawValue < right.rawValue
        }

        /// The number in decimal digits.
        public var description: String { String(rawValue) }
    }
}
