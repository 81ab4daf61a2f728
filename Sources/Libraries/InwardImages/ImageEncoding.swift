/// How a picture is encoded.
public struct ImageEncoding: Hashable, Sendable {
    /// How much of the colour is kept, where a form keeps less of it than of the brightness.
    public enum Subsampling: Hashable, Sendable {
        /// All of it (4:4:4).
        case none
        /// One value for two pixels of a row (4:2:2).
        case half
        /// One value for four pixels (4:2:0).
        case quarter
    }

    /// The form.
    public let format: ImageFormat
    /// How good the picture stays, from 1 to 100, where the form loses something.
    public let quality: Int
    /// How much of the colour is kept.
    public let subsampling: Subsampling

    /// Encodes in a form; a quality outside of 1 to 100 is taken for the nearest one.
    public init(_ format: ImageFormat, quality: Int = 80, subsampling: Subsampling = .quarter) {
        self.format = format
        self.quality = min(max(1, quality), 100)
        self.subsampling = subsampling
    }

    /// PNG, which loses nothing.
    public static let png = ImageEncoding(.png)

    /// JPEG; what cannot be seen through is shown on white.
    public static func jpeg(quality: Int = 80, subsampling: Subsampling = .quarter) -> ImageEncoding {
        ImageEncoding(.jpeg, quality: quality, subsampling: subsampling)
    }
}
