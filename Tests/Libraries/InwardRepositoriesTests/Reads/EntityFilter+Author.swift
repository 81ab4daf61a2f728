import InwardRepositories

extension EntityFilter<Remark> {
    /// Returns the filter for the remarks of an author.
    static func author(_ author: Int) -> Self {
        Self("author", String(author), of: ["users", String(author)]) { $0.author == author }
    }
}
