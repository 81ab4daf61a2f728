public import Configuration
public import Foundation
public import Logging
public import Tracing

/// The settings of the service, from its command line, its environment and its configuration file.
///
/// ```swift
/// let reader = ConfigReader(provider: InMemoryProvider(values: ["port": 9000]))
/// let settings = try ServiceSettings(reader)
/// ```
public struct ServiceSettings: Hashable, Sendable {
    /// The address to listen on.
    public var host = "127.0.0.1"
    /// The port to listen on; 0 for any that is free.
    public var port = 8080
    /// The base address of the upstream; `nil` for the built-in sample.
    public var upstream: URL?
    /// The address that answers with tokens of users of the upstream; `nil` if the upstream needs none.
    public var tokenEndpoint: URL?
    /// How long a user who has signed in can use the token.
    public var signInLifetime = Duration.seconds(43_200)
    /// Where writes and responses are kept across restarts; `nil` to send each write immediately, and to keep nothing.
    public var store: StoreLocation?
    /// The keys that sign the URLs of images. The first one signs. Without keys, the URLs are valid until the process ends.
    public var imageKeys: [ImageKey] = []
    /// The time within which the content of each request must arrive, and then the time within which it is answered or fails with
    /// 503.
    public var timeLimit = Duration.seconds(10)
    /// How long caches in front of the service may use an answer without asking again.
    public var maximumAge = Duration.seconds(5)
    /// How long an answer to guests is given again without reading, unless something is written here.
    public var reuseFor = Duration.milliseconds(100)
    /// How long users and posts of the upstream are used before they are read again.
    public var staleAfter = Duration.seconds(60)
    /// How long a shutdown waits for work in flight and for pending writes.
    public var drainLimit = Duration.seconds(20)
    /// The maximum number of requests that are processed at a time. Others are refused with 503.
    public var concurrentRequests = 1_024
    /// How many requests a user who has signed in may send in a second, on average. Others are refused with 429.
    public var requestsPerSecond = 100
    /// The maximum number of pages that follow the feed at a time. Others do not change until they are loaded again.
    public var liveConnections = 1_000
    /// The port for operators on the loopback interface, with metrics and the outbox; 0 for any that is free.
    public var operatorPort = 8081
    /// The form of log records.
    public var logFormat = LogFormat.text
    /// The share of requests whose spans are logged, from 0 to 1, among those for which the client has not begun a trace. With 0, nothing
    /// is traced.
    public var traceShare = 0.0
    /// The maximum number of connections at a time. Others wait until one closes.
    public var connections = 4_096
    /// How long a connection may be silent before it is closed.
    public var idleTimeout = Duration.seconds(60)

    /// The names of all settings. Each property has the name of its setting.
    static let names = Set(Mirror(reflecting: ServiceSettings()).children.compactMap { $0.label })

    /// The name of the upstream in messages for operators.
    var upstreamTitle: String { upstream?.absoluteString ?? "the built-in sample" }

    /// Creates the default settings.
    public init() {}

    /// Reads the settings. Missing settings keep their defaults.
    ///
    /// - Throws: A ``SettingError`` that names the first setting with an invalid value.
    public init(_ reader: ConfigReader) throws(SettingError) {
        if let host = try reader.text("host") { self.host = host }
        port = try reader.number("port", in: 0...65_535, or: port)
        if let upstream = try reader.text("upstream") { self.upstream = try Self.address(upstream, "upstream") }
        if let endpoint = try reader.text("tokenEndpoint") {
            tokenEndpoint = try Self.address(endpoint, "tokenEndpoint")
        }
        signInLifetime = try reader.seconds("signInLifetime", in: 1...31_536_000, or: signInLifetime)
        if let store = try reader.text("store") { self.store = StoreLocation(store) }
        if let keys = try reader.text("imageKeys") { imageKeys = try Self.imageKeys(keys) }
        timeLimit = try reader.seconds("timeLimit", in: 0.001...3_600, or: timeLimit)
        maximumAge = try reader.seconds("maximumAge", in: 0...86_400, or: maximumAge)
        reuseFor = try reader.seconds("reuseFor", in: 0...60, or: reuseFor)
        staleAfter = try reader.seconds("staleAfter", in: 0...86_400, or: staleAfter)
        drainLimit = try reader.seconds("drainLimit", in: 0...3_600, or: drainLimit)
        concurrentRequests = try reader.number("concurrentRequests", in: 1...1_000_000, or: concurrentRequests)
        requestsPerSecond = try reader.number("requestsPerSecond", in: 1...1_000_000, or: requestsPerSecond)
        liveConnections = try reader.number("liveConnections", in: 0...1_000_000, or: liveConnections)
        operatorPort = try reader.number("operatorPort", in: 0...65_535, or: operatorPort)
        if let format = try reader.text("logFormat") {
            guard let format = LogFormat(rawValue: format) else {
                throw SettingError("logFormat", "must be “text” or “json”")
            }
            logFormat = format
        }
        traceShare = try reader.number("traceShare", in: 0...1, or: traceShare)
        connections = try reader.number("connections", in: 1...1_000_000, or: connections)
        idleTimeout = try reader.seconds("idleTimeout", in: 1...3_600, or: idleTimeout)
    }

