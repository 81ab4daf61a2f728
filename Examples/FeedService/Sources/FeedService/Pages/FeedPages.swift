import Entities
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import InterfaceAdapters
import InwardCore
import InwardFetching
import NIOCore
import UseCases

/// The routes of the pages, which need no script.
struct FeedPages {
    private let app: FeedApp
    private let settings: ServiceSettings
    private let answers: AnswerCache
    private let feed = FeedPresenter(router: Page.router)
    private let users = UserListPresenter(router: Page.router)
    private let profiles = UserProfilePresenter(router: Page.router)

    init(_ app: FeedApp, _ settings: ServiceSettings, _ answers: AnswerCache) {
        self.app = app
        self.settings = settings
        self.answers = answers
    }

    func addRoutes(to router: some RouterMethods<FeedRequestContext>) {
        router.get("/") { _, _ in
            Response(status: .found, headers: [.location: "/posts", .cacheControl: "no-cache"])
        }
        router.get("gallery") { request, context in try await galleryPage(request, context.visitor) }
        for path: RouterPath in [
            "posts", "posts/after/:cursor", "users", "users/:id", "users/:id/posts", "users/:id/posts/after/:cursor",
        ] {
            router.get(path) { request, context in try await page(for: request, context.visitor) }
        }
        PostPages(app: app).addRoutes(to: router)
        AccountPages(app: app).addRoutes(to: router)
        LiveFeed(app, settings).addRoutes(to: router)
    }

    /// Adds what all pages load, which is the same for all visitors.
    static func addFiles(to router: some RouterMethods<some RequestContext>) {
        for (path, file) in [
            ("style.css", styleSheet),
            ("live.js", Answer(file: PackageResources.live_js, as: "text/javascript; charset=utf-8")),
            ("icon.svg", Answer(file: PackageResources.icon_svg, as: "image/svg+xml")),
        ] {
            router.get(RouterPath(path)) { request, _ in
                file.response(to: request, cacheControl: Answer.fileCacheControl)
            }
        }
    }

    /// The style sheet of all pages.
    static let styleSheet = Answer(file: PackageResources.style_css, as: "text/css; charset=utf-8")

    private func page(for request: Request, _ visitor: Visitor) async throws -> Response {
        // The router ignores a slash at the end as well.
        switch Destination(request.uri.path.split(separator: "/").joined(separator: "/")) {
        case .feed(let cursor): try await feedPage(FeedQuery(cursor: cursor), request, visitor)
        case .posts(let author, let cursor):
            try await feedPage(FeedQuery(author: author, cursor: cursor), request, visitor)
        case .users: try await usersPage(request, visitor)
        case .user(let id): try await userPage(id, request, visitor)
        case nil: throw HTTPError(.notFound)
        }
    }

    /// Returns the response with a page, which is drawn only if its view model has changed.
    private func answer<Model: Equatable & Sendable>(
        _ request: Request,
        _ visitor: Visitor,
        reading read: @escaping @Sendable (Reader) async throws -> (Model, Freshness),
        drawing draw: (Model) -> Page
    ) async throws -> Response {
        try await answers.response(to: request, at: request.uri.path, of: visitor) {
            try await app.withReader(for: visitor, read)
        } encoding: {
            Answer(draw($0))
        }
    }

    private func feedPage(_ query: FeedQuery, _ request: Request, _ visitor: Visitor) async throws -> Response {
        try await answer(request, visitor) { [feed] reader in
            let page = try await reader.readFeed(query)
            // A user who has written nothing has an empty page, but an unknown user has none.
            if let author = query.author, page.total == 0 { _ = try await reader.showUser(author) }
            return (feed.present(page, by: query.author), page.freshness)
        } drawing: { model in
            if let author = query.author {
                return Page("Posts of user \(author)", in: .users, content: Self.list(model))
            }
            // Only the first page follows new posts. Others would change while they are read.
            let live: HTML? = query.cursor == nil ? " data-live=\"/live/posts\"" : nil
            return Page("Feed", in: .feed, content: "<div\(live)>\n\(Self.list(model))</div>\n")
        }
    }

