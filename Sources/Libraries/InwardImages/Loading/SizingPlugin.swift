import InwardCore

/// The plugin that says how large a picture has to be decoded: the first one, but for those that only turn it.
struct SizingPlugin: Sendable {
    let index: Int
    private let filter: any ImageFilter
    /// Whether the picture is turned before.
    private let isTurned: Bool

    init?(of plugins: PluginCollection<ImageResult>) {
        guard let index = plugins.firstIndex(where: { !($0 is Orient) }),
            let filter = plugins[index] as? any ImageFilter
        else { return nil }
        self.index = index
        self.filter = filter
        isTurned = index > 0
    }

    /// The most that the sides of a picture may be divided by.
    func reduction(of header: ImageHeader) -> Int {
        let size = size(of: header)
        guard let least = filter.leastSize(for: size) else { return 1 }
        let reduction = header.reductions.last { reduction in
            let reduced = size.divided(by: reduction)
            return reduced.width >= least.width && reduced.height >= least.height
        }
        return reduction ?? 1
    }

    /// How large the picture is that the plugin would be given if it were not reduced.
    func size(of header: ImageHeader) -> ImageSize {
        isTurned && header.orientation.swapsSides ? header.size.transposed : header.size
    }
}
