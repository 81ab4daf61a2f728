/// A line of a diagram that has its place in it.
enum DiagramStatement: Hashable {
    /// The ring of this name is drawn here.
    case ring(String)
    /// Something that means nothing to the contract: a comment, a style, a frame around rings.
    case verbatim(String)
}
