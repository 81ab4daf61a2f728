public import Entities

extension Post {
    /// A valid post of which nothing matters but what is given.
    ///
    /// - Throws: a `PostError` if the title or the body is blank.
    public static func example(
        _ id: Int = 1,
        by author: Int = 1,
        title: String? = nil,
        body: String = "Body"
    ) throws -> Post {
        try Post(id: Post.ID(id), authorID: User.ID(author), title: title ?? "Title \(id)", body: body)
    }
}
