import Crypto
import Entities
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import InwardCore
import InwardFetching
import InwardRepositories
import NIOCore
import UseCases

/// The pages on which a visitor reads, writes, edits and deletes a post.
///
/// Forms work without a script. A form that cannot be accepted is shown again, with the reason and with everything that the visitor
/// has entered.
struct PostPages {
    let app: FeedApp

    func addRoutes(to router: some RouterMethods<FeedRequestContext>) {
        router.get("posts/new") { request, context in
            try await page(PostForm(key: UUID().uuidString), to: request, of: context.visitor)
        }
        router.post("posts") { request, context in
            let (form, content) = try await form(of: request)
            return try await answering(form, request, context) {
                let location = try await app.once(form.key, request, content, of: context.visitor) {
                    guard let author = form.author else { throw ProblemDetails(422, detail: "Choose an author.") }
                    let post = try await app.withReader(for: context.visitor, orThrowWhenLate: .outcomeUnknown) {
                        reader in
                        try await reader.publishPost(title: form.title, body: form.body, by: User.ID(author))
                    }
                    return "/posts/\(post.value.id)"
                }
                return Response.seeOther(location)
            }
        }
        router.get("posts/:id") { request, context in
            let id = try PostAPI.id(context.parameters)
            let post = try await app.withReader(for: context.visitor) { try await $0.showPost(id) }
            guard post.value.id == id else { return Response.seeOther("/posts/\(post.value.id)") }
            return try await show(post, to: request, of: context.visitor)
        }
        router.get("posts/:id/edit") { request, context in
            let id = try PostAPI.id(context.parameters)
            let post = try await app.withReader(for: context.visitor) { try await $0.showPost(id, .upstreamFirst) }
            return try await page(
                PostForm(editing: post.value, key: UUID().uuidString),
                to: request,
                of: context.visitor
            )
        }
        router.post("posts/:id/edit") { request, context in
            let id = try PostAPI.id(context.parameters)
            var (form, content) = try await form(of: request)
            form.id = id
            return try await answering(form, request, context) { [form] in
                let location = try await app.once(form.key, request, content, of: context.visitor) {
                    let post = try await app.withReader(for: context.visitor, orThrowWhenLate: .outcomeUnknown) {
                        reader in
                        try await reader.editPost(id, title: form.title, body: form.body) { form.shows($0) }
                    }
                    return "/posts/\(post.value.id)"
                }
                return Response.seeOther(location)
            }
        }
        router.post("posts/:id/delete") { request, context in
            let id = try PostAPI.id(context.parameters)
            let (form, content) = try await form(of: request)
            let location = try await app.once(form.key, request, content, of: context.visitor) {
                try await app.withReader(for: context.visitor, orThrowWhenLate: .outcomeUnknown) { reader in
                    try await reader.deletePost(id) { form.shows($0) }
                }
                return "/posts"
            }
            return Response.seeOther(location)
        }
        router.post("posts/:id/comments") { request, context in
            let id = try PostAPI.id(context.parameters)
            let content = try await content(of: request)
            let fields = try content.form()
            var form = CommentForm(fields)
            do {
                let draft = try CommentDraft(on: id.rawValue, name: form.name, email: form.email, body: form.body)
                let location = try await app.once(form.key, request, content, of: context.visitor) {
                    _ = try await app.withReader(for: context.visitor, orThrowWhenLate: .outcomeUnknown) { reader in
                        try await reader.comments.create(draft)
                    }
                    return "/posts/\(id)#comments"
                }
                return Response.seeOther(location)
            } catch {
                let problem = ProblemDetails(reporting: error, to: context.logger)
                form.reason = problem.detail
                // As with a post: if the comment may have been accepted, another attempt must be the same request.
                if problem.status != ProblemDetails.outcomeUnknown.status { form.key = UUID().uuidString }
                let post = try await app.withReader(for: context.visitor) { try await $0.showPost(id) }
                return try await show(post, form, to: request, of: context.visitor).explained(by: problem)
            }
        }
    }

    private func form(of request: Request) async throws -> (PostForm, RequestContent) {
        let content = try await content(of: request)
        return (PostForm(try content.form()), content)
    }

    private func content(of request: Request) async throws -> RequestContent {
        try await RequestContent(form: request, by: app.deadline)
    }

    /// Runs a change. If it is not possible, answers with the form that the visitor sent, and with the reason.
    private func answering(
        _ form: PostForm,
        _ request: Request,
        _ context: FeedRequestContext,
        _ change: () async throws -> Response
    ) async throws -> Response {
        do {
            return try await change()
        } catch {
            let problem = ProblemDetails(reporting: error, to: context.logger)
            var form = form
            form.reason = problem.detail
            // The form was answered, so another attempt is another request, unless the first may have been done.
            if problem.status != ProblemDetails.outcomeUnknown.status { form.key = UUID().uuidString }
            if case ChangePostError.changedElsewhere(let theirs?) = error { form.adopt(theirs) }
            return try await page(form, to: request, of: context.visitor).explained(by: problem)
        }
    }

