import InwardCore

/// What loads are made of, shared by all loaders over the same source: to fetch, to decode, and one stage for each plugin. A
/// stage that is asked for while it is under way is done once, and what comes of it is kept.
final class ImageStages: Sendable {
    let codec: any ImageCodec
    let limits: ImageLimits
    let store: (any ImageStore)?
    let encoding: ImageEncoding
    let allowsTruncation: Bool
    let timer: TimerService
    private let cache: ImageCache
    /// What tells what is kept here from what other loaders keep in the same cache.
    private let partition: Int
    let budget: DecodingBudget
    private let source: any ImageSource
    private let fetches: SingleFlight<Versioned<ImageAddress>, FetchedImage, ImageError>
    private let fetchedImages = FetchedImages()
    private let products: SingleFlight<Versioned<ImageKey>, StageProduct, Never>

    init(
        source: any ImageSource,
        codec: any ImageCodec,
        limits: ImageLimits,
        cache: ImageCache,
        budget: DecodingBudget,
        store: (any ImageStore)?,
        encoding: ImageEncoding,
        allowsTruncation: Bool,
        timer: TimerService,
        executor: (any TaskExecutor)?
    ) {
        self.source = source
        self.codec = codec
        self.limits = limits
        self.store = store
        self.encoding = encoding
        self.allowsTruncation = allowsTruncation
        self.timer = timer
        self.cache = cache
        self.budget = budget
        partition = cache.makePartition()
        fetches = SingleFlight(whenAbandoned: .cancels, executor: executor)
        products = SingleFlight(whenAbandoned: .cancels, executor: executor)
    }

    deinit { cache.closePartition(partition) }

    /// What a load of a picture that begins now belongs to. A load that begins behind `forget` has nothing from one that began
    /// before it.
    func version(of address: ImageAddress) -> Int { cache.version(of: address, in: partition) }

    func image(for key: ImageKey) -> ImageCache.Kept<Image>? { cache.image(for: key, in: partition) }

    func header(of address: ImageAddress) -> Result<ImageHeader, ImageError>? {
        cache.header(of: address, in: partition)?.value
    }

    /// Forgets what is kept of an address, or of all. What is under way is not kept, and not joined any more.
    func forget(_ address: ImageAddress?) async {
        cache.forget(address, in: partition)
        await store?.forget(address)
    }

    /// What comes of a stage: from memory, from whoever does it already, or done now.
    func product(
        for key: ImageKey,
        since version: Int,
        _ make: @escaping @Sendable () async -> StageProduct
    ) async -> StageProduct {
        if let image = image(for: key) { return StageProduct(kept: image, for: key) }
        var isShared = false
        let stage = Versioned(base: key, version: version)
        let outcome = await products.outcome(for: stage, noteJoining: { isShared = true }) { [self] stage in
            // Who did it just before has kept it since this was asked.
            if let image = image(for: stage.base) { return StageProduct(kept: image, for: stage.base) }
            let product = await make()
            if product.isKeepable, case .success(let image) = product.result {
                let kept = ImageCache.Kept(value: image, expiry: product.expiry ?? cache.expiry)
                cache.keep(kept, for: stage.base, in: partition, since: stage.version)
            }
            return product
        }
        switch outcome {
        case .kept(.success(let product)): return isShared ? product.shared : product
        case .cancelled: return StageProduct(.failure(.cancelled(key.address)))
        case .deadlinePassed: return StageProduct(.failure(.timedOut(key.address)))
        }
    }

    /// The bytes at an address, and what they say of the picture.
    func fetch(_ address: ImageAddress, since version: Int) async -> Fetch {
        if case .failure(let absence)? = header(of: address) {
            return Fetch(result: .failure(absence), origin: .memory)
        }
        let question = Versioned(base: address, version: version)
        if let fetched = fetchedImages.image(for: question) { return Fetch(result: .success(fetched), origin: .shared) }
        var origin = ImageLoadReport.Origin.done
        let outcome = await fetches.outcome(for: question, noteJoining: { origin = .shared }) {
            [self] question async throws(ImageError) in
            // Who fetched it just before has it since this was asked.
            if let fetched = fetchedImages.image(for: question) { return fetched }
            do throws(ImageError) {
                let fetched = try await fetched(question)
                if fetched.isGenuine {
                    cache.keep(fetched.header, of: question.base, in: partition, since: question.version)
                }
                return fetched
            } catch {
                cache.keep(error, of: question.base, in: partition, since: question.version)
                throw error
            }
        }
        switch outcome {
        case .kept(let answer): return Fetch(result: answer, origin: origin)
        case .cancelled: return Fetch(result: .failure(.cancelled(address)), origin: origin)
        case .deadlinePassed: return Fetch(result: .failure(.timedOut(address)), origin: origin)
        }
    }

    private func fetched(_ question: Versioned<ImageAddress>) async throws(ImageError) -> FetchedImage {
        let address = question.base
        guard let place = await budget.fetchingRoom.place() else { throw .cancelled(address) }
        let start = timer.now
        let expiry = cache.expiry
        let encoded = try await source.image(at: address, upTo: limits.encodedBytes)
        place.settle(on: encoded.bytes.count)
        guard encoded.bytes.count <= limits.encodedBytes else {
            let explanation = "has \(encoded.bytes.count) bytes, more than the \(limits.encodedBytes) allowed"
            throw ImageError(.tooLarge, of: address, explanation: explanation)
        }
        let header = try await withinDecodingTime(address) { () throws(ImageCodecError) in
            try codec.header(of: encoded.bytes)
        }.get()
        let duration = timer.now - start
        return fetchedImages.add(for: question) { onRelease in
            FetchedImage(
                encoded,
                header: header,
                expiry: expiry,
                duration: duration,
                place: place,
                onRelease: onRelease
            )
        }
    }
}
