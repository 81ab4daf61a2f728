import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import InwardCore
import InwardFetching
import InwardScopes
import InwardTesting
import Logging
import NIOCore
import Testing

@testable import FeedService

/// A service over the built-in sample, or over a data fetcher, which answers requests without a network.
struct FeedStage {
    let app: FeedApp
    private let settings: ServiceSettings

    init(
        _ settings: ServiceSettings = ServiceSettings(),
        dataFetcher: (any DataFetcher)? = nil,
        observers: AppObservers = AppObservers(),
        reusingAnswersFor reuse: Duration = .zero,
        clock: any Clock<Duration> = ManualClock()
    ) async throws {
        var settings = settings
        settings.reuseFor = reuse
        self.settings = settings
        app = try await FeedApp(settings, dataFetcher: dataFetcher, observers: observers, clock: clock)
    }

    /// The methods and paths of the routes, with parameters in braces.
    var routes: [String] {
        FeedServer(app, settings).servingRouter.routes.map { route in
            let path = route.path.description.split(separator: "/").map {
                $0.hasPrefix(":") ? "{\($0.dropFirst())}" : $0
            }
            return "\(route.method) /\(path.joined(separator: "/"))"
        }
    }

    /// Returns the answer to one request.
    func answer(_ uri: String) async throws -> TestResponse {
        try await serving { try await $0.get(uri) }
    }

    /// Sends requests, and closes the app.
    @discardableResult
    func serving<Value>(_ test: @Sendable (any TestClientProtocol) async throws -> Value) async throws -> Value {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let value = try await FeedServer(app, settings).application(logger: logger).test(.router, test)
        if app.scope.isOpen { try await app.scope.close() }
        return value
    }
}

extension TestClientProtocol {
    func get(_ uri: String, _ fields: HTTPFields = [:]) async throws -> TestResponse {
        try await execute(uri: uri, method: .get, headers: fields)
    }

    /// Sends JSON.
    func send(
        _ method: HTTPRequest.Method,
        _ uri: String,
        _ json: String = "",
        _ fields: HTTPFields = [:]
    ) async throws -> TestResponse {
        var fields = fields
        if !json.isEmpty, fields[.contentType] == nil { fields[.contentType] = "application/json" }
        return try await execute(uri: uri, method: method, headers: fields, body: ByteBuffer(string: json))
    }

    /// Expects problem details, and returns the text for people.
    func problem(_ status: Int, at uri: String) async throws -> String {
        try await get(uri).problem(status)
    }
}

extension TestResponse {
    /// The body as a JSON object.
    var object: [String: Any] {
        get throws {
            let value = try JSONSerialization.jsonObject(with: Data(body.readableBytesView))
            return try #require(value as? [String: Any])
        }
    }

    /// Expects problem details, and returns the text for people.
    func problem(_ status: Int) throws -> String {
        #expect(self.status.code == status)
        #expect(headers[.contentType] == "application/problem+json")
        #expect(headers[.cacheControl] == "no-store")
        let problem = try object
        #expect(problem["status"] as? Int == status)
        return try #require(problem["detail"] as? String)
    }
}
