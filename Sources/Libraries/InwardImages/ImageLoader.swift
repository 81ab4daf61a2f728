public import InwardCore

/// Loads pictures, each processed by the plugins that are installed. Who asks for one does not say how.
///
/// A loader is a value. A copy shares the source, what is under way and what is kept with the one it was copied from, and has
/// plugins of its own: two that begin with the same plugins fetch, decode and do what they have in common once.
///
///     let plain = ImageLoader(source: source, codec: codec)
///     var marked = plain
///     marked.addPlugin(Resize(width: 640, height: 480))
///     marked.addPlugin(Watermark(.text("Example", .white)))
///     let image = try await marked.loadImage(from: "https://example.org/cat.jpg")
public struct ImageLoader: Sendable {
    /// The plugins in the order they are applied.
    public private(set) var plugins: PluginCollection<ImageResult> {
        didSet { sizing = SizingPlugin(of: plugins) }
    }
    private var sizing: SizingPlugin?
    private let stages: ImageStages

    /// Makes a loader that turns pictures upright, and does nothing else to them until plugins are added.
    ///
    /// - Parameters:
    ///   - source: Where the bytes come from.
    ///   - codec: What makes pictures of them.
    ///   - limits: What a picture may be.
    ///   - cache: What keeps pictures in memory; `nil` for one of the loader's own, which tells the time as it does.
    ///   - budget: What pictures may take together while they are decoded.
    ///   - store: What keeps encoded pictures when they are done, and is asked before one is fetched.
    ///   - encoding: How they are encoded for the store.
    ///   - allowsTruncation: Whether a picture that is cut short is shown as far as it goes.
    ///   - timer: What tells the time.
    ///   - executor: Where pictures are decoded and processed; `nil` for wherever there is room.
    public init(
        source: any ImageSource,
        codec: any ImageCodec,
        limits: ImageLimits = ImageLimits(),
        cache: ImageCache? = nil,
        budget: DecodingBudget = DecodingBudget(),
        store: (any ImageStore)? = nil,
        encoding: ImageEncoding = .png,
        allowsTruncation: Bool = false,
        timer: TimerService = .continuous,
        executor: (any TaskExecutor)? = nil
    ) {
        stages = ImageStages(
            source: source,
            codec: codec,
            limits: limits,
            cache: cache ?? ImageCache(timer: timer),
            budget: budget,
            store: store,
            encoding: encoding,
            allowsTruncation: allowsTruncation,
            timer: timer,
            executor: executor
        )
        plugins = PluginCollection([Orient()])
    }

    /// Installs a plugin behind the others.
    ///
    /// One that loads pictures itself, to lay them over others say, takes a loader with a budget of its own: it would wait for a
    /// share of the same budget with a share in its hands.
    public mutating func addPlugin(_ plugin: some Plugin<ImageResult>) {
        plugins.add(plugin)
    }

    /// Removes every plugin that is equal to one.
    public mutating func removePlugin(_ plugin: some Plugin<ImageResult>) {
        plugins.remove(plugin)
    }

    /// The picture at an address, processed by all plugins.
    ///
    /// - Throws: an ``ImageError`` if there is none, or the task was cancelled, or its deadline has passed.
    public func loadImage(from address: ImageAddress) async throws(ImageError) -> Image {
        if let image = stages.image(for: key(address)) { return image.value }
        return try await product(address).result.get()
    }

    /// The picture at an address, or why there is none, and what was done for it.
    public func load(_ address: ImageAddress) async -> ImageLoad {
        let start = stages.timer.now
        let product = await product(address)
        let size: ImageSize? = if case .success(let image) = product.result { image.size } else { nil }
        let report = ImageLoadReport(steps: product.steps, size: size, duration: stages.timer.now - start)
        return ImageLoad(result: product.result, report: report)
    }

    /// Loads pictures that will be asked for, so that they are in memory then, as far as there is room.
    ///
    /// It ends when all are there or have failed, or when the task is cancelled.
    ///
    /// - Parameters:
    ///   - addresses: Where they are.
    ///   - limit: How many are loaded at once, 1 or more.
    public func prefetch(_ addresses: some Sequence<ImageAddress>, atOnce limit: Int = 4) async {
        await withTaskGroup(of: Void.self) { group in
            var underWay = 0
            for address in addresses {
                if underWay >= max(1, limit) { await group.next() } else { underWay += 1 }
                if Task.isCancelled { break }
                group.addTask { _ = await product(address) }
            }
        }
    }

    /// Forgets what is kept of an address, or of all, in memory and in the store; what is under way is not kept either.
    ///
    /// - Complexity: O(n) in how much is kept in memory.
    public func forget(_ address: ImageAddress? = nil) async {
        await stages.forget(address)
    }

    private func key(_ address: ImageAddress) -> ImageKey {
        ImageKey(address: address, plugins: plugins, reduction: sizing == nil ? 1 : nil)
    }

    private func product(_ address: ImageAddress) async -> StageProduct {
        let loading = ImageLoading(
            stages: stages,
            address: address,
            plugins: plugins,
            sizing: sizing,
            version: stages.version(of: address)
        )
        return await loading.product()
    }
}
