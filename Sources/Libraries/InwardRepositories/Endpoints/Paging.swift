public import InwardFetching

/// How an endpoint's list is requested page by page.
///
///     let comments = Endpoint(CommentDTO.self, at: "comments", paging: .numbers("page", size: "per_page"))
public struct Paging: Sendable {
    enum Place {
        case number(field: String, first: Int)
        case offset(field: String)
        case cursor(field: String, next: @Sendable (DataResponse) -> String?)
        case link(next: @Sendable (DataResponse) -> String?)
    }

    let place: Place
    /// The query field for the page size; `nil` if the upstream chooses the size.
    let sizeField: String?

    /// Requests pages by page number.
    ///
    /// - Parameters:
    ///   - field: The query field for the page number.
    ///   - first: The number of the first page.
    ///   - size: The query field for the page size.
    /// - Returns: the paging scheme. A page with fewer entities than requested is the last one.
    public static func numbers(_ field: String, first: Int = 1, size: String) -> Self {
        Self(place: .number(field: field, first: first), sizeField: size)
    }

    /// Requests pages by the number of entities before the page.
    ///
    /// - Parameters:
    ///   - field: The query field for the offset.
    ///   - size: The query field for the page size.
    /// - Returns: the paging scheme. A page with fewer entities than requested is the last one.
    public static func offsets(_ field: String, size: String) -> Self {
        Self(place: .offset(field: field), sizeField: size)
    }

    /// Requests pages by a cursor from the previous page.
    ///
    /// - Parameters:
    ///   - field: The query field for the cursor. The request for the first page omits it.
    ///   - size: The query field for the page size.
    ///   - next: Returns the cursor of the page that follows a response; `nil` if the response is the last page.
    /// - Returns: the paging scheme.
    public static func cursors(
        _ field: String,
        size: String,
        next: @escaping @Sendable (DataResponse) -> String?
    ) -> Self {
        Self(place: .cursor(field: field, next: next), sizeField: size)
    }

    /// Requests pages by the address of the next page, which each page names.
    ///
    /// The first request is for the list itself. An address that is not of the upstream's own origin is an error.
    ///
    /// - Parameters:
    ///   - size: The query field for the page size in the first request; `nil` if the upstream chooses the size.
    ///   - next: Returns the address of the page that follows a response, relative to the response's own; `nil` if the response
    ///     is the last page. By default, it is that of the `Link` header field with the relation `next` (RFC 8288).
    /// - Returns: the paging scheme.
    public static func links(
        size: String? = nil,
        next: @escaping @Sendable (DataResponse) -> String? = { $0.headerFields.target(ofLink: "next") }
    ) -> Self {
        Self(place: .link(next: next), sizeField: size)
    }
}
