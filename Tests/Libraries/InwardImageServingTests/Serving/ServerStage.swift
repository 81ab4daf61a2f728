import InwardCore
import InwardFetching
import InwardImages
import InwardTesting
import TestSupport

@testable import InwardImageServing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// An image server over doubles, and requests to it.
struct ServerStage: Sendable {
    static let now = Date(timeIntervalSince1970: 1_800_000_000)
    static let formats = ImageFormatNegotiation(
        preferring: [ImageEncoding(.webP, quality: 75)],
        opaque: .jpeg(quality: 82),
        transparent: .png
    )

    let source: SketchSource
    let codec: LabelCodec
    let errors = RecordingErrorHandler()
    let signer: ImageURLSigner
    let server: ImageServer

    init(
        _ source: SketchSource = SketchSource(["a": SketchCodec.bytes(8, 4)]),
        codec: LabelCodec = LabelCodec(),
        over other: (any ImageSource)? = nil,
        formats: ImageFormatNegotiation = formats,
        policy: ImageServingPolicy = ImageServingPolicy(maximumAge: .seconds(600), decodedBytes: 0),
        budget: DecodingBudget = DecodingBudget(bytes: 1_000_000),
        typesetter: (any Typesetter)? = nil,
        store: (any EncodedImageStore)? = nil,
        timer: TimerService = .still,
        executor: (any TaskExecutor)? = nil,
        digest: @escaping @Sendable ([UInt8]) -> [UInt8] = { StubAuthenticator(key: 0).authenticationCode(for: $0) }
    ) throws {
        self.source = source
        self.codec = codec
        signer = try .stub()
        server = ImageServer(
            source: other ?? source,
            codec: codec,
            signer: signer,
            formats: formats,
            policy: policy,
            budget: budget,
            typesetter: typesetter,
            store: store,
            digest: digest,
            errorHandler: errors,
            timer: timer,
            executor: executor
        )
    }

    /// Returns the response to a request for an image, which lasts for a number of seconds if that is given.
    func get(
        _ address: ImageAddress = "a",
        _ recipe: String = "grayscale",
        lasting lifetime: TimeInterval? = nil,
        method: String = "GET",
        accept: String? = nil,
        ifNoneMatch: String? = nil,
        after seconds: TimeInterval = 0
    ) async throws -> DataResponse {
        let expiry = lifetime.map { Self.now.addingTimeInterval($0) }
        let path = try signer.path(to: address, ImageRecipe(recipe, hasTypesetter: true), expiry: expiry)
        return await get(path: path, method: method, accept: accept, ifNoneMatch: ifNoneMatch, after: seconds)
    }

    func get(
        path: String,
        method: String = "GET",
        accept: String? = nil,
        ifNoneMatch: String? = nil,
        after seconds: TimeInterval = 0
    ) async -> DataResponse {
        var request = ImageRequest(method: method, path: path)
        request.headerFields[.accept] = accept
        request.headerFields[.ifNoneMatch] = ifNoneMatch
        return await server.response(to: request, at: Self.now.addingTimeInterval(seconds))
    }
}

extension DataResponse {
    /// The body as text.
    var text: String { String(decoding: body, as: UTF8.self) }
}
