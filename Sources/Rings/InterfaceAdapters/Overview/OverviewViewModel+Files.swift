extension OverviewViewModel {
    /// The overview as a page, `index.html`, and as JSON, `index.json`.
    ///
    /// - Throws: an `EncodingError` if it has what JSON cannot say.
    public func renderedFiles() throws(EncodingError) -> [RenderedFile] {
        [
            RenderedFile(
                name: "index.html",
                contents: HTMLRenderer(generator: generator).render(document),
                mark: HTMLRenderer(generator: generator).beginning
            ),
            RenderedFile(
                name: "index.json",
                contents: try JSONRenderer().render(self),
                mark: "{\n  \"_generator\" : \"\(generator)\","
            ),
        ]
    }
}
