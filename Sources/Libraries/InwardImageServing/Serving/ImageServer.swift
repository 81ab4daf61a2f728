public import InwardCore
public import InwardFetching
public import InwardImages

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A server of processed images for the route `/images/{signature}/{recipe}/{address}` of any HTTP framework.
///
/// ```swift
/// func makeServer(_ signer: ImageURLSigner, digest: @escaping @Sendable ([UInt8]) -> [UInt8]) -> ImageServer {
///     ImageServer(
///         source: source,
///         codec: codec,
///         signer: signer,
///         formats: ImageFormatNegotiation(opaque: .jpeg(quality: 82)),
///         policy: ImageServingPolicy(maximumAge: .seconds(86_400), placeholder: .color(Color(gray: 224))),
///         budget: budget,
///         digest: digest,
///         errorHandler: IgnoringErrorHandler().logging { print($0) }
///     )
/// }
///
/// func answer(_ request: ImageRequest, with server: ImageServer) async -> DataResponse {
///     await server.response(to: request, at: .now)
/// }
/// ```
///
/// A request goes through these steps:
///
/// 1. The signature is verified, before anything in the path is read. A forged URL gets 403, an expired one 410.
/// 2. The format is chosen from the field `Accept`.
/// 3. The encoded image is looked up in memory, then in the store. If it is in neither, the image is loaded, processed by the
///    recipe, and encoded, within the memory budget. Concurrent requests for the same image in the same format share this work. A
///    request that is cancelled leaves it to the others.
/// 4. The response has an entity tag. It is 304 without a body if the client already has the image.
///
/// If the image cannot be loaded, the response is the ``ErrorPlaceholder`` with the status of the error. If no font has a character of
/// a watermark, it is 422 with an explanation, because the recipe has to change. Substitutes from the source, such as the fallback of
/// a data fetcher, are sent but not cached.
public final class ImageServer: Sendable {
    private let requests: SignedRequests
    private let policy: ImageServingPolicy
    private let typesetter: (any Typesetter)?
    private let store: (any EncodedImageStore)?
    private let digest: @Sendable ([UInt8]) -> [UInt8]
    private let errorHandler: any ErrorHandler
    private let loader: ImageLoader
    private let cache: ImageVariantCache
    private let placeholders: PlaceholderEncoder
    private let flights: SingleFlight<ImageVariantKey, ImageVariant, ImageServingError>

    /// Creates a server.
    ///
    /// - Parameters:
    ///   - source: The source of the originals. Signed addresses come from the service, but guard the source anyway if users can
    ///     choose parts of them: see ``FetchingImageSource``.
    ///   - codec: The codec that decodes the originals and encodes the results.
    ///   - signer: The signer that verifies URLs.
    ///   - formats: The formats that clients can get. The codec must be able to write them.
    ///   - policy: The lifetimes, the limits and the placeholder.
    ///   - budget: The limit for memory and for concurrent fetches. It also covers encoding.
    ///   - typesetter: The typesetter for the texts of watermarks, such as `PangoTypesetter` of `InwardVips`, or `nil` for the
    ///     built-in font, which has printable ASCII characters only. If you change its fonts, change the policy's `version` as well.
    ///   - store: The store for encoded images, or `nil` to keep them in memory only.
    ///   - digest: Returns a digest of an encoded image for its entity tag, such as its SHA-256 hash or the first 16 bytes of it.
    ///     Different images must have different digests.
    ///   - errorHandler: Receives all errors except cancellations. They include invalid signatures, which anybody can cause, so wrap
    ///     it with `droppingRepeats(within:clock:)`.
    ///   - timer: The timer service that measures decoding times.
    ///   - executor: The executor for loading, processing and encoding. `nil` selects the default executor. Codecs keep their
    ///     thread busy, so pass `DedicatedThreads` of `InwardScopes` if the process also serves other requests.
    ///   - observer: The observer of loads, or `nil` for none.
    public init(
        source: any ImageSource,
        codec: any ImageCodec,
        signer: ImageURLSigner,
        formats: ImageFormatNegotiation = ImageFormatNegotiation(),
        policy: ImageServingPolicy = ImageServingPolicy(),
        budget: DecodingBudget = DecodingBudget(),
        typesetter: (any Typesetter)? = nil,
        store: (any EncodedImageStore)? = nil,
        digest: @escaping @Sendable ([UInt8]) -> [UInt8],
        errorHandler: any ErrorHandler,
        timer: TimerService = .continuous,
        executor: (any TaskExecutor)? = nil,
        observer: (any ImageObserver)? = nil
    ) {
        requests = SignedRequests(
            signer: signer,
            formats: formats,
            version: policy.version,
            hasTypesetter: typesetter != nil
        )
        self.policy = policy
        self.typesetter = typesetter
        self.store = store
        self.digest = digest
        self.errorHandler = errorHandler
        loader = ImageLoader(
            source: source,
            codec: codec,
            limits: policy.limits,
            cache: ImageCache(bytes: policy.decodedBytes, lifetime: .seconds(60), timer: timer),
            budget: budget,
            timer: timer,
            executor: executor,
            observer: observer
        )
        cache = ImageVariantCache(bytes: policy.cacheBytes)
        placeholders = PlaceholderEncoder(codec: codec, formats: formats)
        flights = SingleFlight(whenAbandoned: .cancel, executor: executor)
    }

