/// A record that a list had to leave out because it was damaged.
public struct RejectedRecord: Hashable, Sendable, CustomStringConvertible {
    /// What the list holds, such as `users`.
    public let list: String
    /// Where in the list the record stood, counted from zero.
    public let position: Int
    /// The path of the field that is wrong, such as `address.geo.lat`; `nil` if the record as a whole is.
    public let field: String?
    /// What is wrong with it, as the end of a sentence: `is missing`.
    public let reason: String

    /// Names a damaged record by its list and position, and says what is wrong with which field.
    public init(list: String, position: Int, field: String?, reason: String) {
        self.list = list
        self.position = position
        self.field = field
        self.reason = reason
    }

    /// The record, the field and the reason, such as `users[3].id is missing`.
    public var description: String {
        let path = field.map { ".\($0)" } ?? ""
        return "\(list)[\(position)]\(path) \(reason)"
    }
}
