public import InwardCore

/// Loads images, each processed by the plugins that are installed. Who asks for one does not say how.
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

    /// Makes a loader that turns images upright, and does nothing else to them until plugins are added.
    ///
    /// - Parameters:
    ///   - source: Where the bytes come from.
    ///   - codec: What makes images of them.
    ///   - limits: What an image may be.
    ///   - cache: What keeps images in memory; `nil` for one of the loader's own, which tells the time as it does.
    ///   - budget: What images may take together while they are decoded.
    ///   - store: What keeps encoded images when they are done, and is asked before one is fetched.
    ///   - encoding: How they are encoded for the store.
    ///   - allowsTruncation: Whether an image that is cut short is shown as far as it goes.
    ///   - timer: What tells the time.
    ///   - executor: Where images are decoded and processed; `nil` for wherever there is room.
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
    /// One that loads images itself, to lay them over others say, takes a loader with a budget of its own: it would wait for a
    /// share of the same budget with a share in its hands.
    public mutating func addPlugin(_ plugin: some Plugin<ImageResult>) {
        plugins.add(plugin)
    }

    /// Removes every plugin that is equal to one.
    public mutating func removePlugin(_ plugin: some Plugin<ImageResult>) {
        plugins.remove(plugin)
    }

    /// The image at an address, processed by all plugins.
    ///
    /// - Throws: an ``ImageError`` if there is none, or the task was cancelled, or its deadline has passed.
    public func loadImage(from address: ImageAddress) async throws(ImageError) -> Image {
        if let image = stages.image(for: key(address)) { return image.value }
        return try await product(address).result.get()
    }

    /// The image at an address, or why there is none, and what was done for it.
    public func load(_ address: ImageAddress) async -> ImageLoad {
        let start = stages.timer.now
        let product = await product(address)
        let size: ImageSize? = if case .success(let image) = product.result { image.size } else { nil }
        let report = ImageLoadReport(steps: product.steps, size: size, duration: stages.timer.now - start)
        return ImageLoad(result: product.result, report: report)
    }

    /// Loads images that will be asked for, so that they are in memory then, as far as there is room.
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

/// One load of an image, stage by stage, the last one first: each asks the one before it.
struct ImageLoading: Sendable {
    let stages: ImageStages
    let address: ImageAddress
    let plugins: PluginCollection<ImageResult>
    /// The plugin that says how large the image has to be decoded; `nil` if none does.
    let sizing: SizingPlugin?
    /// What the load belongs to.
    let version: Int

    /// What comes of all plugins.
    func product() async -> StageProduct { await product(of: plugins.count) }

    /// What comes of the first so many plugins.
    private func product(of count: Int) async -> StageProduct {
        guard let sizing else { return await product(of: count, reducedBy: 1, nil) }
        guard count <= sizing.index else {
            let key = key(count, reduction: nil)
            return await stages.product(for: key, since: version) {
                await kept(count, key) { await step(count - 1, behind: product(of: count - 1)) }
            }
        }
        // Behind the sizing plugin its value says how large the image was decoded; before it, only the reduction does.
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
                return await step(count - 1, behind: product(of: count - 1, reducedBy: reduction, fetch))
            }
        }
    }

    /// What comes of all plugins is kept by the store, if there is one; what comes of some is not.
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
            // The image may be another one by now than that whose header was remembered.
            let actual = sizing?.reduction(of: fetched.header) ?? 1
            var product = await stages.decoded(
                fetched,
                fetching,
                reducedBy: actual,
                processingBytes: plugins.workingBytes(
                    from: 0,
                    for: fetched.header.size.divided(by: actual),
                    isUpright: fetched.header.orientation == .up
                ),
                address
            )
            product.isKeepable = product.isKeepable && actual == reduction
            return product
        case .failure(let error):
            return StageProduct(.failure(error), steps: [fetching])
        }
    }

    /// What a plugin makes of what came before it.
    private func step(_ index: Int, behind before: StageProduct) async -> StageProduct {
        var product = await admitted(before, from: index)
        await stages.leaveCallersThread()
        let start = stages.timer.now
        product.result = await applied(index, to: product)
        // What a plugin leaves behind when it gives up is no image.
        if Task.isCancelled { product.result = .failure(.cancelled(address)) }
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

    /// A plugin's own doing. The one that the codec was told of is told how large the image is.
    private func applied(_ index: Int, to product: StageProduct) async -> ImageResult {
        guard index == sizing?.index, let filter = plugins[index] as? any ImageFilter,
            let size = fullSize(of: product)
        else { return await plugins[index].applied(to: product.result) }
        return product.result.flatMap { image in
            do { return .success(try filter.filtered(image, reducedFrom: size)) } catch {
                return .failure(.cancelled(address))
            }
        }
    }

    /// How large an image is, as it is shown; `nil` if it was not reduced.
    private func fullSize(of product: StageProduct) -> ImageSize? {
        guard let header = product.header ?? (try? stages.header(of: address)?.get()), let sizing else { return nil }
        return sizing.reduction(of: header) > 1 ? sizing.size(of: header) : nil
    }

    /// What came so far, with room for the plugins from one on.
    private func admitted(_ before: StageProduct, from index: Int) async -> StageProduct {
        guard !before.hasRoom, case .success(let image) = before.result else { return before }
        var product = before
        product.hasRoom = true
        let bytes = plugins.workingBytes(from: index, for: image.size, isUpright: image.orientation == .up)
        guard before.shares.isEmpty else {
            // Who decoded it had its own plugins in mind. To wait with a share in hand might be for ever.
            product.shares.append(stages.budget.overdraft(of: bytes))
            return product
        }
        guard bytes <= stages.budget.limit else {
            let explanation =
                "is \(image.size) and takes \(bytes) bytes to process, more than the \(stages.budget.limit) allowed"
            product.result = .failure(ImageError(.tooLarge, of: address, explanation: explanation))
            return product
        }
        guard let share = await stages.budget.admission(of: bytes) else {
            product.result = .failure(.cancelled(address))
            return product
        }
        product.shares = [share]
        return product
    }
}
