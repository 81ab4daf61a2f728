import Comparing
import Entities
import Foundation
import InwardRepositories

/// A post as the upstream sends it.
struct PostRecord: RecordDTO {
    static let listName = "posts"

    let userId: Int
    let id: Int
    let title: String
    let body: String

    init(_ post: Post) {
        (userId, id, title, body) = (post.authorID.rawValue, post.id.rawValue, post.title, post.body)
    }

    func entity() throws(FieldError) -> Post {
        do {
            return try Post(id: Post.ID(id), authorID: User.ID(userId), title: title, body: body)
        } catch {
            throw FieldError(nil, "\(error)")
        }
    }
}

/// Compares the reading of lists, from bytes to entities, with `JSONDecoder` on plain structs of the same fields.
func compareLists() throws {
    print("| posts | bytes | ours, µs | `JSONDecoder`, µs | ours / `JSONDecoder` |\n|---|---|---|---|---|")
    for count in [100, 10_000] {
        let bytes = try JSONEncoder().encode(try (1...count).map { try PostRecord(post($0)) })
        let times = 100_000 / count
        let format = JSONFormat()
        var (ours, theirs, ratios): ([Double], [Double], [Double]) = ([], [], [])
        for _ in 0..<11 {
            ours.append(
                try microseconds(times) { try format.decode(RecordList<PostRecord>.self, from: bytes).entities.count }
            )
            theirs.append(
                try microseconds(times) { try JSONDecoder().decode([PostRecord].self, from: bytes).count }
            )
            ratios.append((ours.last ?? 0) / (theirs.last ?? 1))
        }
        let medians = "\(Int(ours.median)) | \(Int(theirs.median)) | \(ratios.median.withTwoDigits)"
        print("| \(count) | \(bytes.count) | \(medians) |")
    }
}

private func post(_ number: Int) throws -> Post {
    // 240 bytes, with an escape, as in the samples of many services.
    let body = Array(repeating: "quia et suscipit suscipit recusandae consequuntur", count: 3).joined(separator: "\n")
    return try Post(
        id: Post.ID(number),
        authorID: User.ID(number % 10 + 1),
        title: "sunt aut facere \(number)",
        body: body
    )
}

/// Returns the processor microseconds of a call.
private func microseconds(_ times: Int, _ call: () throws -> Int) throws -> Double {
    let start = clock()
    var sum = 0
    for _ in 0..<times { sum &+= try call() }
    // The C library counts in microseconds.
    precondition(sum > 0)
    return Double(clock() - start) / Double(times)
}
