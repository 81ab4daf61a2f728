import Foundation
public import InwardFetching
public import InwardImages
public import InwardRepositories

/// The settings of an app. The initializer validates them, so every configuration is valid.
///
///     let configuration = try AppConfiguration(upstream: "https://example.org/api", storeDirectory: "/var/lib/app")
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
    /// How long the upstream may be silent before a request fails.
    public private(set) var idleTimeout = Duration.seconds(10)
    /// The maximum size of an answer, in bytes.
    public private(set) var bodyLimit = 64 * 1_024 * 1_024
    /// How many bytes of fresh answers are cached in memory, for all sessions together.
    public private(set) var cacheLimit = 16 * 1_024 * 1_024
    /// How long users and posts stay fresh, and how long they are kept.
    public private(set) var lifetimes = Lifetimes()
    /// How many users, and how many posts, each session keeps in memory.
    public private(set) var memoryLimit = MemoryLimit()
    /// The path of the directory that keeps users, posts and writes across restarts; `nil` to keep none.
    public private(set) var storeDirectory: String?
    /// The limits for a single image.
    public private(set) var imageLimits = ImageLimits()
    /// How many bytes of images are cached in memory, for all sessions together.
    public private(set) var imageCacheLimit = 64 * 1_024 * 1_024
    /// How many bytes all images that are being decoded may take together.
    public private(set) var decodingLimit = 512 * 1_024 * 1_024
    /// The time limit of interactions that do not set their own.
    public private(set) var timeLimit = Duration.seconds(30)
    /// How long each object may take to close.
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
    ///   - idleTimeout: How long the upstream may be silent before a request fails. Must be greater than zero.
    ///   - bodyLimit: The maximum size of an answer in bytes, at least 1.
    ///   - cacheLimit: How many bytes of fresh answers are cached in memory, for all sessions together; 0 for none.
    ///   - lifetimes: How long users and posts stay fresh, and how long they are kept.
    ///   - memoryLimit: How many users, and how many posts, each session keeps in memory.
    ///   - storeDirectory: The path of a directory that keeps each session's users and posts across restarts, and its writes
    ///     until they are delivered. The directory is created if it does not exist, and must hold nothing else. `nil` to keep
    ///     users and posts in memory only, and to send writes at once.
    ///   - imageLimits: The limits for a single image.
    ///   - imageCacheLimit: How many bytes of images are cached in memory, for all sessions together; 0 for none.
    ///   - decodingLimit: How many bytes all images that are being decoded or processed may take together, at least 1. An image
    ///     that alone takes more is rejected.
    ///   - timeLimit: The time limit of interactions that do not set their own. Must be greater than zero.
    ///   - closingLimit: How long each object may take to close. Must be greater than zero.
    ///   - errorCollector: The web address to post failures to that no caller receives; `nil` to post none.
    ///   - allowsCredentialsOverPlainHTTP: Whether session credentials are sent over plain HTTP to an upstream on another
    ///     machine, where anybody on the network path can read them. If `false`, requests of sessions with credentials fail
    ///     there.
    ///   - policy: The timeouts, retries and limits for an upstream on the web, and for each host of images.
    /// - Throws: an ``AppConfigurationError`` that names the invalid setting and the reason.
    public init(
        upstream: String? = nil,
        idleTimeout: Duration = sample.idleTimeout,
        bodyLimit: Int = sample.bodyLimit,
        cacheLimit: Int = sample.cacheLimit,
        lifetimes: Lifetimes = sample.lifetimes,
        memoryLimit: MemoryLimit = sample.memoryLimit,
        storeDirectory: String? = nil,
        imageLimits: ImageLimits = sample.imageLimits,
        imageCacheLimit: Int = sample.imageCacheLimit,
        decodingLimit: Int = sample.decodingLimit,
        timeLimit: Duration = sample.timeLimit,
        closingLimit: Duration = sample.closingLimit,
        errorCollector: String? = nil,
        allowsCredentialsOverPlainHTTP: Bool = false,
        policy: UpstreamPolicy = .standard
    ) throws(AppConfigurationError) {
        guard idleTimeout > .zero else { throw AppConfigurationError("An idle timeout has to be over zero.") }
        guard bodyLimit > 0 else { throw AppConfigurationError("A body limit has to be at least 1 byte.") }
        guard cacheLimit >= 0 else { throw AppConfigurationError("A cache limit cannot be less than zero.") }
        guard storeDirectory != "" else { throw AppConfigurationError("The name of the store's directory is empty.") }
        guard imageCacheLimit >= 0 else { throw AppConfigurationError("A cache limit cannot be less than zero.") }
        guard decodingLimit > 0 else { throw AppConfigurationError("A decoding limit has to be at least 1 byte.") }
        guard timeLimit > .zero else { throw AppConfigurationError("A time limit has to be over zero.") }
        guard closingLimit > .zero else { throw AppConfigurationError("A closing limit has to be over zero.") }
        if let upstream { self.upstream = try Self.upstream(upstream) }
        if let errorCollector { self.errorCollector = try Self.collector(errorCollector) }
        self.idleTimeout = idleTimeout
        self.bodyLimit = bodyLimit
        self.cacheLimit = cacheLimit
        self.lifetimes = lifetimes
        self.memoryLimit = memoryLimit
        self.storeDirectory = storeDirectory
        self.imageLimits = imageLimits
        self.imageCacheLimit = imageCacheLimit
        self.decodingLimit = decodingLimit
        self.timeLimit = timeLimit
        self.closingLimit = closingLimit
        self.allowsCredentialsOverPlainHTTP = allowsCredentialsOverPlainHTTP
        self.policy = policy
    }

    private init() {}

    private static func collector(_ text: String) throws(AppConfigurationError) -> URL {
        guard case .web(let url) = try upstream(text) else {
            throw AppConfigurationError("An error collector's address begins with http:// or https://.")
        }
        return url
    }

    private static func upstream(_ text: String) throws(AppConfigurationError) -> UpstreamLocation {
        if let scheme = text.firstRange(of: "://").map({ text[..<$0.lowerBound].lowercased() }) {
            return .web(try webAddress(text, scheme: scheme))
        }
        guard !text.isEmpty else { throw AppConfigurationError("The upstream's name is empty.") }
        // The message omits the text, because it may contain a password.
        if let end = text.firstIndex(of: "@"), text[..<end].contains(":") {
            throw AppConfigurationError("An upstream's address begins with http:// or https://, and has no password.")
        }
        return .directory(URL(filePath: text, directoryHint: .isDirectory))
    }

    private static func webAddress(_ text: String, scheme: String) throws(AppConfigurationError) -> URL {
        guard ["http", "https"].contains(scheme) else {
            throw AppConfigurationError("An upstream's address begins with http:// or https://, not with \(scheme)://.")
        }
        guard let url = URL(string: text), let host = url.host(), !host.isEmpty else {
            throw AppConfigurationError("The upstream's address names no host.")
        }
        guard url.user() == nil, url.password() == nil else {
            throw AppConfigurationError("Leave the user name and the password out of the upstream's address.")
        }
        guard url.port.map((1...65_535).contains) ?? true else {
            throw AppConfigurationError("The port in the upstream's address is from 1 to 65535.")
        }
        guard url.query() == nil, url.fragment() == nil else {
            throw AppConfigurationError("An upstream's address ends with its path, without “?” and “#”.")
        }
        return url
    }
}

/// An error that describes an invalid setting.
public struct AppConfigurationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The invalid setting and the reason, as a complete sentence.
    public let description: String

    init(_ description: String) {
        self.description = description
    }
}
