import Entities
import Hummingbird
import HummingbirdCore
import InwardCore
import InwardFetching
import NIOCore
import UseCases

/// The routes of the JSON API.
struct FeedAPI {
    let app: FeedApp
    let settings: ServiceSettings
    private let answers = AnswerCache()

    init(_ app: FeedApp, _ settings: ServiceSettings) {
        self.app = app
        self.settings = settings
    }

    func addRoutes(to router: RouterGroup<FeedRequestContext>) {
        router.get("users") { request, context in
            let users = try await app.withReader(for: context.visitor) { try await $0.listUsers() }
            return try answer(UsersBody(users: users.value.map(UserBody.init)), users.freshness, to: request)
        }
        router.get("users/:id") { request, context in
            let profile = try await profile(context)
            return try answer(UserBody(profile.user.value), profile.user.freshness, to: request)
        }
        router.get("users/:id/posts") { request, context in
            let posts = try await profile(context).posts.get()
            return try answer(PostsBody(posts: posts.value.map(PostBody.init)), posts.freshness, to: request)
        }
        router.get("feed") { request, context in
            let query = try FeedQuery(QueryParameters(request.uri.query))
            let page = try await app.withReader(for: context.visitor) { try await $0.readFeed(query) }
            return try answer(FeedBody(page), page.freshness, to: request)
        }
        PostAPI(app: app, settings: settings).addRoutes(to: router)
        CommentAPI(app: app, settings: settings).addRoutes(to: router)
        SessionAPI(app: app).addRoutes(to: router)
        router.get("openapi.json") { _, _ in
            Response(
                status: .ok,
                headers: [.contentType: "application/json; charset=utf-8", .cacheControl: "public, max-age=3600"],
                body: ResponseBody(byteBuffer: ByteBuffer(bytes: PackageResources.openapi_json))
            )
        }
    }

    /// Returns the response to a read.
    ///
    /// - Parameters:
    ///   - body: What was read.
    ///   - freshness: Whether caches may use it.
    ///   - request: The request.
    /// - Returns: The response.
    /// - Throws: An `EncodingError`, if JSON cannot represent a number in the body.
    private func answer(
        _ body: some Encodable & Equatable & Sendable,
        _ freshness: Freshness,
        to request: Request
    ) throws -> Response {
        try answers.answer(body, at: request.uri.string) { try Answer(json: $0) }
            .response(to: request, cacheControl: freshness.cacheControl(maximumAge: settings.maximumAge))
    }

    private func profile(_ context: FeedRequestContext) async throws -> UserProfile {
        guard let text = context.parameters.get("id"), let id = User.ID(text), id.description == text else {
            throw ProblemDetails(.notFound, detail: "A user ID is a number.")
        }
        return try await app.withReader(for: context.visitor) { try await $0.showUser(id) }
    }
}

extension FeedQuery {
    /// Reads the parameters `author`, `q`, `cursor` and `size`.
    ///
    /// - Throws: A `ProblemDetails` with the status 400 that names the first parameter with an invalid value.
    fileprivate init(_ parameters: QueryParameters) throws(ProblemDetails) {
        self.init()
        author = try parameters.value("author", as: "the number of a user") { User.ID($0 as String) }
        // A character can have any number of marks, and comparing it takes as long. Text in a stream has at most 30 (Unicode
        // Standard Annex #15).
        text = try parameters.value("q", as: "a text of at most 200 characters") { text in
            text.unicodeScalars.count <= 200 && text.allSatisfy { $0.unicodeScalars.count <= 31 } ? text : nil
        }
        cursor = try parameters.value("cursor", as: "the value of “next” on another page") { FeedCursor($0) }
        pageSize = try parameters.value("size", as: "a number") { Int($0) } ?? pageSize
    }
}
