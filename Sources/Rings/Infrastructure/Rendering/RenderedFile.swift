public import InterfaceAdapters

/// A rendered file that begins with a mark, by which the program recognizes its own files.
///
/// ```swift
/// let page = RenderedFile.page("index.html", of: document, by: "example")
/// try OutputDirectory(path: "site").write([page])
/// ```
public struct RenderedFile: Hashable, Sendable {
    /// The name of the file, without a directory.
    public let name: String
    /// The contents of the file, which begin with the mark.
    public let contents: String
    /// The beginning of every file of this name that this program writes. Files of other programs are unlikely to begin with
    /// it.
    public let mark: String

    /// Creates a rendered file from contents that begin with the mark.
    public init(name: String, contents: String, mark: String) {
        self.name = name
        self.contents = contents
        self.mark = mark
    }

    /// Returns a document as a self-contained HTML page.
    ///
    /// - Parameters:
    ///   - name: The name of the file.
    ///   - document: The document.
    ///   - generator: The name of the program.
    /// - Returns: The page, which names the program at its beginning.
    public static func page(_ name: String, of document: Document, by generator: String) -> Self {
        let renderer = HTMLRenderer(generator: generator)
        return Self(name: name, contents: renderer.render(document), mark: renderer.beginning)
    }

    /// Returns a view model as JSON.
    ///
    /// - Parameters:
    ///   - name: The name of the file.
    ///   - viewModel: The view model. It must encode the name of the program as `_generator`, the first member in sorted order.
    ///   - generator: The name of the program.
    /// - Returns: The JSON, which names the program at its beginning.
    /// - Throws: An `EncodingError` if the view model contains a value that JSON cannot represent.
    public static func json(
        _ name: String,
        of viewModel: some ViewModel,
        by generator: String
    ) throws(EncodingError) -> Self {
        Self(
            name: name,
            contents: try JSONRenderer().render(viewModel),
            mark: "{\n  \"_generator\" : \"\(generator)\","
        )
    }
}
