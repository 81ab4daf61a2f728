import InwardRepositories

/// A remark as the test upstream encodes it.
struct RemarkDTO: RecordDTO {
    static let listName = "remarks"

    let id: Int
    let author: Int
    let text: String

    init(_ remark: Remark) {
        id = remark.id
        author = remark.author
        text = remark.text
    }

    func entity() throws(FieldError) -> Remark {
        Remark(id: id, author: author, text: text)
    }
}
