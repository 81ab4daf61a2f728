public import InwardCore

/// A plugin that changes an image and passes failures through.
///
/// ```swift
/// struct Inverted: ImageFilter {
///     func filtered(_ image: Image) -> Image {
///         var image = image
///         image.update { pixels in
///             for index in 0..<pixels.count where index % Image.bytesPerPixel < 3 {
///                 pixels[index] = 255 - pixels[index]
///             }
///         }
///         return image
///     }
/// }
///
/// loader.addPlugin(Inverted())
/// ```
///
/// The loader caches results by filter, so equal filters must give equal results. Store everything that determines the result
/// in properties, and nothing else. Implement ``resultSize(for:)`` if the filter changes the size, and ``workingBytes(for:)``
/// if it needs more memory than the result.
public protocol ImageFilter: Plugin where Value == ImageResult {
    /// Returns the filtered image.
    ///
    /// - Throws: `CancellationError` if the task is cancelled.
    func filtered(_ image: Image) throws(CancellationError) -> Image

    /// Returns the minimum size at which an image may be decoded without a visible effect on the result, or `nil` if the image
    /// must be decoded at full size.
    ///
    /// The loader asks only the first plugin after ``Orient``. `size` is the size of the image as displayed.
    func leastSize(for size: ImageSize) -> ImageSize?

    /// Returns the filtered image for an image that was decoded at a reduced size, as ``leastSize(for:)`` allowed.
    ///
    /// - Parameters:
    ///   - image: The decoded image.
    ///   - size: The full size of the image.
    /// - Returns: The filtered image, with the same size as if the image had been decoded at full size.
    /// - Throws: `CancellationError` if the task is cancelled.
    func filtered(_ image: Image, reducedFrom size: ImageSize) throws(CancellationError) -> Image

    /// Filters an image like ``filtered(_:reducedFrom:)``, which it calls by default. The loader calls it with the size of the
    /// image if the image was not reduced. A filter can implement it with child tasks, so that a large image uses several
    /// processor cores if they are idle.
    ///
    /// - Throws: `CancellationError` if the task is cancelled.
    func filter(_ image: Image, reducedFrom size: ImageSize) async throws(CancellationError) -> Image

    /// Returns the size of the result for an image of the given size. The loader reserves memory for the result, so the
    /// returned size may be too large, but not too small.
    func resultSize(for size: ImageSize) -> ImageSize

    /// Returns the maximum number of bytes that the filter needs in addition to its input image, including the result.
    func workingBytes(for size: ImageSize) -> Int
}

extension ImageFilter {
    /// Returns the filtered image, or the failure unchanged.
    public func applied(to value: ImageResult) async -> ImageResult {
        guard case .success(let image) = value else { return value }
        do { return .success(try await filter(image, reducedFrom: image.size)) } catch {
            return .failure(ImageError(.cancelled, explanation: "was not processed: the task was cancelled"))
        }
    }

    /// Returns `nil`, because images are decoded at full size by default.
    public func leastSize(for size: ImageSize) -> ImageSize? { nil }

    /// Returns the result of ``filtered(_:)``, and ignores the full size.
    ///
    /// - Throws: `CancellationError` if the task is cancelled.
    public func filtered(_ image: Image, reducedFrom size: ImageSize) throws(CancellationError) -> Image {
        try filtered(image)
    }

    /// Returns the result of ``filtered(_:reducedFrom:)``, or of ``filtered(_:)`` if the image was not reduced.
    ///
    /// - Throws: `CancellationError` if the task is cancelled.
    public func filter(_ image: Image, reducedFrom size: ImageSize) async throws(CancellationError) -> Image {
        try size == image.size ? filtered(image) : filtered(image, reducedFrom: size)
    }

    /// Returns the same size.
    public func resultSize(for size: ImageSize) -> ImageSize { size }

    /// Returns the number of bytes of the result.
    public func workingBytes(for size: ImageSize) -> Int { resultSize(for: size).byteCount }
}

/// The plugin that determines the decoding size: the first plugin that is not an `Orient`.
struct SizingPlugin: Sendable {
    let index: Int
    private let filter: any ImageFilter
    /// Whether `Orient` comes before the plugin.
    private let isTurned: Bool

    init?(of plugins: PluginCollection<ImageResult>) {
        guard let index = plugins.firstIndex(where: { !($0 is Orient) }),
            let filter = plugins[index] as? any ImageFilter
        else { return nil }
        self.index = index
        self.filter = filter
        isTurned = index > 0
    }

    /// Returns the largest reduction that the image may be decoded with.
    func reduction(of header: ImageHeader) -> Int {
        let size = size(of: header)
        guard let least = filter.leastSize(for: size) else { return 1 }
        let reduction = header.reductions.last { reduction in
            let reduced = size.divided(by: reduction)
            return reduced.width >= least.width && reduced.height >= least.height
        }
        return reduction ?? 1
    }

    /// Returns the size of the plugin's input if the image were not reduced.
    func size(of header: ImageHeader) -> ImageSize {
        isTurned && header.orientation.swapsSides ? header.size.transposed : header.size
    }
}

extension PluginCollection<ImageResult> {
    /// Returns the maximum number of bytes that the plugins from an index on need in addition to the input of the first one.
    ///
    /// A plugin that is not an image filter counts as if it needed as many bytes as its input image.
    ///
    /// - Parameters:
    ///   - first: The index of the first plugin.
    ///   - size: The size of the image.
    ///   - isUpright: Whether the image needs no rotation.
    ///   - isEncoded: Whether the result is encoded afterwards, which counts as needing as many bytes as the result.
    /// - Returns: The number of bytes.
    func workingBytes(from first: Int, for size: ImageSize, isUpright: Bool, isEncoded: Bool = false) -> Int {
        var size = size
        // The bytes of the current image, unless it is the first input.
        var held = 0
        var most = 0
        for plugin in self[first...] {
            if isUpright, plugin is Orient { continue }
            let filter = plugin as? any ImageFilter
            let (bytes, isTooMany) = held.addingReportingOverflow(filter?.workingBytes(for: size) ?? size.byteCount)
            most = Swift.max(most, isTooMany ? .max : bytes)
            size = filter?.resultSize(for: size) ?? size
            held = size.byteCount
        }
        guard isEncoded else { return most }
        let (bytes, isTooMany) = held.addingReportingOverflow(size.byteCount)
        return Swift.max(most, isTooMany ? .max : bytes)
    }
}
