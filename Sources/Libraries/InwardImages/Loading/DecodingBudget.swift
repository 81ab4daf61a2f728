/// A memory budget for the images that are being decoded and processed.
///
/// Loads wait for memory in first-in-first-out order. An image that needs more than the whole budget is rejected.
/// Several loaders can share a budget.
///
/// In addition, encoded images that are being fetched or are waiting for decoding may use an eighth of the budget. No
/// other image is fetched while that is used up. The size of an image is known only after it is fetched, so a burst of
/// unexpectedly large images can exceed this part at first.
public final class DecodingBudget: Sendable {
    /// The budget for encoded images that have not been decoded yet.
    let fetchingRoom: EncodedByteBudget
    /// The budget for images that are being decoded and processed.
    let decodingRoom: ByteBudget

    /// Creates a budget.
    ///
    /// - Parameter bytes: The number of bytes. Negative numbers count as 0.
    public init(bytes: Int = 512 * 1_024 * 1_024) {
        fetchingRoom = EncodedByteBudget(bytes: bytes / 8)
        decodingRoom = ByteBudget(bytes: bytes)
    }

    /// The total number of bytes.
    public var limit: Int { decodingRoom.limit }
    /// The number of reserved bytes.
    public var taken: Int { decodingRoom.taken }

    /// Returns why an image that needs this many bytes is rejected, as the end of a sentence, or `nil` if it fits.
    func refusal(of bytes: Int, for header: ImageHeader) -> String? {
        guard bytes > limit else { return nil }
        let work = bytes > header.bytes(reducedBy: 1) ? "decode and process" : "decode"
        return "is \(header.size) and takes \(bytes) bytes to \(work), more than the \(limit) allowed"
    }
}