    /// The posts of a page, and a link to the next page.
    static func list(_ model: FeedViewModel) -> HTML {
        if model.rows.isEmpty { return "<p>There are no posts here.</p>\n" }
        let posts: [HTML] = model.rows.map { row in
            let author: HTML = row.authorLink.map { "<a href=\"\($0.text)\">\(row.author)</a>" } ?? "\(row.author)"
            return article("<a href=\"/posts/\(row.id)\">\(row.title)</a>", row.body, author: author)
        }
        let next: HTML? = model.nextLink.map { "<p><a rel=\"next\" href=\"\($0.text)\">Older posts</a></p>\n" }
        return "\(posts)\(next)"
    }

    private func usersPage(_ request: Request, _ visitor: Visitor) async throws -> Response {
        try await answer(request, visitor) { [presenter = users] reader in
            let users = try await reader.listUsers()
            return (presenter.present(users), users.freshness)
        } drawing: { model in
            let rows: [HTML] = model.rows.map { row in
                """
                <li><a href="\(row.link?.text ?? "")" dir="auto">\(row.name)</a>
                <span dir="auto">\(row.company), \(row.city)</span></li>

                """
            }
            return Page("Users", in: .users, content: "<ul class=\"users\">\n\(rows)</ul>\n")
        }
    }

    private func galleryPage(_ request: Request, _ visitor: Visitor) async throws -> Response {
        try await answer(request, visitor) { [images = app.images] reader in
            let users = try await reader.listUsers()
            let pictures = users.value.map { user in
                Picture(
                    name: user.name,
                    link: Page.router.link(to: .user(user.id))?.text ?? "",
                    small: images.path(of: user.id, side: 240, at: Date()),
                    large: images.path(of: user.id, side: 480, at: Date())
                )
            }
            return (pictures, users.freshness)
        } drawing: { pictures in
            let items: [HTML] = pictures.map { picture in
                """
                <li><a href="\(picture.link)"><img src="\(picture.small ?? "")" srcset="\(picture.large ?? "") 2x" width="240" \
                height="240" loading="lazy" alt=""><span dir="auto">\(picture.name)</span></a></li>

                """
            }
            return Page("Gallery", in: .gallery, content: "<ul class=\"gallery\">\n\(items)</ul>\n")
        }
    }

    private func userPage(_ id: User.ID, _ request: Request, _ visitor: Visitor) async throws -> Response {
        try await answer(request, visitor) { [profiles] reader in
            let profile = try await reader.showUser(id)
            return (ProfilePage(profiles.present(profile), profile), profile.freshness)
        } drawing: { page in
            let model = page.model
            let fields: [HTML] = model.fields.map { "<dt>\($0.label)</dt><dd dir=\"auto\">\($0.text)</dd>\n" }
            let posts: [HTML] = model.posts.map { Self.article("\($0.title)", $0.body, author: nil) }
            let written: HTML = page.hasPosts ? "\(posts)" : "<p>The posts are not available now.</p>\n"
            return Page(model.name, in: .users, content: "<dl>\n\(fields)</dl>\n<h2>Posts</h2>\n\(written)")
        }
    }

    /// What the gallery shows of a user.
    private struct Picture: Equatable, Sendable {
        let name, link: String
        let small, large: String?
    }

    /// What the page of a user shows.
    private struct ProfilePage: Equatable, Sendable {
        let model: UserProfileViewModel
        /// Whether the posts could be read.
        let hasPosts: Bool

        init(_ model: UserProfileViewModel, _ profile: UserProfile) {
            self.model = model
            hasPosts = if case .success = profile.posts { true } else { false }
        }
    }

    private static func article(_ title: HTML, _ body: String, author: HTML?) -> HTML {
        let byline: HTML? = author.map { "<p class=\"byline\">by <bdi>\($0)</bdi></p>\n" }
        let level: HTML = author == nil ? "h3" : "h2"
        return """
            <article>
            <\(level) dir="auto">\(title)</\(level)>
            \(byline)<p class="text" dir="auto">\(body)</p>
            </article>

            """
    }
}
