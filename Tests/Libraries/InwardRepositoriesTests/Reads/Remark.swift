/// The entity of the repository tests.
struct Remark: Identifiable, Hashable, Sendable {
    let id: Int
    var author: Int
    var text: String
}
