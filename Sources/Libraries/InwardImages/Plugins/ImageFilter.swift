public import InwardCore

/// A plugin that changes an image, and lets a failure be.
public protocol ImageFilter: Plugin where Value == ImageResult {
    /// What it makes of an image.
    ///
    /// - Throws: `CancellationError` if the task is cancelled before it is done.
    func filtered(_ image: Image) throws(CancellationError) -> Image

    /// The least size that an image of a size, as it is shown, may be decoded at without the result of this filter showing
    /// it; `nil` if it is to be decoded as large as it is. It is asked of the first filter that a loader has.
    func leastSize(for size: ImageSize) -> ImageSize?

    /// What it makes of an image that was decoded smaller than it is, which ``leastSize(for:)`` allowed.
    ///
    /// - Parameters:
    ///   - image: The image as it was decoded.
    ///   - size: How large it is.
    /// - Returns: the image, as large as if it had been decoded at its size.
    /// - Throws: `CancellationError` if the task is cancelled before it is done.
    func filtered(_ image: Image, reducedFrom size: ImageSize) throws(CancellationError) -> Image

    /// How large the image is that it makes of one of a size.
    func resultSize(for size: ImageSize) -> ImageSize

    /// How many bytes it takes at the most beside those of an image of a size that it is given, with those of the image that
    /// it makes.
    func workingBytes(for size: ImageSize) -> Int
}

extension ImageFilter {
    /// What it makes of an image; a failure as it is.
    public func applied(to value: ImageResult) async -> ImageResult {
        value.flatMap { image in
            do { return .success(try filtered(image)) } catch {
                return .failure(ImageError(.cancelled, explanation: "was given up"))
            }
        }
    }

    /// `nil`: an image is decoded as large as it is.
    public func leastSize(for size: ImageSize) -> ImageSize? { nil }

    /// What it makes of an image as it was decoded.
    ///
    /// - Throws: `CancellationError` if the task is cancelled before it is done.
    public func filtered(_ image: Image, reducedFrom size: ImageSize) throws(CancellationError) -> Image {
        try filtered(image)
    }

    /// The same size.
    public func resultSize(for size: ImageSize) -> ImageSize { size }

    /// The bytes of the image that it makes.
    public func workingBytes(for size: ImageSize) -> Int { resultSize(for: size).byteCount }
}

/// The plugin that says how large an image has to be decoded: the first one, but for those that only turn it.
struct SizingPlugin: Sendable {
    let index: Int
    private let filter: any ImageFilter
    /// Whether the image is turned before.
    private let isTurned: Bool

    init?(of plugins: PluginCollection<ImageResult>) {
        guard let index = plugins.firstIndex(where: { !($0 is Orient) }),
            let filter = plugins[index] as? any ImageFilter
        else { return nil }
        self.index = index
        self.filter = filter
        isTurned = index > 0
    }

    /// The most that the sides of an image may be divided by.
    func reduction(of header: ImageHeader) -> Int {
        let size = size(of: header)
        guard let least = filter.leastSize(for: size) else { return 1 }
        let reduction = header.reductions.last { reduction in
            let reduced = size.divided(by: reduction)
            return reduced.width >= least.width && reduced.height >= least.height
        }
        return reduction ?? 1
    }

    /// How large the image is that the plugin would be given if it were not reduced.
    func size(of header: ImageHeader) -> ImageSize {
        isTurned && header.orientation.swapsSides ? header.size.transposed : header.size
    }
}

extension PluginCollection<ImageResult> {
    /// How many bytes the plugins from one on take at the most beside those of the image that the first of them is given.
    ///
    /// Of a plugin that does not say, it is as much again as the image.
    ///
    /// - Parameters:
    ///   - first: The first of them.
    ///   - size: How large the image is.
    ///   - isUpright: Whether nothing has to be turned.
    /// - Returns: the number of bytes.
    func workingBytes(from first: Int, for size: ImageSize, isUpright: Bool) -> Int {
        var size = size
        // What the image at hand takes, where it is not the one that all began with.
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
        return most
    }
}
