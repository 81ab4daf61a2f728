import Entities
import InterfaceAdapters
import InwardCore
import InwardFetching

/// The page of a post, with its comments.
struct PostPage {
    let post: Reading<Post>
    let author: String
    /// The comments; `nil` if they cannot be read.
    let comments: [Comment]?
    /// Begins the keys of the forms on the page.
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
            <input type="hidden" name="key" value="\(key)-delete">
            <input type="hidden" name="version" value="\(post.entityTag(isPending: false).description)">
            <button>Delete</button></form>
            <h2 id="comments">Comments</h2>
            \(list)<form class="stacked" method="post" action="/posts/\(id.description)/comments">
            <input type="hidden" name="key" value="\(key)-comment">
            <label for="name">Name</label><input id="name" name="name" maxlength="100" required dir="auto">
            <label for="email">Email</label><input id="email" name="email" type="email" maxlength="254" required>
            <label for="body">Comment</label>
            <textarea id="body" name="body" rows="4" maxlength="4000" required dir="auto"></textarea>
            <p><button>Comment</button></p>
            </form>

            """
        return Page(post.title, content: content)
    }

    private var list: HTML {
        guard let comments else { return "<p>The comments are not available now.</p>\n" }
        if comments.isEmpty { return "<p>There are no comments yet.</p>\n" }
        let items: [HTML] = comments.map { comment in
            """
            <article>
            <p class="byline"><bdi>\(comment.name)</bdi></p>
            <p class="text" dir="auto">\(comment.body)</p>
            </article>

            """
        }
        return "\(items)"
    }
}
