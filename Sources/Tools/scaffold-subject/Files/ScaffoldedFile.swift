/// A file that is to be written for a subject.
struct ScaffoldedFile: Equatable {
    /// Where the file belongs, relative to the package.
    let path: String
    /// All of its text.
    let contents: String

    /// The type that the file declares and is named after; `nil` if it extends a type.
    var typeName: String? {
        guard let name = path.split(separator: "/").last?.split(separator: ".").first else { return nil }
        return name.contains("+") ? nil : String(name)
    }
}
