public import InwardFetching

/// The requests for a list in pages: by number, offset, cursor or link.
///
/// ```swift
/// // GET /comments?page=1&per_page=50, then page=2, and so on
/// let endpoint = Endpoint(CommentDTO.self, at: "comments", paging: .numbers("page", size: "per_page"))
/// ```
///
/// Read the pages with ``Repository/pages(_:of:_:)``.
public struct Paging: Sendable {
    enum Place {
        case number(field: String, first: Int)
        case offset(field: String)
        case cursor(field: String, next: @Sendable (DataResponse) -> String?)
        case link(next: @Sendable (DataResponse) -> String?)
    }

    let place: Place
    /// The query field for the page size, or `nil` if the upstream chooses the size.
    let sizeField: String?

    /// Returns a scheme that requests pages by page number.
    ///
    /// - Parameters:
    ///   - field: The query field for the page number.
    ///   - first: The number of the first page.
    ///   - size: The query field for the page size.
    /// - Returns: the paging scheme. A page with fewer records than requested is the last one.
    public static func numbers(_ field: String, first: Int = 1, size: String) -> Self {
        Self(place: .number(field: field, first: first), sizeField: size)
    }

    /// Returns a scheme that requests pages by the number of records before the page.
    ///
    /// - Parameters:
    ///   - field: The query field for the offset.
    ///   - size: The query field for the page size.
    /// - Returns: the paging scheme. A page with fewer records than requested is the last one.
    public static func offsets(_ field: String, size: String) -> Self {
        Self(place: .offset(field: field), sizeField: size)
    }

    /// Returns a scheme that requests pages by a cursor from the previous page.
    ///
    /// ```swift
    /// // {"items": [...], "nextCursor": "b7"}, and then GET /comments?after=b7&limit=50
    /// struct Page: Decodable { let nextCursor: String? }
    /// let paging = Paging.cursors("after", size: "limit") { response in
    ///     try? JSONDecoder().decode(Page.self, from: response.body).nextCursor
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - field: The query field for the cursor. The request for the first page omits it.
    ///   - size: The query field for the page size.
    ///   - next: Returns the cursor of the page after a response, or `nil` if the response is the last page.
    /// - Returns: the paging scheme.
    public static func cursors(
        _ field: String,
        size: String,
        next: @escaping @Sendable (DataResponse) -> String?
    ) -> Self {
        Self(place: .cursor(field: field, next: next), sizeField: size)
    }

    /// Returns a scheme in which each page names the address of the next one.
    ///
    /// The first request is for the list itself. An address with another origin than the upstream's is an error, so that
    /// credentials never go to another server.
    ///
    /// - Parameters:
    ///   - size: The query field for the page size in the first request, or `nil` if the upstream chooses the size.
    ///   - next: Returns the address of the page after a response, or `nil` if the response is the last page. The address may
    ///     be relative to that of the response. By default, it is the target of the `Link` header field with the relation
    ///     `next` (RFC 8288).
    /// - Returns: the paging scheme.
    public static func links(
        size: String? = nil,
        next: @escaping @Sendable (DataResponse) -> String? = { $0.headerFields.target(ofLink: "next") }
    ) -> Self {
        Self(place: .link(next: next), sizeField: size)
    }
}
