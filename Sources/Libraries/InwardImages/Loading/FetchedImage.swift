/// The bytes of a picture, and what they say of it. It is there as long as somebody has yet to decode them.
final class FetchedImage: Sendable {
    let bytes: [UInt8]
    let isGenuine: Bool
    let header: ImageHeader
    /// When it is too old to be kept, as the timer of the cache tells the time.
    let expiry: Duration
    /// How long it took to fetch it.
    let duration: Duration
    private let place: FetchingRoom.Place
    private let onRelease: @Sendable () -> Void

    init(
        _ encoded: EncodedImage,
        header: ImageHeader,
        expiry: Duration,
        duration: Duration,
        place: FetchingRoom.Place,
        onRelease: @escaping @Sendable () -> Void
    ) {
        bytes = encoded.bytes
        isGenuine = encoded.isGenuine
        self.header = header
        self.expiry = expiry
        self.duration = duration
        self.place = place
        self.onRelease = onRelease
    }

    deinit { onRelease() }
}
