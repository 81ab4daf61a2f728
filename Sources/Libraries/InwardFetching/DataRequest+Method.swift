extension DataRequest {
    /// A request method of RFC 9110 section 9, or any other.
    public struct Method: Hashable, Sendable, CustomStringConvertible {
        /// The method as it is sent. Methods are case-sensitive.
        public let rawValue: String

        /// Gives what the address names.
        public static let get = Self(unchecked: "GET")
        /// Gives what `GET` would, without the body.
        public static let head = Self(unchecked: "HEAD")
        /// Hands the body to what the address names.
        public static let post = Self(unchecked: "POST")
        /// Puts the body in the place of what the address names.
        public static let put = Self(unchecked: "PUT")
        /// Changes what the address names as the body says (RFC 5789).
        public static let patch = Self(unchecked: "PATCH")
        /// Removes what the address names.
        public static let delete = Self(unchecked: "DELETE")
        /// Gives what the address names another address (RFC 4918).
        public static let move = Self(unchecked: "MOVE")
        /// Tells what can be done with what the address names.
        public static let options = Self(unchecked: "OPTIONS")

        /// Makes a method of any name; `nil` if the name is no token of RFC 9110 section 5.6.2.
        public init?(_ name: String) {
            guard name.isToken else { return nil }
            rawValue = name
        }

        private init(unchecked name: String) {
            rawValue = name
        }

        /// Whether requests by this method ask for nothing to be changed (RFC 9110 section 9.2.1).
        var isSafe: Bool { Self.safeMethods.contains(rawValue) }

        private static let safeMethods: Set<String> = ["GET", "HEAD", "OPTIONS", "TRACE"]

        /// The method as it is sent.
        public var description: String { rawValue }
    }
}