    /// Returns a tracer that logs the spans of requests; `nil` if nothing is traced.
    ///
    /// - Parameter logger: The log.
    /// - Returns: The tracer.
    public func tracer(_ logger: Logger) -> (any Tracer)? {
        traceShare > 0 ? SpanLog(share: traceShare, logger: logger) : nil
    }

    private static func imageKeys(_ text: String) throws(SettingError) -> [ImageKey] {
        let parts = text.split(separator: ",")
        let keys = parts.compactMap { ImageKey(String($0)) }
        guard !keys.isEmpty, keys.count == parts.count, Set(keys.map(\.id)).count == keys.count else {
            // The message omits the text, because it contains secrets.
            throw SettingError(
                "imageKeys",
                "must be keys such as “2027a:” followed by at least 32 bytes in base64, separated by commas"
            )
        }
        return keys
    }

    private static func address(_ text: String, _ name: String) throws(SettingError) -> URL {
        // The message omits the text, because it may contain a password.
        guard let url = URL(string: text), ["http", "https"].contains(url.scheme?.lowercased()),
            let host = url.host(), !host.isEmpty, url.user() == nil, url.password() == nil, url.query() == nil,
            url.fragment() == nil
        else {
            throw SettingError(
                name,
                "must be an address such as https://example.org/api, without user name, password, “?” and “#”"
            )
        }
        return url
    }
}

/// Where a service keeps writes and responses across restarts.
public enum StoreLocation: Hashable, Sendable {
    /// A directory, for one instance. Another process does not notice at once what it writes.
    case directory(String)
    /// A database of a PostgreSQL server, which the instances of several machines can share. The text can contain a password.
    case postgreSQL(String)

    /// Reads a location: the URI of a database, such as `postgresql://db.example.org/feed`, or the path of a directory.
    public init(_ text: String) {
        let isDatabase = ["postgresql://", "postgres://"].contains { text.lowercased().hasPrefix($0) }
        self = isDatabase ? .postgreSQL(text) : .directory(text)
    }

    /// Checks that a directory has the store of a service. Otherwise, a command that only looks into the store would create one.
    ///
    /// ```swift
    /// try StoreLocation("data").checkExistence()
    /// ```
    ///
    /// - Throws: A ``SettingError`` if the directory does not exist, or has no store.
    public func checkExistence() throws(SettingError) {
        guard case .directory(let path) = self else { return }
        guard FileManager.default.fileExists(atPath: path) else {
            throw SettingError("store", "must be the directory of a service, and “\(path)” does not exist")
        }
        // If it cannot be listed, the store says why when it is opened.
        let names = try? FileManager.default.contentsOfDirectory(atPath: path)
        guard names?.contains("records") != false else {
            throw SettingError("store", "must be the directory of a service, and “\(path)” has no store")
        }
    }
}

/// An error that names a setting with an invalid value.
public struct SettingError: Error, Hashable, CustomStringConvertible {
    /// The name of the setting.
    public let setting: String
    private let rule: String

    init(_ setting: String, _ rule: String) {
        self.setting = setting
        self.rule = rule
    }

    /// The setting and its rule, as a sentence.
    public var description: String { "The setting “\(setting)” \(rule)." }
}

extension ConfigReader {
    /// Whether any provider has a value of any type.
    private func has(_ name: String) -> Bool {
        let key = ConfigKey(name)
        return string(forKey: key) != nil || int(forKey: key) != nil || double(forKey: key) != nil
            || bool(forKey: key) != nil
    }

    fileprivate func text(_ name: String) throws(SettingError) -> String? {
        guard let text = string(forKey: ConfigKey(name)) else {
            if has(name) { throw SettingError(name, "must be text") }
            return nil
        }
        guard !text.isEmpty else { throw SettingError(name, "must not be empty") }
        return text
    }

    fileprivate func number(_ name: String, in range: ClosedRange<Int>, or standard: Int) throws(SettingError) -> Int {
        let number = int(forKey: ConfigKey(name))
        if number == nil, !has(name) { return standard }
        guard let number, range.contains(number) else {
            throw SettingError(name, "must be a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    fileprivate func seconds(
        _ name: String,
        in range: ClosedRange<Double>,
        or standard: Duration
    ) throws(SettingError) -> Duration {
        .seconds(try number(name, in: range, or: standard / .seconds(1), of: "seconds"))
    }

    fileprivate func number(
        _ name: String,
        in range: ClosedRange<Double>,
        or standard: Double,
        of unit: String? = nil
    ) throws(SettingError) -> Double {
        // A number without a fraction may be stored as an integer.
        let number = double(forKey: ConfigKey(name)) ?? int(forKey: ConfigKey(name)).map(Double.init)
        if number == nil, !has(name) { return standard }
        guard let number, range.contains(number) else {
            let kind = unit.map { "a number of \($0)" } ?? "a number"
            throw SettingError(name, "must be \(kind) from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }
}
