/// A text with a structure, to be rendered for some medium. What it holds is plain text: the renderers make it safe.
public struct Document: Hashable, Sendable {
    /// A part of a document.
    public enum Block: Hashable, Sendable {
        /// The title of what follows.
        case heading(String)
        /// A sentence or several.
        case paragraph(String)
        /// Somewhere to go, and what it is called.
        case link(String, Link)
        /// Rows under columns.
        case table(Table)
        /// Remarks, each on its own.
        case notes([String])
    }

    /// What the document is called.
    public let title: String
    /// The parts of the document, in their order.
    public let blocks: [Block]

    /// Makes a document of parts.
    public init(title: String, blocks: [Block]) {
        self.title = title
        self.blocks = blocks
    }
}
