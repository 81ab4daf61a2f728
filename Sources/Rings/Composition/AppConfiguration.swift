import Foundation
public import InwardImages
public import InwardRepositories

/// What can be chosen of an app. A configuration that exists is valid.
public struct AppConfiguration: Hashable, Sendable {
    /// The upstreams to choose from.
    enum UpstreamLocation: Hashable {
        case sample
        case web(URL)
        case directory(URL)
    }

    /// The sample that is part of the program, with all else as it is by default.
    public static let sample = Self()

    private(set) var upstream = UpstreamLocation.sample
    private(set) var errorCollector: URL?
    /// Whether the credentials of sessions are sent by plain http to an upstream on another machine.
    public private(set) var allowsCredentialsOverPlainHTTP = false
    /// How much is expected of an upstream on the web, and how it is spared.
    public private(set) var policy = UpstreamPolicy.standard
    /// How long the upstream may send nothing before a request fails.
    public private(set) var idleTimeout = Duration.seconds(10)
    /// How many bytes an answer may have.
    public private(set) var bodyLimit = 64 * 1_024 * 1_024
    /// How many bytes of fresh answers are kept in memory, for all sessions together.
    public private(set) var cacheLimit = 16 * 1_024 * 1_024
    /// How long users and posts are fresh, and how long they are kept.
    public private(set) var lifetimes = Lifetimes()
    /// How many users, and how many posts, are kept in memory for each session.
    public private(set) var memoryLimit = MemoryLimit()
    /// The path of the directory where users, posts and writes are kept beyond the life of the process; `nil` if they are not.
    public private(set) var storeDirectory: String?
    /// What an image may be.
    public private(set) var imageLimits = ImageLimits()
    /// How many bytes of images are kept in memory, for all sessions together.
    public private(set) var imageCacheLimit = 64 * 1_024 * 1_024
    /// How many bytes images may take together while they are decoded.
    public private(set) var decodingLimit = 512 * 1_024 * 1_024
    /// How long an interaction may take that is not given a time.
    public private(set) var timeLimit = Duration.seconds(30)
    /// How long each object may take to close.
    public private(set) var closingLimit = Duration.seconds(5)

    /// What the upstream is called in messages. Free of credentials.
    public var upstreamName: String {
        switch upstream {
        case .sample: "the built-in sample"
        case .web(let url): url.absoluteString
        case .directory(let url): "the directory \(url.path(percentEncoded: false))"
        }
    }

    /// Chooses an upstream.
    ///
    /// - Parameters:
    ///   - upstream: The address of an upstream, which begins with `http://` or `https://` and may have a path, or the path
    ///     of a directory that mirrors one; `nil` for the sample that is part of the program.
    ///   - idleTimeout: How long the upstream may send nothing before a request fails, over zero.
    ///   - bodyLimit: How many bytes an answer may have, at least 1.
    ///   - cacheLimit: How many bytes of fresh answers are kept in memory, for all sessions together; 0 for none.
    ///   - lifetimes: How long users and posts are fresh, and how long they are kept.
    ///   - memoryLimit: How many users, and how many posts, are kept in memory for each session.
    ///   - storeDirectory: The path of a directory, which holds nothing else and is made if it does not exist, where users and
    ///     posts are kept beyond the life of the process, and writes until they are delivered, each for its session; `nil` to
    ///     keep them in memory, and to send writes at once.
    ///   - imageLimits: What an image may be.
    ///   - imageCacheLimit: How many bytes of images are kept in memory, for all sessions together; 0 for none.
    ///   - decodingLimit: How many bytes images may take together while they are decoded and processed, at least 1. One
    ///     that takes more alone is refused.
    ///   - timeLimit: How long an interaction may take that is not given a time, over zero.
    ///   - closingLimit: How long each object may take to close, over zero.
    ///   - errorCollector: The web address to post failures to that no caller receives; `nil` to post none.
    ///   - allowsCredentialsOverPlainHTTP: Whether the credentials of sessions are sent by plain http to an upstream on another
    ///     machine, where anybody on the way can read them. If not, what a session with credentials asks there fails.
    ///   - policy: How much is expected of an upstream on the web, and how it is spared.
    /// - Throws: an ``AppConfigurationError`` that says which choice is not possible, and why.
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
        // Not shown, because it looks like a password.
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

/// A choice that is not possible.
public struct AppConfigurationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Which choice, and why, as a whole sentence.
    public let description: String

    init(_ description: String) {
        self.description = description
    }
}
