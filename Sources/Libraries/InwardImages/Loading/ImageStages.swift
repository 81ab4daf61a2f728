import InwardCore

/// The stages of image loads: fetching, decoding, and one stage for each plugin. A loader and its copies share them. Concurrent
/// requests for a stage are coalesced, and results are cached.
final class ImageStages: Sendable {
    let codec: any ImageCodec
    let limits: ImageLimits
    let store: (any ImageDataCache)?
    let encoding: ImageEncoding
    let allowsTruncation: Bool
    let timer: TimerService
    private let cache: ImageCache
    /// Separates this object's values from those of other loaders in the same cache.
    private let partition: Int
    let budget: DecodingBudget
    /// The budget's party number for this loader and its copies, which count as one.
    let party: Int
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
        party = budget.addParty()
        fetches = SingleFlight(whenAbandoned: .cancel, executor: executor)
        products = SingleFlight(whenAbandoned: .cancel, executor: executor)
    }

    deinit { cache.closePartition(partition) }

    /// Returns the invalidation generation for a load that starts now. A load that starts after `forget` shares nothing with
    /// earlier loads.
    func version(of address: ImageAddress) -> Int { cache.version(of: address, in: partition) }

    func image(for key: ImageKey) -> ImageCache.Kept<Image>? { cache.image(for: key, in: partition) }

    func header(of address: ImageAddress) -> Result<ImageHeader, ImageError>? {
        cache.header(of: address, in: partition)?.value
    }

    /// Removes what is cached for an address, or everything. The results of loads in flight are not cached, and later loads do
    /// not join them.
    func forget(_ address: ImageAddress?) async {
        cache.forget(address, in: partition)
        await store?.forget(address)
    }

    /// Returns the result of a stage from the cache, from a load in flight, or by running it.
    func product(
        for key: ImageKey,
        since version: Int,
        _ make: @escaping @Sendable () async -> StageProduct
    ) async -> StageProduct {
        if let image = image(for: key) { return StageProduct(kept: image, for: key) }
        var isShared = false
        let stage = Versioned(base: key, version: version)
        let outcome = await products.outcome(for: stage, noteJoining: { isShared = true }) { [self] stage in
            // Another load may have cached the image since the lookup above.
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

    /// Returns the encoded image at an address and its header.
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
            // Another load may have fetched the image since the lookup above.
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
        // Take the permit first, and then the memory. Decoding returns memory and needs no permit. So a load that holds a
        // permit and waits for memory never waits for a load that waits for a permit.
        guard let place = await budget.transfers.reservation(of: 1, for: party),
            let reservation = await budget.fetchingRoom.reservation(for: party)
        else { throw .cancelled(address) }
        let start = timer.now
        let expiry = cache.expiry
        let encoded = try await source.image(at: address, upTo: limits.encodedBytes)
        // Return the permit now, so that the next fetch can start. The memory is held until this image is decoded.
        place.resize(to: 0)
        budget.fetchingRoom.settle(reservation, on: encoded.bytes.count)
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
                reservation: reservation,
                onRelease: onRelease
            )
        }
    }
}

extension ImageStages {
    /// Decodes a fetched image once there is enough memory for decoding and processing.
    ///
    /// - Parameters:
    ///   - fetched: The encoded image.
    ///   - step: The report of the fetch.
    ///   - reduction: The number by which the sides of the image are divided.
    ///   - processingBytes: The number of bytes that the plugins need in addition to the image.
    ///   - address: The address of the image.
    /// - Returns: The result, with a memory reservation.
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
        guard let reservation = await budget.decodingRoom.reservation(of: bytes, for: party) else {
            return StageProduct(.failure(.cancelled(address)), steps: [step])
        }
        let start = timer.now
        let options = ImageDecodingOptions(reduction: reduction, allowsTruncation: allowsTruncation)
        // Stages start on the caller's thread, which may be the main thread. A child task leaves it.
        async let image = withinDecodingTime(address) { () async throws(ImageCodecError) in
            try await codec.decode(fetched.bytes, options)
        }
        let result = await image
        let decoding = ImageLoadReport.Step(
            name: "decode",
            origin: .done,
            duration: timer.now - start,
            bytes: result.byteCount
        )
        var product = StageProduct(result, reservations: [reservation], steps: [step, decoding])
        product.hasRoom = true
        product.header = header
        product.isKeepable = product.isKeepable && fetched.isGenuine
        product.expiry = fetched.expiry
        return product
    }

    /// Runs codec work within the decoding time limit.
    func withinDecodingTime<Value: Sendable>(
        _ address: ImageAddress,
        to verb: String = "decode",
        _ work: () async throws(ImageCodecError) -> Value
    ) async -> Result<Value, ImageError> {
        let deadline = Deadline(in: limits.decodingTime, on: timer)
        return await deadline.carried(by: work).mapError { error in
            guard error.reason == .timedOut, deadline.hasPassed else { return ImageError(error, of: address) }
            let explanation = "took longer to \(verb) than the \(limits.decodingTime) allowed"
            return ImageError(.timedOut, of: address, explanation: explanation)
        }
    }
}

