import Entities

extension FeedQuery {
    /// The posts that have the text asked for, in the order given.
    func matching(_ posts: [Post]) -> [Post] {
        guard let text = text?.lowercased(), !text.isEmpty else { return posts }
        return posts.filter { $0.title.lowercased().contains(text) || $0.body.lowercased().contains(text) }
    }
}
