public import InwardCore

/// A plugin that changes a picture, and lets a failure be.
public protocol ImageFilter: Plugin where Value == ImageResult {
    /// What it makes of a picture.
    ///
    /// - Throws: `CancellationError` if the task is cancelled before it is done.
    func filtered(_ image: Image) throws(CancellationError) -> Image

    /// The least size that a picture of a size, as it is shown, may be decoded at without the result of this filter showing
    /// it; `nil` if it is to be decoded as large as it is. It is asked of the first filter that a loader has.
    func leastSize(for size: ImageSize) -> ImageSize?

    /// What it makes of a picture that was decoded smaller than it is, which ``leastSize(for:)`` allowed.
    ///
    /// - Parameters:
    ///   - image: The picture as it was decoded.
    ///   - size: How large it is.
    /// - Returns: the picture, as large as if it had been decoded at its size.
    /// - Throws: `CancellationError` if the task is cancelled before it is done.
    func filtered(_ image: Image, reducedFrom size: ImageSize) throws(CancellationError) -> Image

    /// How large the picture is that it makes of one of a size.
    func resultSize(for size: ImageSize) -> ImageSize

    /// How many bytes it takes at the most beside those of a picture of a size that it is given, with those of the picture that
    /// it makes.
    func workingBytes(for size: ImageSize) -> Int
}

extension ImageFilter {
    /// What it makes of a picture; a failure as it is.
    public func applied(to value: ImageResult) async -> ImageResult {
        value.flatMap { image in
            do { return .success(try filtered(image)) } catch {
                return .failure(ImageError(.cancelled, explanation: "was given up"))
            }
        }
    }

    /// `nil`: a picture is decoded as large as it is.
    public func leastSize(for size: ImageSize) -> ImageSize? { nil }

    /// What it makes of a picture as it was decoded.
    ///
    /// - Throws: `CancellationError` if the task is cancelled before it is done.
    public func filtered(_ image: Image, reducedFrom size: ImageSize) throws(CancellationError) -> Image {
        try filtered(image)
    }

    /// The same size.
    public func resultSize(for size: ImageSize) -> ImageSize { size }

    /// The bytes of the picture that it makes.
    public func workingBytes(for size: ImageSize) -> Int { resultSize(for: size).byteCount }
}