extension ImageHeader {
    /// Returns the peak number of bytes for decoding the image and then processing it.
    fileprivate func bytes(reducedBy reduction: Int, processingBytes: Int) -> Int {
        let (processing, isTooMany) = size.divided(by: reduction).byteCount.addingReportingOverflow(processingBytes)
        return isTooMany ? .max : max(bytes(reducedBy: reduction), processing)
    }
}

extension ImageStages {
    /// Returns an image from a store, or `nil` if the store has none that can be decoded.
    func product(of key: ImageKey, in store: any ImageDataCache) async -> StageProduct? {
        let start = timer.now
        guard let bytes = await store.bytes(of: key), let header = try? codec.header(of: bytes) else { return nil }
        let decodingBytes = header.bytes(reducedBy: 1)
        guard limits.refusal(of: header) == nil, budget.refusal(of: decodingBytes, for: header) == nil,
            let reservation = await budget.decodingRoom.reservation(of: decodingBytes, for: party)
        else { return nil }
        // In a child task, like the decoding of fetched images.
        async let decoded = try? codec.decode(bytes, ImageDecodingOptions())
        guard let image = await decoded else { return nil }
        let step = ImageLoadReport.Step(
            name: "store",
            origin: .store,
            duration: timer.now - start,
            bytes: image.size.byteCount
        )
        return StageProduct(.success(image), reservations: [reservation], steps: [step])
    }

    /// Offers an image to a store, unless it comes from a failure, may be truncated, or was invalidated during the load.
    ///
    /// - Returns: The product without its memory reservation, which is not held while the store works.
    func keep(
        _ product: consuming StageProduct,
        of key: ImageKey,
        in store: any ImageDataCache,
        since version: Int
    ) async -> StageProduct {
        let bytes = await encodedForStore(product)
        product.reservations = []
        product.hasRoom = false
        guard let bytes, version == self.version(of: key.address) else { return product }
        await store.keep(bytes, of: key)
        // The image was invalidated during the call. The store may have removed the old image before it kept this one.
        if version != self.version(of: key.address) { await store.forget(key.address) }
        return product
    }

    private func encodedForStore(_ product: StageProduct) async -> [UInt8]? {
        guard product.isKeepable, !allowsTruncation, case .success(let image) = product.result else { return nil }
        return try? await codec.encode(image, as: encoding)
    }
}

/// The result of the stages of a load so far.
struct StageProduct: Sendable {
    var result: ImageResult
    /// The memory reservations that the image holds while it is processed.
    var reservations: [FairBudget.Reservation]
    /// Whether the reservations cover all remaining steps of the load that requested this product.
    var hasRoom = false
    /// The header of the decoded image, or `nil` if it is no longer known.
    var header: ImageHeader?
    /// Whether the product may be cached. It may not if it comes from a failure, even if a plugin replaced the failure with an
    /// image.
    var isKeepable: Bool
    /// When the product expires, in the time of the cache's timer, or `nil` if that is unknown.
    var expiry: Duration?
    var steps: [ImageLoadReport.Step]

    init(
        _ result: ImageResult,
        reservations: [FairBudget.Reservation] = [],
        steps: [ImageLoadReport.Step] = []
    ) {
        self.result = result
        self.reservations = reservations
        self.steps = steps
        isKeepable = if case .success = result { true } else { false }
    }

    /// Creates a product from an image that was cached in memory.
    init(kept image: ImageCache.Kept<Image>, for key: ImageKey) {
        let name = key.plugins.last.map(ImageLoadReport.Step.name(of:)) ?? "decode"
        self.init(.success(image.value), steps: [.memory(name, image.value)])
        expiry = image.expiry
    }

    /// The product as received by a load that joined the one that made it.
    var shared: StageProduct {
        var shared = self
        shared.hasRoom = false
        shared.steps = steps.map(\.shared)
        return shared
    }
}
