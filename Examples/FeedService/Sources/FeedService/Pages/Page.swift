import HTTPTypes
import InterfaceAdapters
import InwardFetching

/// A page with its title and its place in the navigation.
struct Page: Equatable, Sendable {
    /// The sections that every page links to.
    enum Section: String, CaseIterable {
        case feed = "Feed"
        case users = "Users"
        case gallery = "Gallery"
        case write = "Write"
        case account = "Account"

        var path: String {
            switch self {
            case .feed: "/posts"
            case .users: "/users"
            case .gallery: "/gallery"
            case .write: "/posts/new"
            case .account: "/account"
            }
        }
    }

    static let router = PathRouter(root: "/")

    /// What a page may load: the service's own style sheet, script, images and events, and nothing else.
    static let policy =
        "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; "
        + "form-action 'self'; frame-ancestors 'none'"

    let title: String
    let section: Section?
    let content: HTML
    private let sections: [Section]

    init(
        _ title: String,
        in section: Section? = nil,
        linkingTo sections: [Section] = Section.allCases,
        content: HTML
    ) {
        self.title = title
        self.section = section
        self.sections = sections
        self.content = content
    }

    /// The page of an error.
    init(_ problem: ProblemDetails) {
        self.init(problem.title, content: "<p>\(problem.detail)</p>")
    }

    /// The whole document.
    var document: HTML {
        """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <title>\(title) · Feed service</title>
        <link rel="stylesheet" href="/style.css">
        \(sections.isEmpty ? nil : Self.scripts)
        </head>
        <body>
        <a class="skip" href="#content">Skip to the content</a>
        \(navigation)
        <main id="content">
        <h1 dir="auto">\(title)</h1>
        \(content)
        </main>
        </body>
        </html>

        """
    }

    private static let scripts: HTML = """
        <link rel="icon" href="/icon.svg" type="image/svg+xml">
        <script src="/live.js" defer></script>
        """

    private var navigation: HTML? {
        if sections.isEmpty { return nil }
        return """
            <header>
            <nav aria-label="Sections">
            \(sections.map(link))
            </nav>
            </header>
            """
    }

    private func link(to section: Section) -> HTML {
        let current: HTML? = section == self.section ? " aria-current=\"page\"" : nil
        return
            "<a href=\"\(section.path)\"\(current)>\(section.rawValue)</a>\n"
    }
}
