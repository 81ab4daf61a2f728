import InwardCore

extension DataResponse {
    /// Whether the source gave it, for this request: not out of a memory, and not in place of another answer.
    var isOfSource: Bool { origin == .upstream && degradation == nil }
}
