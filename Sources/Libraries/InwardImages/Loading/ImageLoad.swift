/// A picture or why there is none, and what was done for it.
public struct ImageLoad: Sendable {
    /// The picture, or why there is none.
    public let result: ImageResult
    /// What was done for it.
    public let report: ImageLoadReport
}
