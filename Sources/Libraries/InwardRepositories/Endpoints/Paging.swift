public import InwardFetching

/// How an endpoint's list is asked for page by page.
public struct Paging: Sendable {
    enum Place {
        case number(field: String, first: Int)
        case offset(field: String)
        case cursor(field: String, next: @Sendable (DataResponse) -> String?)
    }

    let place: Place
    let sizeField: String

    /// By the number of the page.
    ///
    /// - Parameters:
    ///   - field: The field of the query that has the number.
    ///   - first: The number of the first page.
    ///   - size: The field of the query that says how many entities a page has.
    /// - Returns: how pages are asked for. A page with fewer entities is the last.
    public static func numbers(_ field: String, first: Int = 1, size: String) -> Self {
        Self(place: .number(field: field, first: first), sizeField: size)
    }

    /// By how many entities come before the page.
    ///
    /// - Parameters:
    ///   - field: The field of the query that has their number.
    ///   - size: The field of the query that says how many entities a page has.
    /// - Returns: how pages are asked for. A page with fewer entities is the last.
    public static func offsets(_ field: String, size: String) -> Self {
        Self(place: .offset(field: field), sizeField: size)
    }

    /// By what the page before says.
    ///
    /// - Parameters:
    ///   - field: The field of the query that has the cursor, which the first page is asked for without.
    ///   - size: The field of the query that says how many entities a page has.
    ///   - next: The cursor of the page behind an answer; `nil` if that is the last.
    /// - Returns: how pages are asked for.
    public static func cursors(
        _ field: String,
        size: String,
        next: @escaping @Sendable (DataResponse) -> String?
    ) -> Self {
        Self(place: .cursor(field: field, next: next), sizeField: size)
    }
}
