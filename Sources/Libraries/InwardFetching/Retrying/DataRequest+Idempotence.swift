extension DataRequest {
    /// Whether it makes no difference if the request is done once or more than once.
    ///
    /// So it is for the idempotent methods of RFC 9110 section 9.2.2, and for a request of any method that has a key in
    /// ``HeaderField/Name/idempotencyKey``, which its source knows the repeats by.
    public var isIdempotent: Bool {
        Self.idempotentMethods.contains(method.rawValue)
            || headerFields.contains { $0.name == .idempotencyKey && !$0.value.isEmpty }
    }

    private static let idempotentMethods: Set<String> = ["DELETE", "GET", "HEAD", "OPTIONS", "PUT", "TRACE"]
}
