import Entities
import HTTPTypes
import Hummingbird
import HummingbirdCore
import InwardCore
import InwardFetching
import NIOCore

/// The routes of the JSON API that show and change comments.
struct CommentAPI {
    let app: FeedApp
    let settings: ServiceSettings

    func addRoutes(to router: RouterGroup<FeedRequestContext>) {
        router.get("posts/:id/comments") { request, context in
            let post = try PostAPI.id(context.parameters)
            let (comments, current) = try await app.withReader(for: context.visitor) {
                try await $0.comments.list(on: post)
            }
            guard current == post else { return Response.moved(to: "/api/posts/\(current)/comments") }
            let control = cacheControl(comments)
            let body = CommentsResource(comments: comments.value.map { CommentResource($0, nil) })
            return try Answer(json: body).response(to: request, cacheControl: control)
        }
        router.post("posts/:id/comments") { request, context in
            let post = try PostAPI.id(context.parameters)
            let content = try await RequestContent(request, as: [PostAPI.json], by: app.deadline)
            let new = try content.decoded(as: CommentContent.self)
            let draft = try CommentDraft(on: post.rawValue, name: new.name, email: new.email, body: new.body)
            return try await app.answer(request, content, of: context.visitor) {
                let comment = try await app.withReader(for: context.visitor, orThrowWhenLate: .outcomeUnknown) {
                    reader in
                    try await reader.comments.create(draft)
                }
                return try Self.response(comment, created: true)
            }
        }
        router.get("comments/:id") { request, context in
            let id = try Self.id(context.parameters)
            let comment = try await app.withReader(for: context.visitor) { try await $0.comments.comment(id) }
            guard comment.value.id == id else { return Response.moved(to: "/api/comments/\(comment.value.id)") }
            let control = cacheControl(comment)
            return try Answer(json: CommentResource(comment.value, comment.state), entityTag: comment.entityTag)
                .response(to: request, cacheControl: control)
        }
        router.patch("comments/:id") { request, context in
            let id = try Self.id(context.parameters)
            let content = try await RequestContent(request, as: [PostAPI.mergePatch, PostAPI.json], by: app.deadline)
            let body = try content.decoded(as: CommentChanges.self).body
            _ = try CommentDraft.checked(body, "body", CommentDraft.bodyLengths)
            return try await app.answer(request, content, of: context.visitor) {
                let comment = try await app.withReader(for: context.visitor, orThrowWhenLate: .outcomeUnknown) {
                    reader in
                    try await reader.comments.edit(id, body: body) { $0.isNamed(by: request) }
                }
                return try Self.response(comment, created: false)
            }
        }
        router.delete("comments/:id") { request, context in
            let id = try Self.id(context.parameters)
            let content = try await RequestContent(request, as: [], by: app.deadline)
            return try await app.answer(request, content, of: context.visitor) {
                try await app.withReader(for: context.visitor, orThrowWhenLate: .outcomeUnknown) { reader in
                    try await reader.comments.delete(id) { $0.isNamed(by: request) }
                }
                return try app.deletionResponse(id)
            }
        }
    }

    private func cacheControl(_ reading: Reading<some Any>) -> String {
        reading.freshness.cacheControl(maximumAge: settings.maximumAge)
    }

    private static func response(_ comment: Reading<Comment>, created isCreated: Bool) throws -> WriteResponse {
        try WriteResponse(
            comment.isPending ? .accepted : isCreated ? .created : .ok,
            location: isCreated ? "/api/comments/\(comment.value.id)" : nil,
            entityTag: comment.entityTag,
            body: CommentResource(comment.value, comment.state)
        )
    }

    private static func id(_ parameters: Parameters) throws(ProblemDetails) -> Int {
        guard let text = parameters.get("id"), let id = Int(text), id.description == text else {
            throw ProblemDetails(.notFound, detail: "A comment ID is a number.")
        }
        return id
    }
}

/// A new comment.
private struct CommentContent: Decodable {
    let name, email, body: String
}

/// The changes of a comment.
private struct CommentChanges: Decodable {
    let body: String
}

/// A comment.
private struct CommentResource: Encodable {
    let id, postID: Int
    let name, email, body: String
    /// Whether it is published, or its changes are still pending; `nil` in a list.
    let state: String?

    init(_ comment: Comment, _ state: String?) {
        (id, postID, name, email) = (comment.id, comment.postId, comment.name, comment.email)
        (body, self.state) = (comment.body, state)
    }
}

/// The comments on a post.
private struct CommentsResource: Encodable {
    let comments: [CommentResource]
}
