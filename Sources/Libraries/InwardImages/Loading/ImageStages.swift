import InwardCore

/// What loads are made of, shared by all loaders over the same source: to fetch, to decode, and one stage for each plugin. A
/// stage that is asked for while it is under way is done once, and what comes of it is kept.
final class ImageStages: Sendable {
    let codec: any ImageCodec
    let limits: ImageLimits
    let store: (any ImageDataCache)?
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
        store: (any ImageDataCache)?,
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
        fetches = SingleFlight(whenAbandoned: .cancel, executor: executor)
        products = SingleFlight(whenAbandoned: .cancel, executor: executor)
    }

    deinit { cache.closePartition(partition) }

    /// What a load of an image that begins now belongs to. A load that begins behind `forget` has nothing from one that began
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
        case .fulfilled(.success(let product)): return isShared ? product.shared : product
        case .cancelled: return StageProduct(.failure(.cancelled(key.address)))
        case .deadlinePassed: return StageProduct(.failure(.timedOut(key.address)))
        }
    }

    /// The bytes at an address, and what they say of the image.
    func fetch(_ address: ImageAddress, since version: Int) async -> ImageFetch {
        if case .failure(let absence)? = header(of: address) {
            return ImageFetch(result: .failure(absence), origin: .memory)
        }
        let question = Versioned(base: address, version: version)
        if let fetched = fetchedImages.image(for: question) {
            return ImageFetch(result: .success(fetched), origin: .shared)
        }
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
        case .fulfilled(let answer): return ImageFetch(result: answer, origin: origin)
        case .cancelled: return ImageFetch(result: .failure(.cancelled(address)), origin: origin)
        case .deadlinePassed: return ImageFetch(result: .failure(.timedOut(address)), origin: origin)
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

extension ImageStages {
    /// The image in bytes that were fetched, once there is room for it and for what is done to it.
    ///
    /// - Parameters:
    ///   - fetched: The bytes.
    ///   - step: How they came.
    ///   - reduction: What the sides of the image are divided by.
    ///   - processingBytes: How many bytes the plugins take beside the image.
    ///   - address: Where it came from.
    /// - Returns: what came of it, with a share of the budget.
    func decoded(
        _ fetched: FetchedImage,
        _ step: ImageLoadReport.Step,
        reducedBy reduction: Int,
        processingBytes: Int,
        _ address: ImageAddress
    ) async -> StageProduct {
        let header = fetched.header
        let bytes = header.bytes(reducedBy: reduction, processingBytes: processingBytes)
        if let refusal = limits.refusal(of: header) ?? budget.refusal(of: bytes, for: header) {
            let error = ImageError(.tooLarge, of: address, explanation: refusal)
            return StageProduct(.failure(error), steps: [step])
        }
        guard let share = await budget.admission(of: bytes) else {
            return StageProduct(.failure(.cancelled(address)), steps: [step])
        }
        await leaveCallersThread()
        let start = timer.now
        let options = ImageDecodingOptions(reduction: reduction, allowsTruncation: allowsTruncation)
        let result = await withinDecodingTime(address) { () throws(ImageCodecError) in
            try codec.image(from: fetched.bytes, options)
        }
        let decoding = ImageLoadReport.Step(
            name: "decode",
            origin: .done,
            duration: timer.now - start,
            bytes: result.byteCount
        )
        var product = StageProduct(result, shares: [share], steps: [step, decoding])
        product.hasRoom = true
        product.header = header
        product.isKeepable = product.isKeepable && fetched.isGenuine
        product.expiry = fetched.expiry
        return product
    }

    /// Has a codec work no longer than the limit allows.
    func withinDecodingTime<Value: Sendable>(
        _ address: ImageAddress,
        _ work: () throws(ImageCodecError) -> Value
    ) async -> Result<Value, ImageError> {
        let deadline = Deadline(in: limits.decodingTime, on: timer)
        return await deadline.carried(by: work).mapError { error in
            guard error.reason == .timedOut, deadline.hasPassed else { return ImageError(error, of: address) }
            let explanation = "took longer to decode than the \(limits.decodingTime) allowed"
            return ImageError(.timedOut, of: address, explanation: explanation)
        }
    }

    /// Whoever asked may be on a thread that has to go on, such as the main one, and a stage begins there. What takes long is not
    /// done there.
    func leaveCallersThread() async { await Task.yield() }
}

extension ImageHeader {
    /// How many bytes it takes in all to decode the image and then to process it: decoding has ended by then.
    fileprivate func bytes(reducedBy reduction: Int, processingBytes: Int) -> Int {
        let (processing, isTooMany) = size.divided(by: reduction).byteCount.addingReportingOverflow(processingBytes)
        return isTooMany ? .max : max(bytes(reducedBy: reduction), processing)
    }
}

extension ImageStages {
    /// The image that a store has; `nil` if it has none, or none that can be read here.
    func product(of key: ImageKey, in store: any ImageDataCache) async -> StageProduct? {
        let start = timer.now
        guard let bytes = await store.bytes(of: key), let header = try? codec.header(of: bytes) else { return nil }
        let decodingBytes = header.bytes(reducedBy: 1)
        guard limits.refusal(of: header) == nil, budget.refusal(of: decodingBytes, for: header) == nil,
            let share = await budget.admission(of: decodingBytes)
        else { return nil }
        await leaveCallersThread()
        guard let image = try? codec.image(from: bytes, ImageDecodingOptions()) else { return nil }
        let step = ImageLoadReport.Step(
            name: "store",
            origin: .store,
            duration: timer.now - start,
            bytes: image.size.byteCount
        )
        return StageProduct(.success(image), shares: [share], steps: [step])
    }

    /// Hands an image to a store, unless it came of a failure, may have been cut short, or was forgotten meanwhile.
    ///
    /// - Returns: the image without its share of the budget, which is not held while the store takes its time.
    func keep(
        _ product: consuming StageProduct,
        of key: ImageKey,
        in store: any ImageDataCache,
        since version: Int
    ) async -> StageProduct {
        let bytes = encodedForStore(product)
        product.shares = []
        guard let bytes, version == self.version(of: key.address) else { return product }
        await store.keep(bytes, of: key)
        // Who forgot it while it was being kept may have come too soon for the store.
        if version != self.version(of: key.address) { await store.forget(key.address) }
        return product
    }

    private func encodedForStore(_ product: StageProduct) -> [UInt8]? {
        guard product.isKeepable, !allowsTruncation, case .success(let image) = product.result else { return nil }
        return try? codec.bytes(of: image, as: encoding)
    }
}

/// What came of the stages of a load so far.
struct StageProduct: Sendable {
    var result: ImageResult
    /// The shares of the budget that the image takes while it is worked on.
    var shares: [DecodingBudget.Admission]
    /// Whether they are enough for all that is yet to be done by whoever had it made.
    var hasRoom = false
    /// What was decoded; `nil` if it is not known any more.
    var header: ImageHeader?
    /// Whether it may be kept: not if it came of a failure, even if it is an image by now.
    var isKeepable: Bool
    /// When what it came of is too old to be kept, as the timer of the cache tells the time; `nil` where that is not known.
    var expiry: Duration?
    var steps: [ImageLoadReport.Step]

    init(
        _ result: ImageResult,
        shares: [DecodingBudget.Admission] = [],
        steps: [ImageLoadReport.Step] = []
    ) {
        self.result = result
        self.shares = shares
        self.steps = steps
        isKeepable = if case .success = result { true } else { false }
    }

    /// What was kept in memory for a key.
    init(kept image: ImageCache.Kept<Image>, for key: ImageKey) {
        let name = key.plugins.last.map(ImageLoadReport.Step.name(of:)) ?? "decode"
        self.init(.success(image.value), steps: [.memory(name, image.value)])
        expiry = image.expiry
    }

    /// How it looks to whoever did not have it made.
    var shared: StageProduct {
        var shared = self
        shared.hasRoom = false
        shared.steps = steps.map(\.shared)
        return shared
    }
}
