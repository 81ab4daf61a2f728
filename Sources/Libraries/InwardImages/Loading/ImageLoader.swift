public import InwardCore

/// A loader that fetches and decodes images, and processes them with plugins.
///
/// ```swift
/// var loader = ImageLoader(source: source, codec: codec)
/// loader.addPlugin(Resize(width: 640, height: 480))
/// loader.addPlugin(Watermark(.text("Example", .white)))
/// let image = try await loader.loadImage(from: "avatars/7.jpg")
/// ```
///
/// A loader is a value. Copies share the source, the loads in flight, and the caches, but each copy has its own plugins. Copies
/// whose first plugins are equal share the fetch, the decoding, and the results of these plugins.
///
/// Concurrent loads of the same image are coalesced.
public struct ImageLoader: Sendable {
    /// The plugins, in the order in which they are applied.
    public private(set) var plugins: PluginCollection<ImageResult> {
        didSet { sizing = SizingPlugin(of: plugins) }
    }
    private var sizing: SizingPlugin?
    let stages: ImageStages
    let observer: (any ImageObserver)?

    /// Creates a loader with one plugin, ``Orient``. Add plugins for other processing.
    ///
    /// - Parameters:
    ///   - source: The source of encoded images.
    ///   - codec: The codec that decodes them.
    ///   - limits: The limits for untrusted images. Larger images are rejected before they are decoded.
    ///   - cache: The in-memory cache, or `nil` to create one with the default limits and the loader's timer.
    ///   - budget: The limit for memory and for concurrent fetches. Loaders that share a budget get equal shares.
    ///   - store: The cache for finished images in encoded form, or `nil` for none. The loader looks there before it fetches.
    ///   - encoding: The encoding of images in the store.
    ///   - allowsTruncation: Whether a truncated image loads partially instead of failing.
    ///   - timer: The timer service that measures durations and lifetimes.
    ///   - executor: The executor for fetching, decoding and processing. `nil` selects the default executor.
    ///   - observer: The observer of loads, or `nil` for none. To observe the budget, pass the observer to the budget as well.
    public init(
        source: any ImageSource,
        codec: any ImageCodec,
        limits: ImageLimits = ImageLimits(),
        cache: ImageCache? = nil,
        budget: DecodingBudget = DecodingBudget(),
        store: (any ImageDataCache)? = nil,
        encoding: ImageEncoding = .png,
        allowsTruncation: Bool = false,
        timer: TimerService = .continuous,
        executor: (any TaskExecutor)? = nil,
        observer: (any ImageObserver)? = nil
    ) {
        self.observer = observer
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

    /// Adds a plugin at the end.
    ///
    /// If a plugin loads images itself, for example for an overlay, give its loader a separate budget. With a shared budget,
    /// the plugin would wait for memory while the load that runs it holds a reservation, which can deadlock.
    public mutating func addPlugin(_ plugin: some Plugin<ImageResult>) {
        plugins.add(plugin)
    }

    /// Removes all plugins that are equal to the given one.
    public mutating func removePlugin(_ plugin: some Plugin<ImageResult>) {
        plugins.remove(plugin)
    }

    /// Returns the image at an address, processed by all plugins.
    ///
    /// - Throws: An ``ImageError`` if the image cannot be loaded, the task is cancelled, or its deadline passes.
    public func loadImage(from address: ImageAddress) async throws(ImageError) -> Image {
        guard observer == nil else { return try await load(address).result.get() }
        if let image = stages.image(for: key(address)) { return image.value }
        return try await product(address).result.get()
    }

    /// Loads the image at an address, and returns the result with a report of the load.
    ///
    /// ```swift
    /// let load = await loader.load("avatars/7.jpg")
    /// print(load.report.steps)  // Such as [fetch, decode, Orient, Resize]
    /// ```
    public func load(_ address: ImageAddress) async -> ImageLoad {
        guard let observer else { return await loaded(address) }
        let load = await observer.surroundLoad(address) { await loaded(address) }
        observer.loadEnded(address, load)
        return load
    }

    private func loaded(_ address: ImageAddress) async -> ImageLoad {
        let start = stages.timer.now
        let product = await product(address)
        return product.load(since: start, on: stages.timer)
    }

    /// Loads images ahead of time, so that they are in the memory cache if there is room.
    ///
    /// ```swift
    /// await loader.prefetch(["avatars/7.jpg", "avatars/8.jpg"])
    /// ```
    ///
    /// Returns when all loads have ended, or when the task is cancelled. Failures are ignored.
    ///
    /// - Parameters:
    ///   - addresses: The addresses of the images.
    ///   - limit: The maximum number of concurrent loads, at least 1.
    public func prefetch(_ addresses: some Sequence<ImageAddress>, atOnce limit: Int = 4) async {
        await withTaskGroup(of: Void.self) { group in
            var underWay = 0
            for address in addresses {
                if underWay >= max(1, limit) { await group.next() } else { underWay += 1 }
                if Task.isCancelled { break }
                group.addTask { _ = await load(address) }
            }
        }
    }

    /// Removes everything that is cached for an address, or for all addresses if it is `nil`, from memory and from the store.
    /// Loads in flight continue, but their results are not cached.
    ///
    /// - Complexity: O(n) in the number of values cached in memory.
    public func forget(_ address: ImageAddress? = nil) async {
        await stages.forget(address)
    }

    private func key(_ address: ImageAddress) -> ImageKey {
        ImageKey(address: address, plugins: plugins, reduction: sizing == nil ? 1 : nil)
    }

    private func product(_ address: ImageAddress) async -> StageProduct {
        await loading(of: address).product()
    }

    /// Returns the load of an address, which has not started.
    func loading(of address: ImageAddress, isEncoded: Bool = false) -> ImageLoading {
        ImageLoading(
            stages: stages,
            address: address,
            plugins: plugins,
            sizing: sizing,
            version: stages.version(of: address),
            isEncoded: isEncoded
        )
    }
}

/// One load of an image. It starts at the last stage, and each stage requests the result of the stage before it.
struct ImageLoading: Sendable {
    let stages: ImageStages
    let address: ImageAddress
    let plugins: PluginCollection<ImageResult>
    /// The plugin that determines the decoding size, or `nil` if there is none.
    let sizing: SizingPlugin?
    /// The invalidation generation of the load.
    let version: Int
    /// Whether the caller encodes the result, so that the load reserves memory for that as well.
    var isEncoded = false

