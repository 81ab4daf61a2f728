/// What somebody has said, for the tests of repositories.
struct Remark: Identifiable, Hashable, Sendable {
    let id: Int
    var author: Int
    var text: String
}
