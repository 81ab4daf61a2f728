import Crypto
import Entities
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import InterfaceAdapters
import InwardCore
import InwardFetching
import InwardImageServing
import InwardImages
import InwardScopes
import InwardVips
import NIOCore
import Synchronization

/// The images of users: their URLs in pages, and the route that serves them.
struct FeedImages: Sendable {
    /// How many days a URL in a page is valid. It is the same for a whole day, so that caches can keep the image.
    private static let lifetime = 7.0
    private static let day = 86_400.0

    private let server: ImageServer
    /// Signs the URLs of images.
    let signer: ImageURLSigner
    private let timeLimit: Duration
    private let timer: TimerService

    /// Creates the images.
    ///
    /// - Parameters:
    ///   - settings: The keys that sign URLs, and the time limit of requests.
    ///   - source: Returns the originals.
    ///   - store: Keeps encoded images; `nil` to keep them in memory only.
    ///   - timer: The clock of the time limit.
    ///   - errorHandler: Receives failures.
    init(
        _ settings: ServiceSettings,
        source: some ImageSource,
        store: (any EncodedImageStore)?,
        timer: TimerService,
        errorHandler: any ErrorHandler
    ) {
        signer = ImageURLSigner(settings.imageKeys)
        server = ImageServer(
            source: source,
            codec: VipsImageCodec(),
            signer: signer,
            formats: ImageFormatNegotiation(
                preferring: [ImageEncoding(.avif, quality: 55), ImageEncoding(.webP, quality: 75)],
                opaque: .jpeg(quality: 82),
                transparent: .png
            ),
            policy: ImageServingPolicy(placeholder: .color(Color(gray: 200))),
            budget: DecodingBudget(bytes: 256 * 1_024 * 1_024),
            typesetter: PangoTypesetter(),
            store: store,
            digest: { Array(SHA256.hash(data: $0).prefix(16)) },
            errorHandler: errorHandler.droppingRepeats(within: .seconds(10), clock: ContinuousClock()),
            timer: timer,
            executor: DedicatedThreads()
        )
        timeLimit = settings.timeLimit
        self.timer = timer
    }

    /// Returns the path of the square image of a user; `nil` if it cannot be signed.
    ///
    /// - Parameters:
    ///   - user: The user.
    ///   - side: The width and the height in pixels.
    ///   - date: The current date.
    /// - Returns: The path.
    func path(of user: User.ID, side: Int, at date: Date) -> String? {
        let size = ImageSize(clamping: side, side)
        guard let recipe = try? ImageRecipe(steps: [.resize(size, mode: .fill, enlarges: true)]) else { return nil }
        let days = (date.timeIntervalSince1970 / Self.day).rounded(.down) + Self.lifetime
        let expiry = Date(timeIntervalSince1970: days * Self.day)
        return (try? signer.path(to: .avatar(of: user), recipe, expiry: expiry)).map { "/images/\($0)" }
    }

    func addRoutes(to router: some RouterMethods<some RequestContext>) {
        for method in [HTTPRequest.Method.get, .head] {
            router.on("images/**", method: method) { request, _ in try await response(to: request) }
        }
    }

    private func response(to request: Request) async throws(ProblemDetails) -> Response {
        var fields = HeaderFields()
        for field in request.headers where [.accept, .ifNoneMatch].contains(field.name) {
            fields.append(HeaderField(field.name == .accept ? .accept : .ifNoneMatch, field.value))
        }
        let image = ImageRequest(
            method: request.method.rawValue,
            path: String(request.uri.path.dropFirst("/images/".count)),
            headerFields: fields
        )
        let answer = await Deadline(in: timeLimit, on: timer).bound { await server.response(to: image, at: Date()) }
        guard case .success(let response)? = answer else { throw .unavailable }
        return Response(response)
    }
}

/// A key that signs the URLs of images.
public struct ImageKey: Hashable, Sendable {
    /// The identifier, which is part of the URLs.
    public let id: String
    let bytes: Data

    /// Reads a key such as `2027a:` and at least 32 bytes in base64; `nil` for any other text.
    public init?(_ text: String) {
        let parts = text.split(separator: ":", maxSplits: 1)
        guard parts.count == 2, let bytes = Data(base64Encoded: String(parts[1])), bytes.count >= 32 else { return nil }
        (id, self.bytes) = (String(parts[0]), bytes)
        guard signingKey != nil else { return nil }
    }

    /// Creates a random key, for URLs that need not outlive the process.
    init() {
        // The system's generator is cryptographically secure.
        (id, bytes) = ("random", Data((0..<32).map { _ in UInt8.random(in: .min ... .max) }))
    }

    fileprivate var signingKey: ImageSigningKey? {
        ImageSigningKey(id: id, HMACAuthenticator(key: SymmetricKey(data: bytes)))
    }
}

extension ImageURLSigner {
    /// Creates a signer whose first key signs, and which accepts what the others have signed.
    fileprivate init(_ keys: [ImageKey]) {
        let all = (keys.isEmpty ? [ImageKey()] : keys).compactMap(\.signingKey)
        self.init(signingWith: all[0], verifyingWith: Array(all.dropFirst()))
    }
}

/// HMAC with SHA-256.
private struct HMACAuthenticator: MessageAuthenticator {
    let key: SymmetricKey

    func authenticationCode(for message: [UInt8]) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: message, using: key))
    }

    func isValidAuthenticationCode(_ code: [UInt8], for message: [UInt8]) -> Bool {
        HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: message, using: key)
    }
}

extension Response {
    /// Creates the server's form of a response.
    fileprivate init(_ response: DataResponse) {
        var fields = HTTPFields()
        for field in response.headerFields {
            if let name = HTTPField.Name(field.name.description) {
                fields.append(HTTPField(name: name, value: field.value))
            }
        }
        self.init(
            status: HTTPResponse.Status(code: response.status.code),
            headers: fields,
            body: response.body.isEmpty ? ResponseBody() : ResponseBody(byteBuffer: ByteBuffer(bytes: response.body))
        )
    }
}
