import Entities
import InterfaceAdapters
import InwardCore
import InwardFetching

/// The page of a post, with its comments.
struct PostPage {
    let post: Reading<Post>
    let author: String
    /// The comments; `nil` if they cannot be read.
    let comments: Reading<[Comment]>?
    let form: CommentForm
    /// The key of the form that deletes the post.
    let key: String

    var page: Page {
        let (post, id) = (post.value, post.value.id)
        let state: HTML? =
            self.post.isPending ? "<p class=\"pending\" role=\"status\">Pending: it is delivered soon.</p>\n" : nil
        let link = Page.router.link(to: .user(post.authorID))?.text ?? ""
        let content: HTML = """
            \(state)<p class="byline">by <a href="\(link)"><bdi>\(author)</bdi></a></p>
            <p class="text" dir="auto">\(post.body)</p>
            <p class="actions"><a href="/posts/\(id.description)/edit">Edit</a></p>
            <form method="post" action="/posts/\(id.description)/delete">
            <input type="hidden" name="key" value="\(key)">
            <input type="hidden" name="version" value="\(post.entityTag(isPending: false).description)">
            <button>Delete</button></form>
            <h2 id="comments">Comments</h2>
            \(list)\(alert)<form class="stacked" method="post" action="/posts/\(id.description)/comments">
            <input type="hidden" name="key" value="\(form.key)">
            <label for="name">Name</label>
            <input id="name" name="name" value="\(form.name)" required autocomplete="name" dir="auto">
            <label for="email">Email</label>
            <input id="email" name="email" type="email" value="\(form.email)" required autocomplete="email">
            <label for="body">Comment</label>
            <textarea id="body" name="body" rows="4" required dir="auto">
            \(form.body)</textarea>
            <p><button>Comment</button></p>
            </form>

            """
        return Page(post.title, content: content)
    }

    private var alert: HTML? { form.reason.map { "<p class=\"alert\" role=\"alert\">\($0)</p>\n" } }

    private var list: HTML {
        guard let comments else { return "<p>The comments are not available now.</p>\n" }
        if comments.value.isEmpty { return "<p>There are no comments yet.</p>\n" }
        let state: HTML? =
            comments.isPending
            ? "<p class=\"pending\" role=\"status\">Some are pending: they are delivered soon.</p>\n" : nil
        let items: [HTML] = comments.value.map { comment in
            """
            <article>
            <p class="byline"><bdi>\(comment.name)</bdi></p>
            <p class="text" dir="auto">\(comment.body)</p>
            </article>

            """
        }
        return "\(state)\(items)"
    }
}

/// What a visitor has entered into the form for a comment.
struct CommentForm {
    var (name, email, body) = ("", "", "")
    /// Names the request that the form becomes.
    var key: String
    /// Why it was not accepted.
    var reason: String?

    /// Creates an empty form.
    init(key: String) {
        self.key = key
    }

    /// Reads the form that a visitor has sent.
    init(_ fields: QueryParameters) {
        (name, email, body) = (fields.text("name"), fields.text("email"), fields.text("body"))
        key = fields.text("key")
    }
}