    /// Answers a request.
    ///
    /// Give the task a deadline with `Deadline.bound(_:)`. When it passes, the response is 503.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - date: The current date. It decides whether the URL and cached images have expired.
    /// - Returns: The response, with all header fields that it needs.
    public func response(to request: ImageRequest, at date: Date) async -> DataResponse {
        var response = ImageResponse(method: request.method)
        guard response.isSupported else { return response.methodNotAllowed() }
        let signed: SignedRequest
        do throws(ImageURLError) {
            let accept = request.headerFields.values(of: .accept)
            signed = try requests.request(request.path, accept: accept, at: date)
        } catch {
            errorHandler.handle(error)
            return response.problem(ProblemDetails(error, at: date))
        }
        do throws(ImageServingError) {
            let variant = try await variant(of: signed, at: date)
            response.maximumAge = min(signed.image.expiry ?? variant.expiry, variant.expiry).timeIntervalSince(date)
            return response.answer(variant, ifNoneMatch: request.headerFields.values(of: .ifNoneMatch))
        } catch {
            switch error {
            case .recipe(let error): return response.problem(ProblemDetails(error, at: date))
            case .image(let error):
                return await self.response(response, without: signed.image, because: ProblemDetails(error, at: date))
            }
        }
    }

    /// Returns the response to a request for an image that cannot be loaded.
    private func response(
        _ response: ImageResponse,
        without image: SignedImage,
        because problem: ProblemDetails
    ) async -> DataResponse {
        switch policy.placeholder {
        case .image(let body, let mediaType): return response.placeholder(body, mediaType, for: problem)
        case .color(let color):
            guard let (body, mediaType) = await placeholders.placeholder(color, for: image.recipe) else {
                return response.problem(problem)
            }
            return response.placeholder(body, mediaType, for: problem)
        case .problem: return response.problem(problem)
        }
    }

    /// Removes all images that came from an address, from memory and from the store.
    ///
    /// Requests that are under way may still get the image, but it is not cached. Caches of clients and of networks keep it until
    /// it expires.
    public func forget(_ address: ImageAddress) async {
        cache.removeAll(from: address)
        // Later requests must not join a load that began before.
        flights.detachAll()
        await loader.forget(address)
        await tryStore { store async throws(EncodedImageStoreError) in try await store.removeImages(from: address) }
    }
}

extension ImageServer {
    /// Returns an encoded image from memory, from a load in flight, or by loading it.
    private func variant(
        of signed: SignedRequest,
        at date: Date
    ) async throws(ImageServingError) -> ImageVariant {
        let (image, choice) = (signed.image, signed.choice)
        if let variant = cache.variant(for: signed.key, at: date) { return variant }
        let outcome = await flights.outcome(for: signed.key) { [self] key async throws(ImageServingError) in
            // Another request may have cached the image since the lookup above.
            if let variant = cache.variant(for: key, at: date) { return variant }
            let generation = cache.generation
            let variant: ImageVariant
            if let stored = await storedVariant(for: key, choice, at: date) {
                variant = stored
            } else {
                variant = try await loadedVariant(of: image, choice, at: date)
                if variant.isGenuine { await keep(variant, for: key, since: generation) }
            }
            if variant.isGenuine { cache.insert(variant, for: key, since: generation) }
            return variant
        }
        switch outcome {
        case .fulfilled(let answer): return try answer.get()
        case .cancelled:
            let error = ImageError(
                .cancelled,
                of: image.address,
                explanation: "was not served: the task was cancelled"
            )
            throw .image(error)
        case .deadlinePassed:
            let error = ImageError(.timedOut, of: image.address, explanation: "was not served before the deadline")
            throw reported(.image(error))
        }
    }

