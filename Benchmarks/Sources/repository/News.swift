import InwardRepositories

/// A public entity.
struct News: Identifiable, Sendable {
    let id: Int
    let title: String
}

struct NewsDTO: RecordDTO {
    static let listName = "news"
    let id: Int
    let title: String

    init(_ news: News) { (id, title) = (news.id, news.title) }

    func entity() throws(FieldError) -> News { News(id: id, title: title) }
}

extension Endpoint where Entity == News {
    /// Returns the endpoint of the news. The audience determines whether the app or each session has a repository.
    static func news(for audience: Audience) -> Endpoint { Endpoint(NewsDTO.self, at: "news", audience: audience) }
}
