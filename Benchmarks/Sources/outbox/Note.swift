import InwardRepositories

/// The entity that is created and updated through the outbox.
struct Note: Identifiable, Sendable {
    let id: Int
    var text: String
}

struct NoteDTO: RecordDTO {
    static let listName = "notes"
    let id: Int
    let text: String

    init(_ note: Note) { (id, text) = (note.id, note.text) }

    func entity() throws(FieldError) -> Note { Note(id: id, text: text) }
}

/// The body of a request that creates a note.
struct NoteDraft: Codable, Sendable {
    let text: String
}

extension Endpoint where Entity == Note {
    static let notes = Endpoint(
        NoteDTO.self,
        at: "notes",
        creation: Creation(
            NoteDraft.self,
            answer: NoteDTO.self,
            pending: { draft, number in Note(id: -1 - number, text: draft.text) },
            created: { draft, answer throws(FieldError) in Note(id: answer.id, text: draft.text) }
        ),
        editing: Editing(.patch)
    )
}
