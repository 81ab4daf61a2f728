import InwardRepositories

/// A remark as the test upstream encodes it.
struct RemarkDTO: RecordDTO {
    static let listName = "remarks"

    let id: FieldDTO<Int>
    let author: FieldDTO<Int>
    let text: FieldDTO<String>

    init(_ remark: Remark) {
        id = FieldDTO(remark.id)
        author = FieldDTO(remark.author)
        text = FieldDTO(remark.text)
    }

    func entity() throws(FieldError) -> Remark {
        Remark(id: id.value, author: author.value, text: text.value)
    }
}