    private func page(
        _ form: PostForm,
        to request: Request,
        of visitor: Visitor
    ) async throws -> Response {
        // Only a new post needs an author. Without the list, the text of the visitor is still there.
        let users = form.id == nil ? try? await app.withReader(for: visitor, { try await $0.listUsers() }).value : nil
        return Answer(form.page(users ?? [])).response(to: request, cacheControl: "no-store")
    }

    private func show(
        _ post: Reading<Post>,
        _ form: CommentForm = CommentForm(key: UUID().uuidString),
        to request: Request,
        of visitor: Visitor
    ) async throws -> Response {
        let id = post.value.id
        let (comments, author) = await concurrently(
            { [app] in try await app.withReader(for: visitor) { try await $0.comments.list(on: id).comments } },
            { try? await app.withReader(for: visitor) { try await $0.showUser(post.value.authorID).user.value.name } }
        )
        let page = PostPage(
            post: post,
            author: author ?? "user \(post.value.authorID)",
            comments: try? comments.get(),
            form: form,
            key: UUID().uuidString
        )
        // The forms on the page have keys of their own.
        return Answer(page.page).response(to: request, cacheControl: "no-store")
    }
}

extension RequestContent {
    /// The media type of forms.
    private static let formType = "application/x-www-form-urlencoded"

    /// Reads a form, unless a page of another site has made the browser send it.
    ///
    /// - Throws: A `ProblemDetails` with the status 400, 403, 408, 413 or 415.
    init(form request: Request, by deadline: Deadline) async throws {
        guard !request.isFromAnotherOrigin else {
            throw ProblemDetails(
                403,
                detail: "The form was sent by another site. Open the page here, and send it again."
            )
        }
        try await self.init(request, as: [Self.formType], by: deadline)
    }

    /// The fields of a form.
    ///
    /// - Throws: A `ProblemDetails` with the status 400 if it is malformed.
    func form() throws(ProblemDetails) -> QueryParameters {
        try QueryParameters(String(decoding: bytes, as: UTF8.self), of: .form)
    }
}

extension QueryParameters {
    /// The text of a field, with the line ends of the service; empty if the field is missing.
    func text(_ name: String) -> String {
        let text = try? value(name, as: "text") { $0 }
        return (text ?? nil)?.replacing("\r\n", with: "\n") ?? ""
    }
}

extension FeedApp {
    /// Makes a change once, although a visitor may send the same form twice.
    ///
    /// - Parameters:
    ///   - key: The key of the form.
    ///   - request: The request that sends the form.
    ///   - content: The form.
    ///   - visitor: The visitor.
    ///   - change: Makes the change, and returns the path to show next.
    /// - Returns: The path.
    /// - Throws: An `IdempotencyError`, a `RecordStoreError`, or the error of the change.
    func once(
        _ key: String,
        _ request: Request,
        _ content: RequestContent,
        of visitor: Visitor,
        _ change: () async throws -> String
    ) async throws -> String {
        let deadline = deadline
        while true {
            do {
                let response = try await idempotency.response(
                    to: IdempotencyKey(key),
                    of: "form of \(visitor.name)",
                    fingerprint: Array(SHA256.hash(data: Data("\(request.uri.path)\n".utf8) + content.bytes))
                ) {
                    Array(try await change().utf8)
                }
                return String(decoding: response.bytes, as: UTF8.self)
            } catch IdempotencyError.inProgress where deadline.remaining > .zero {
                // The visitor has clicked twice. The browser shows only the second answer, so it has to be the right one.
                try await timer.sleep(for: .milliseconds(100))
            }
        }
    }
}

extension Request {
    /// Whether a page of another origin has made a browser send the request. Browsers send `Origin` with every form, and `Sec-Fetch-Site` only
    /// over secure connections.
    fileprivate var isFromAnotherOrigin: Bool {
        // Other ports and subdomains of a host are the same site, and may belong to somebody else.
        if let site = headers[.secFetchSite] { return site != "same-origin" && site != "none" }
        guard let origin = headers[.origin] else { return false }
        return origin != "http://\(head.authority ?? "")" && origin != "https://\(head.authority ?? "")"
    }
}

extension Response {
    /// Returns the answer to a form that has been accepted: the path of the page to show next.
    static func seeOther(_ path: String) -> Response {
        Response(status: .seeOther, headers: [.location: path, .cacheControl: "no-store"])
    }
}

extension HTTPField.Name {
    /// `Sec-Fetch-Site`, with which browsers say where the page is from that sends the request.
    // swift-format-ignore: NeverForceUnwrap
    // The text is a valid name.
    static let secFetchSite = Self("Sec-Fetch-Site")!
}
