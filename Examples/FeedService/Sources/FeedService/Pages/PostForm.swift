import Entities
import InwardCore
import InwardFetching

/// A form with which a visitor writes or edits a post.
struct PostForm: Sendable {
    /// The post to edit; `nil` for a new one.
    var id: Post.ID?
    let author: Int?
    let title, body: String
    /// Names the request that the form becomes.
    var key: String
    /// The version that the visitor edits; empty for a new post.
    private var version = ""
    /// Why the form was not accepted.
    var reason: String?
    /// The version of somebody else, which the visitor has not seen yet.
    private var theirs: Post?

    /// Creates an empty form.
    init(key: String) {
        (id, author, title, body, self.key) = (nil, nil, "", "", key)
    }

    /// Creates the form for editing a post.
    init(editing post: Post, key: String) {
        (id, author, title, body, self.key) = (post.id, post.authorID.rawValue, post.title, post.body, key)
        version = post.entityTag(isPending: false).description
    }

    /// Reads the form that a visitor has sent.
    init(_ fields: QueryParameters) {
        id = nil
        author = Int(fields.text("author"))
        (title, body, key, version) = (
            fields.text("title"), fields.text("body"), fields.text("key"), fields.text("version")
        )
    }

    /// Returns whether this is the version that the visitor has seen.
    func shows(_ post: Post) -> Bool { version.isEmpty || post.entityTag(isPending: false).description == version }

    /// Shows the version of somebody else. If the visitor sends the form again, it replaces that version.
    mutating func adopt(_ theirs: Post) {
        self.theirs = theirs
        version = theirs.entityTag(isPending: false).description
    }

    /// The page with the form.
    func page(_ users: [User]) -> Page {
        let action = id.map { "/posts/\($0)/edit" } ?? "/posts"
        let alert: HTML? = reason.map { "<p class=\"alert\" role=\"alert\">\($0)</p>\n" }
        let content: HTML = """
            \(alert)\(other)<form class="stacked" method="post" action="\(action)">
            <input type="hidden" name="key" value="\(key)"><input type="hidden" name="version" value="\(version)">
            \(authors(users))<label for="title">Title</label>
            <input id="title" name="title" value="\(title)" required dir="auto">
            <label for="body">Text</label>
            <textarea id="body" name="body" rows="12" required dir="auto">
            \(body)</textarea>
            <p><button>\(id == nil ? "Publish" : "Save")</button></p>
            </form>

            """
        return Page(id == nil ? "Write a post" : "Edit the post", in: id == nil ? .write : nil, content: content)
    }

    private var other: HTML? {
        theirs.map { post in
            """
            <section class="other" aria-labelledby="other">
            <h2 id="other">The current version</h2>
            <h3 dir="auto">\(post.title)</h3>
            <p class="text" dir="auto">\(post.body)</p>
            </section>
            <p>Your text is below. If you save it, it replaces the current version.</p>

            """
        }
    }

    private func authors(_ users: [User]) -> HTML? {
        guard id == nil else { return nil }
        let options: [HTML] = users.map { user in
            let selected: HTML? = user.id.rawValue == author ? " selected" : nil
            return "<option value=\"\(user.id.rawValue)\"\(selected)>\(user.name)</option>\n"
        }
        return """
            <label for="author">Author</label>
            <select id="author" name="author" required>
            <option value="">Choose an author</option>
            \(options)</select>

            """
    }
}