    /// Loads, processes and encodes an image.
    private func loadedVariant(
        of image: SignedImage,
        _ choice: ImageFormatNegotiation.Choice,
        at date: Date
    ) async throws(ImageServingError) -> ImageVariant {
        var loader = loader
        var encoding = choice.opaque
        for plugin in try plugins(of: image) { loader.addPlugin(plugin) }
        do throws(ImageError) {
            let encoded = try await loader.loadEncodedImage(from: image.address) { image in
                encoding = choice.encoding(for: image)
                return encoding
            }
            return ImageVariant(
                body: Data(encoded.bytes),
                mediaType: encoding.format.mediaType,
                entityTag: EntityTag(digest: digest(encoded.bytes)),
                expiry: date.addingTimeInterval(policy.lifetime),
                isGenuine: encoded.isGenuine
            )
        } catch {
            throw reported(.image(error))
        }
    }

    private func plugins(of image: SignedImage) throws(ImageServingError) -> PluginCollection<ImageResult> {
        do throws(TypesettingError) { return try image.recipe.plugins(typesetter: typesetter) } catch {
            throw reported(ImageServingError(error, of: image.address))
        }
    }

    /// Reports an error where it occurs, and not once for each request that waits. Returns the error.
    private func reported(_ error: ImageServingError) -> ImageServingError {
        switch error {
        case .recipe(let cause): errorHandler.handle(cause)
        case .image(let cause) where cause.reason == .cancelled: break
        case .image(let cause): errorHandler.handle(cause)
        }
        return error
    }

    /// Returns an image from the store, or `nil` if the store has none that can be served.
    private func storedVariant(
        for key: ImageVariantKey,
        _ choice: ImageFormatNegotiation.Choice,
        at date: Date
    ) async -> ImageVariant? {
        let stored = await tryStore { store async throws(EncodedImageStoreError) in try await store.image(for: key) }
        guard let stored = stored ?? nil else { return nil }
        let mediaTypes = [choice.opaque, choice.transparent].map(\.format.mediaType)
        guard date < stored.expiry, mediaTypes.contains(stored.mediaType) else {
            await tryStore { store async throws(EncodedImageStoreError) in try await store.removeImage(for: key) }
            return nil
        }
        return ImageVariant(
            body: stored.bytes,
            mediaType: stored.mediaType,
            entityTag: EntityTag(digest: digest([UInt8](stored.bytes))),
            // The policy may have changed since.
            expiry: min(stored.expiry, date.addingTimeInterval(policy.lifetime)),
            isGenuine: true
        )
    }

    private func keep(_ variant: ImageVariant, for key: ImageVariantKey, since generation: Int) async {
        guard generation == cache.generation else { return }
        let image = StoredImage(bytes: variant.body, mediaType: variant.mediaType, expiry: variant.expiry)
        await tryStore { store async throws(EncodedImageStoreError) in try await store.insert(image, for: key) }
        // The image was forgotten during the call. The store may have removed the old image before it inserted this one.
        guard generation != cache.generation else { return }
        await tryStore { store async throws(EncodedImageStoreError) in try await store.removeImage(for: key) }
    }

    /// Calls the store if there is one, and reports a failure.
    @discardableResult
    private func tryStore<Value>(
        _ call: (any EncodedImageStore) async throws(EncodedImageStoreError) -> Value
    ) async -> Value? {
        guard let store else { return nil }
        do throws(EncodedImageStoreError) { return try await call(store) } catch {
            errorHandler.handle(error)
            return nil
        }
    }
}
