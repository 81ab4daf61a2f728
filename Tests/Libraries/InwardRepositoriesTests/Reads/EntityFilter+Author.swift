import InwardRepositories

extension EntityFilter<Remark> {
    /// The remarks of one author.
    static func author(_ author: Int) -> Self {
        Self("author", String(author), of: ["users", String(author)]) { $0.author == author }
    }
}
