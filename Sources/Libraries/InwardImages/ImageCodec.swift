/// Makes pictures of bytes, and bytes of pictures.
///
/// Nothing in the bytes can crash a codec, keep it busy for ever, or have it take more memory than the header says: they come
/// from outside. A codec gives up when the task that calls it is cancelled, or its deadline passes: call
/// ``ImageCodecError/checkCancellation()`` between steps, such as rows.
public protocol ImageCodec: Sendable {
    /// What encoded bytes say of the picture in them, without decoding it.
    ///
    /// - Throws: an ``ImageCodecError`` if they are of no form that this codec reads, or damaged at the beginning.
    func header(of bytes: [UInt8]) throws(ImageCodecError) -> ImageHeader

    /// The picture in encoded bytes, as it is stored: its orientation is not applied.
    ///
    /// - Throws: an ``ImageCodecError`` if they are of no form that this codec reads, damaged, or cut short; or if the task was
    ///   cancelled.
    func image(from bytes: [UInt8], _ options: ImageDecodingOptions) throws(ImageCodecError) -> Image

    /// The bytes of a picture in a form, as it is stored.
    ///
    /// - Throws: an ``ImageCodecError`` if this codec does not write the form, or the picture does not fit into it; or if the
    ///   task was cancelled.
    func bytes(of image: Image, as encoding: ImageEncoding) throws(ImageCodecError) -> [UInt8]
}