    /// Returns the result of all plugins.
    func product() async -> StageProduct { await product(of: plugins.count) }

    /// Returns the result of the first `count` plugins.
    private func product(of count: Int) async -> StageProduct {
        guard let sizing else { return await product(of: count, reducedBy: 1, nil) }
        guard count <= sizing.index else {
            let key = key(count, reduction: nil)
            return await stages.product(for: key, since: version) {
                await kept(count, key) { await step(count - 1, after: product(of: count - 1)) }
            }
        }
        // The sizing plugin, if the key contains it, determines the reduction. Otherwise, the key must contain the reduction.
        if case .success(let header)? = stages.header(of: address) {
            return await product(of: count, reducedBy: sizing.reduction(of: header), nil)
        }
        let start = stages.timer.now
        let fetch = await stages.fetch(address, since: version)
        switch fetch.result {
        case .success(let fetched):
            return await product(of: count, reducedBy: sizing.reduction(of: fetched.header), fetch)
        case .failure(let error):
            return StageProduct(.failure(error), steps: [fetch.step(waited: stages.timer.now - start)])
        }
    }

    private func product(of count: Int, reducedBy reduction: Int, _ fetch: ImageFetch?) async -> StageProduct {
        let key = key(count, reduction: reduction)
        return await stages.product(for: key, since: version) {
            await kept(count, key) {
                guard count > 0 else { return await decoded(reducedBy: reduction, fetch) }
                return await step(count - 1, after: product(of: count - 1, reducedBy: reduction, fetch))
            }
        }
    }

    /// Looks up and stores the result of all plugins in the store, if there is one. Intermediate results are not stored.
    private func kept(
        _ count: Int,
        _ key: ImageKey,
        _ make: @Sendable () async -> StageProduct
    ) async -> StageProduct {
        guard count == plugins.count, let store = stages.store else { return await make() }
        if let stored = await stages.product(of: key, in: store) { return stored }
        return await stages.keep(make(), of: key, in: store, since: version)
    }

