/// Has the bytes of pictures.
public protocol ImageSource: Sendable {
    /// The picture at an address, as it is encoded.
    ///
    /// Gives up when the task is cancelled.
    ///
    /// - Parameters:
    ///   - address: Where the picture is.
    ///   - limit: How many bytes there may be. With more it fails as soon as that is known.
    /// - Returns: the bytes of the picture.
    /// - Throws: an ``ImageError`` if there is no picture, or it cannot be had.
    func image(at address: ImageAddress, upTo limit: Int) async throws(ImageError) -> EncodedImage
}
