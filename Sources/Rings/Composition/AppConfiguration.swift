import Foundation
public import InwardFetching
public import InwardImages
public import InwardRepositories

/// The settings of an app. The initializer validates them, so every configuration is valid.
///
/// ```swift
/// let configuration = try AppConfiguration(
///     upstream: "https://example.org/api",
///     cacheLimit: 32 * 1_024 * 1_024,
///     store: "/var/lib/example",
///     timeLimit: .seconds(5)
/// )
/// ```
public struct AppConfiguration: Hashable, Sendable {
    /// The available upstreams.
    enum UpstreamLocation: Hashable {
        case sample
        case web(URL)
        case directory(URL)
    }

    /// The default configuration, with the built-in sample as its upstream.
    public static let sample = Self()

    private(set) var upstream = UpstreamLocation.sample
    private(set) var errorCollector: URL?
    /// Whether session credentials are sent over plain HTTP to an upstream on another machine.
    public private(set) var allowsCredentialsOverPlainHTTP = false
    /// The timeouts, retries and limits for an upstream on the web, and for each host of images.
    public private(set) var policy = UpstreamPolicy.standard
    /// The time that the upstream may be silent before a request fails.
    public private(set) var idleTimeout = Duration.seconds(10)
    /// The maximum size of an answer, in bytes.
    public private(set) var bodyLimit = 64 * 1_024 * 1_024
    /// The capacity of the response cache in memory, in bytes, for all sessions together.
    public private(set) var cacheLimit = 16 * 1_024 * 1_024
    /// How long users and posts stay fresh, and how long they are kept.
    public private(set) var lifetimes = Lifetimes()
    /// The maximum number of users, and of posts, that each session keeps in memory.
    public private(set) var memoryLimit = MemoryLimit()
    /// The store that keeps users, posts and writes across restarts; `nil` to keep none.
    private(set) var store: StoreLocation?
    /// The limits for a single image.
    public private(set) var imageLimits = ImageLimits()
    /// The policy for image addresses besides those of the upstream's origin; `nil` to allow no others.
    public private(set) var imageAddressPolicy: AddressPolicy?
    /// Whether requests for images on the upstream's origin carry the session's credentials.
    public private(set) var sendsCredentialsForImages = false
    /// The capacity of the image cache in memory, in bytes, for all sessions together.
    public private(set) var imageCacheLimit = 64 * 1_024 * 1_024
    /// The maximum memory for decoding and processing images, in bytes, for all images together.
    public private(set) var decodingLimit = 512 * 1_024 * 1_024
    /// The time limit of interactions that do not set their own.
    public private(set) var timeLimit = Duration.seconds(30)
    /// The time that each object may take to close.
    public private(set) var closingLimit = Duration.seconds(5)

    /// The upstream's name in messages. It contains no credentials.
    public var upstreamName: String {
        switch upstream {
        case .sample: "the built-in sample"
        case .web(let url): url.absoluteString
        case .directory(let url): "the directory \(url.path(percentEncoded: false))"
        }
    }

