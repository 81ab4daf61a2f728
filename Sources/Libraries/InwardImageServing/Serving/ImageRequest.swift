public import InwardFetching

/// The parts of an HTTP request for an image.
///
/// ```swift
/// let request = ImageRequest(
///     path: "2027a.oYk3…/resize=640x480/YXZhdGFycy83LmpwZw",
///     headerFields: [HeaderField(.accept, "image/avif,image/webp,*/*;q=0.8")]
/// )
/// ```
public struct ImageRequest: Hashable, Sendable {
    /// The method, such as `GET`.
    public var method: String
    /// The path below that of the route, without a slash at its beginning and without a query. It is still percent-encoded: a
    /// decoded path could hide that an image has more than one URL.
    public var path: String
    /// The header fields. The server reads `Accept` and `If-None-Match`.
    public var headerFields: HeaderFields

    /// Creates a request.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - path: The path below that of the route, without a slash at its beginning and without a query, still percent-encoded.
    ///   - headerFields: The header fields. Others than `Accept` and `If-None-Match` can be left out.
    public init(method: String = "GET", path: String, headerFields: HeaderFields = []) {
        self.method = method
        self.path = path
        self.headerFields = headerFields
    }
}