    private func key(_ count: Int, reduction: Int?) -> ImageKey {
        ImageKey(address: address, plugins: plugins.first(count), reduction: reduction)
    }

    private func decoded(reducedBy reduction: Int, _ known: ImageFetch?) async -> StageProduct {
        let start = stages.timer.now
        let fetch = if let known { known } else { await stages.fetch(address, since: version) }
        let fetching = fetch.step(waited: stages.timer.now - start)
        switch fetch.result {
        case .success(let fetched):
            // The image may have changed since its header was cached, so the reduction may differ from the key's.
            let actual = sizing?.reduction(of: fetched.header) ?? 1
            var product = await stages.decoded(
                fetched,
                fetching,
                reducedBy: actual,
                processingBytes: plugins.workingBytes(
                    from: 0,
                    for: fetched.header.size.divided(by: actual),
                    isUpright: fetched.header.orientation == .up,
                    isEncoded: isEncoded
                ),
                address
            )
            product.isKeepable = product.isKeepable && actual == reduction
            return product
        case .failure(let error):
            return StageProduct(.failure(error), steps: [fetching])
        }
    }

    /// Applies a plugin to the result of the stages before it.
    private func step(_ index: Int, after before: StageProduct) async -> StageProduct {
        let source = await admitted(before, from: index)
        let start = stages.timer.now
        // In a child task, like decoding.
        async let work = (applied(index, to: source), Task.isCancelled)
        let (result, isCancelled) = await work
        var product = source
        // A cancelled plugin can return an unfinished image.
        product.result = isCancelled || Task.isCancelled ? .failure(.cancelled(address)) : result
        if case .failure(let error) = product.result {
            product.isKeepable = false
            if error.address == nil {
                product.result = .failure(ImageError(error.reason, of: address, explanation: error.explanation))
            }
        }
        product.steps.append(
            ImageLoadReport.Step(
                name: ImageLoadReport.Step.name(of: plugins[index]),
                origin: .done,
                duration: stages.timer.now - start,
                bytes: product.result.byteCount
            )
        )
        return product
    }

    /// Applies one plugin. The sizing plugin also receives the full size of the image.
    private func applied(_ index: Int, to product: StageProduct) async -> ImageResult {
        guard index == sizing?.index, let filter = plugins[index] as? any ImageFilter,
            let size = fullSize(of: product)
        else { return await plugins[index].applied(to: product.result) }
        guard case .success(let image) = product.result else { return product.result }
        do { return .success(try await filter.filter(image, reducedFrom: size)) } catch {
            return .failure(.cancelled(address))
        }
    }

    /// Returns the full size of an image as displayed, or `nil` if it was not reduced.
    private func fullSize(of product: StageProduct) -> ImageSize? {
        guard let header = product.header ?? (try? stages.header(of: address)?.get()), let sizing else { return nil }
        return sizing.reduction(of: header) > 1 ? sizing.size(of: header) : nil
    }

    /// Returns the result so far after reserving enough memory for the remaining plugins, and for encoding if the caller does
    /// that.
    func admitted(_ before: StageProduct, from index: Int) async -> StageProduct {
        guard !before.hasRoom, case .success(let image) = before.result else { return before }
        var product = before
        product.hasRoom = true
        let bytes = plugins.workingBytes(
            from: index,
            for: image.size,
            isUpright: image.orientation == .up,
            isEncoded: isEncoded
        )
        guard before.reservations.isEmpty else {
            // This load joined the one that decoded the image, which reserved memory only for its own plugins. Waiting for more
            // memory while holding that reservation could deadlock.
            product.reservations.append(stages.budget.decodingRoom.overdraft(of: bytes, for: stages.party))
            return product
        }
        guard bytes <= stages.budget.limit else {
            let explanation =
                "is \(image.size) and takes \(bytes) bytes to process, more than the \(stages.budget.limit) allowed"
            product.result = .failure(ImageError(.tooLarge, of: address, explanation: explanation))
            return product
        }
        guard let reservation = await stages.budget.decodingRoom.reservation(of: bytes, for: stages.party) else {
            product.result = .failure(.cancelled(address))
            return product
        }
        product.reservations = [reservation]
        return product
    }
}
