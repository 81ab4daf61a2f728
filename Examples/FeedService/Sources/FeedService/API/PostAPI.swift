import Entities
import HTTPTypes
import Hummingbird
import HummingbirdCore
import InwardCore
import InwardFetching
import NIOCore
import UseCases

/// The routes of the JSON API that show and change one post.
struct PostAPI {
    static let json = "application/json"
    static let mergePatch = "application/merge-patch+json"

    let app: FeedApp
    let settings: ServiceSettings

    func addRoutes(to router: RouterGroup<FeedRequestContext>) {
        router.post("posts") { request, context in
            let content = try await RequestContent(request, as: [Self.json], by: app.deadline)
            let draft = try content.decoded(as: PostContent.self)
            return try await app.answer(request, content, of: context.visitor) {
                let post = try await app.withReader(for: context.visitor, orThrowWhenLate: .outcomeUnknown) { reader in
                    try await reader.publishPost(title: draft.title, body: draft.body, by: User.ID(draft.authorID))
                }
                return try Self.response(post, created: true)
            }
        }
        router.get("posts/:id") { request, context in
            let id = try Self.id(context.parameters)
            let post = try await app.withReader(for: context.visitor) { try await $0.showPost(id) }
            guard post.value.id == id else { return Response.moved(to: "/api/posts/\(post.value.id)") }
            let control = post.freshness.cacheControl(maximumAge: settings.maximumAge)
            return try Answer(json: PostResource(post), entityTag: post.entityTag)
                .response(to: request, cacheControl: control)
        }
        router.patch("posts/:id") { request, context in
            let id = try Self.id(context.parameters)
            let content = try await RequestContent(request, as: [Self.mergePatch, Self.json], by: app.deadline)
            let changes = try content.decoded(as: PostChanges.self)
            return try await app.answer(request, content, of: context.visitor) {
                let post = try await app.withReader(for: context.visitor, orThrowWhenLate: .outcomeUnknown) { reader in
                    try await reader.editPost(id, title: changes.title, body: changes.body) { $0.isNamed(by: request) }
                }
                return try Self.response(post, created: false)
            }
        }
        router.delete("posts/:id") { request, context in
            let id = try Self.id(context.parameters)
            let content = try await RequestContent(request, as: [], by: app.deadline)
            return try await app.answer(request, content, of: context.visitor) {
                try await app.withReader(for: context.visitor, orThrowWhenLate: .outcomeUnknown) { reader in
                    try await reader.deletePost(id) { $0.isNamed(by: request) }
                }
                return try app.deletionResponse(id.rawValue)
            }
        }
    }

    private static func response(_ post: Reading<Post>, created isCreated: Bool) throws -> WriteResponse {
        try WriteResponse(
            post.isPending ? .accepted : isCreated ? .created : .ok,
            location: isCreated ? "/api/posts/\(post.value.id)" : nil,
            entityTag: post.entityTag,
            body: PostResource(post)
        )
    }

    static func id(_ parameters: Parameters) throws(ProblemDetails) -> Post.ID {
        guard let text = parameters.get("id"), let id = Post.ID(text), id.description == text else {
            throw ProblemDetails(.notFound, detail: "A post ID is a number.")
        }
        return id
    }
}

/// A new post.
private struct PostContent: Decodable {
    let authorID: Int
    let title, body: String
}

/// The changes of a post, as a JSON merge patch (RFC 7396). No member can be removed, so `null` is an error.
private struct PostChanges: Decodable {
    private enum CodingKeys: String, CodingKey {
        case title, body
    }

    let title, body: String?

    init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        title = members.contains(.title) ? try members.decode(String.self, forKey: .title) : nil
        body = members.contains(.body) ? try members.decode(String.self, forKey: .body) : nil
    }
}

/// A post, and whether it is published or its changes are still pending.
private struct PostResource: Encodable {
    let id, authorID: Int
    let title, body, state: String

    init(_ post: Reading<Post>) {
        id = post.value.id.rawValue
        authorID = post.value.authorID.rawValue
        title = post.value.title
        body = post.value.body
        state = post.state
    }
}

extension Response {
    /// Redirects from the identity under which an entity was pending to its final one.
    static func moved(to path: String) -> Response {
        Response(status: .movedPermanently, headers: [.location: path, .cacheControl: "no-cache"])
    }
}