    /// Creates a configuration.
    ///
    /// - Parameters:
    ///   - upstream: The address of an upstream, which begins with `http://` or `https://` and may have a path, or the path of
    ///     a directory that mirrors one; `nil` for the built-in sample.
    ///   - idleTimeout: The time that the upstream may be silent before a request fails. Must be greater than zero.
    ///   - bodyLimit: The maximum size of an answer in bytes, at least 1.
    ///   - cacheLimit: The capacity of the response cache in memory, in bytes, for all sessions together; 0 for no cache.
    ///   - lifetimes: How long users and posts stay fresh, and how long they are kept.
    ///   - memoryLimit: The maximum number of users, and of posts, that each session keeps in memory.
    ///   - store: What keeps each session's users and posts across restarts, and its writes until they are delivered: the path
    ///     of a directory, which is created if it does not exist and must hold nothing else, or a URI that begins with
    ///     `postgresql://`, if the trait PostgreSQL is enabled. `nil` to keep users and posts in memory only, and to send
    ///     writes at once.
    ///   - imageLimits: The limits for a single image.
    ///   - imageAddressPolicy: The policy for image addresses besides those of the upstream's origin, such as
    ///     `AddressPolicy.publicInternet`; `nil` to allow no others. Policies that check addresses need the trait
    ///     AsyncHTTPClient. It applies to an upstream on the web.
    ///   - sendsCredentialsForImages: Whether requests for images on the upstream's origin carry the session's credentials.
    ///   - imageCacheLimit: The capacity of the image cache in memory, in bytes, for all sessions together; 0 for no cache.
    ///   - decodingLimit: The maximum memory for decoding and processing images, in bytes, for all images together. Must be at
    ///     least 1. A single image that needs more is rejected.
    ///   - timeLimit: The time limit of interactions that do not set their own. Must be greater than zero.
    ///   - closingLimit: The time that each object may take to close. Must be greater than zero.
    ///   - errorCollector: The web address of a collector for failures that no caller receives; `nil` for none.
    ///   - allowsCredentialsOverPlainHTTP: Whether session credentials are sent over plain HTTP to an upstream on another
    ///     machine, where anyone on the network path can read them. If `false`, such requests fail.
    ///   - policy: The timeouts, retries and limits for an upstream on the web, and for each host of images.
    /// - Throws: An ``AppConfigurationError`` that names the invalid setting and the reason.
    public init(
        upstream: String? = nil,
        idleTimeout: Duration = sample.idleTimeout,
        bodyLimit: Int = sample.bodyLimit,
        cacheLimit: Int = sample.cacheLimit,
        lifetimes: Lifetimes = sample.lifetimes,
        memoryLimit: MemoryLimit = sample.memoryLimit,
        store: String? = nil,
        imageLimits: ImageLimits = sample.imageLimits,
        imageAddressPolicy: AddressPolicy? = nil,
        sendsCredentialsForImages: Bool = false,
        imageCacheLimit: Int = sample.imageCacheLimit,
        decodingLimit: Int = sample.decodingLimit,
        timeLimit: Duration = sample.timeLimit,
        closingLimit: Duration = sample.closingLimit,
        errorCollector: String? = nil,
        allowsCredentialsOverPlainHTTP: Bool = false,
        policy: UpstreamPolicy = .standard
    ) throws(AppConfigurationError) {
        guard idleTimeout > .zero else { throw AppConfigurationError("The idle timeout must be greater than zero.") }
        guard bodyLimit > 0 else { throw AppConfigurationError("The body limit must be at least 1 byte.") }
        guard cacheLimit >= 0 else { throw AppConfigurationError("The cache limit must not be negative.") }
        guard imageCacheLimit >= 0 else { throw AppConfigurationError("The image cache limit must not be negative.") }
        guard decodingLimit > 0 else { throw AppConfigurationError("The decoding limit must be at least 1 byte.") }
        guard timeLimit > .zero else { throw AppConfigurationError("The time limit must be greater than zero.") }
        guard closingLimit > .zero else { throw AppConfigurationError("The closing limit must be greater than zero.") }
        if let upstream { self.upstream = try Self.upstream(upstream) }
        if let store { self.store = try StoreLocation(store) }
        if let errorCollector { self.errorCollector = try Self.collector(errorCollector) }
        self.idleTimeout = idleTimeout
        self.bodyLimit = bodyLimit
        self.cacheLimit = cacheLimit
        self.lifetimes = lifetimes
        self.memoryLimit = memoryLimit
        self.imageLimits = imageLimits
        self.imageAddressPolicy = imageAddressPolicy
        self.sendsCredentialsForImages = sendsCredentialsForImages
        self.imageCacheLimit = imageCacheLimit
        self.decodingLimit = decodingLimit
        self.timeLimit = timeLimit
        self.closingLimit = closingLimit
        self.allowsCredentialsOverPlainHTTP = allowsCredentialsOverPlainHTTP
        self.policy = policy
    }

    private init() {}

    private static func collector(_ text: String) throws(AppConfigurationError) -> URL {
        guard let scheme = text.firstRange(of: "://").map({ text[..<$0.lowerBound].lowercased() }) else {
            throw AppConfigurationError("The error collector's address must begin with http:// or https://.")
        }
        return try webAddress(text, scheme: scheme, of: "error collector")
    }

    private static func upstream(_ text: String) throws(AppConfigurationError) -> UpstreamLocation {
        if let scheme = text.firstRange(of: "://").map({ text[..<$0.lowerBound].lowercased() }) {
            return .web(try webAddress(text, scheme: scheme, of: "upstream"))
        }
        guard !text.isEmpty else {
            throw AppConfigurationError("The upstream is empty. Pass a web address, or the path of a directory.")
        }
        // The message omits the text, because it may contain a password.
        if let end = text.firstIndex(of: "@"), text[..<end].contains(":") {
            throw AppConfigurationError(
                "The upstream's address must begin with http:// or https:// and must not contain a password."
            )
        }
        return .directory(URL(filePath: text, directoryHint: .isDirectory))
    }

    private static func webAddress(
        _ text: String,
        scheme: String,
        of subject: String
    ) throws(AppConfigurationError) -> URL {
        guard ["http", "https"].contains(scheme) else {
            throw AppConfigurationError(
                "The \(subject)'s address must begin with http:// or https://, but it begins with \(scheme)://."
            )
        }
        guard let url = URL(string: text), let host = url.host(), !host.isEmpty else {
            throw AppConfigurationError("The \(subject)'s address has no host.")
        }
        guard url.user() == nil, url.password() == nil else {
            throw AppConfigurationError("Remove the user name and the password from the \(subject)'s address.")
        }
        guard url.port.map((1...65_535).contains) ?? true else {
            throw AppConfigurationError("The port in the \(subject)'s address must be from 1 to 65535.")
        }
        guard url.query() == nil, url.fragment() == nil else {
            throw AppConfigurationError("The \(subject)'s address must end with its path, without “?” or “#”.")
        }
        return url
    }
}

/// An error that describes an invalid setting.
///
/// ```swift
/// do {
///     _ = try AppConfiguration(upstream: "ftp://example.org")
/// } catch {
///     print(error)  // The upstream's address must begin with http:// or https://, but it begins with ftp://.
/// }
/// ```
public struct AppConfigurationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The invalid setting and the reason, as a complete sentence.
    public let description: String

    init(_ description: String) {
        self.description = description
    }
}
