import InwardTransfers

/// The limits at which a mirror gives up an upstream that may never end.
///
/// A mirror that passes one of these limits ends with ``MirrorUpstreamError/limitExceeded(_:)``.
public struct MirrorLimits: Hashable, Sendable {
    /// The most bytes of the list of users, and of that of posts.
    public var maximumListByteCount: Int
    /// The most bytes of an image.
    public var maximumImageByteCount: Int
    /// The most images.
    public var maximumImageCount: Int
    /// The most bytes of all lists and images together.
    public var maximumTotalByteCount: Int

    /// Makes limits: without arguments 64 MiB for a list, 32 MiB for an image, 100,000 images, and 4 GiB for everything.
    public init(
        maximumListByteCount: Int = 64 * 1_024 * 1_024,
        maximumImageByteCount: Int = 32 * 1_024 * 1_024,
        maximumImageCount: Int = 100_000,
        maximumTotalByteCount: Int = 4 * 1_024 * 1_024 * 1_024
    ) {
        self.maximumListByteCount = max(0, maximumListByteCount)
        self.maximumImageByteCount = max(0, maximumImageByteCount)
        self.maximumImageCount = max(0, maximumImageCount)
        self.maximumTotalByteCount = max(0, maximumTotalByteCount)
    }

    /// The limits for the transfer of an item.
    func limits(for item: MirroredItem, after byteCount: Int) -> TransferLimits {
        let (itemLimit, name) =
            if case .avatar = item {
                (maximumImageByteCount, "MirrorLimits.maximumImageByteCount")
            } else {
                (maximumListByteCount, "MirrorLimits.maximumListByteCount")
            }
        let rest = max(0, maximumTotalByteCount - byteCount)
        var limits = TransferLimits(maximumByteCount: min(itemLimit, rest))
        limits.maximumByteCountName =
            itemLimit <= rest ? name : "MirrorLimits.maximumTotalByteCount (\(maximumTotalByteCount) for everything)"
        return limits
    }
}
