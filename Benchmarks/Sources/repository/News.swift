import InwardRepositories

/// What everyone may read.
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
    /// The news, in one repository of the app or in one of each session.
    static func news(for audience: Audience) -> Endpoint { Endpoint(NewsDTO.self, at: "news", audience: audience) }
}
