import InwardCore

/// One load of a picture, stage by stage, the last one first: each asks the one before it.
struct ImageLoading: Sendable {
    let stages: ImageStages
    let address: ImageAddress
    let plugins: PluginCollection<ImageResult>
    /// The plugin that says how large the picture has to be decoded; `nil` if none does.
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
        // Behind the sizing plugin its value says how large the picture was decoded; before it, only the reduction does.
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

    private func product(of count: Int, reducedBy reduction: Int, _ fetch: Fetch?) async -> StageProduct {
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

    private func decoded(reducedBy reduction: Int, _ known: Fetch?) async -> StageProduct {
        let start = stages.timer.now
        let fetch = if let known { known } else { await stages.fetch(address, since: version) }
        let fetching = fetch.step(waited: stages.timer.now - start)
        switch fetch.result {
        case .success(let fetched):
            // The picture may be another one by now than that whose header was remembered.
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
        // What a plugin leaves behind when it gives up is no picture.
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

    /// A plugin's own doing. The one that the codec was told of is told how large the picture is.
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

    /// How large a picture is, as it is shown; `nil` if it was not reduced.
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
