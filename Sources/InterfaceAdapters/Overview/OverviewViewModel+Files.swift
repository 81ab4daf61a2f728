extension OverviewViewModel {
    /// The overview as a page, `index.html`, and as JSON, `index.json`.
    ///
    /// - Throws: an `EncodingError` if it has what JSON cannot say.
    public func renderedFiles() throws(EncodingError) -> [RenderedFile] {
        [
            RenderedFile(
                name: "index.html",
                contents: HTMLRenderer(generator: generator).render(document),
                mark: "<meta name=\"generator\" content=\"\(generator)\">"
            ),
            RenderedFile(
                name: "index.json",
                contents: try JSONRenderer().render(self),
                mark: "\"generator\" : \"\(generator)\""
            ),
        ]
    }
}
