import Entities
public import UseCases

/// A form that a codec both writes and reads, and how much of a picture survives that.
public struct ImageRoundTrip: Hashable, Sendable {
    /// How pictures are written.
    public let encoding: ImageEncoding
    /// How far each part of a colour may be from what it was, in a picture without edges; 0 if nothing is lost of any picture.
    public let tolerance: Int
    /// Whether pictures stay as clear as they are.
    public let keepsAlpha: Bool
    /// Whether the form says how a picture is to be turned.
    public let keepsOrientation: Bool

    /// Says what a codec writes and reads.
    ///
    /// - Parameters:
    ///   - encoding: How pictures are written.
    ///   - tolerance: How far each part of a colour may be from what it was, from 0 to 255, in a picture without edges. At 0 any
    ///     picture has to come back as it was.
    ///   - keepsAlpha: Whether pictures stay as clear as they are. Of a form that loses something, what is seen through less
    ///     than half is not tried.
    ///   - keepsOrientation: Whether the form says how a picture is to be turned.
    public init(_ encoding: ImageEncoding, tolerance: Int = 0, keepsAlpha: Bool = true, keepsOrientation: Bool = true) {
        self.encoding = encoding
        self.tolerance = min(max(0, tolerance), 255)
        self.keepsAlpha = keepsAlpha
        self.keepsOrientation = keepsOrientation
    }

    /// PNG, of which nothing is lost.
    public static let png = ImageRoundTrip(.png)

    /// JPEG of a high quality, which keeps no alpha, and colours within 12 steps of 255.
    public static let jpeg = ImageRoundTrip(.jpeg(quality: 95), tolerance: 12, keepsAlpha: false)

    /// The form.
    var format: ImageFormat { encoding.format }
}
