#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A request as a cache reads it.
struct CacheRequest: Sendable {
    /// What the header fields of a request ask of a cache.
    private struct Demands: OptionSet {
        let rawValue: UInt8

        static let directives = Self(rawValue: 1)
        static let pragma = Self(rawValue: 2)
        static let authorization = Self(rawValue: 4)
        static let range = Self(rawValue: 8)
        static let condition = Self(rawValue: 16)
        static let precondition = Self(rawValue: 32)
    }

    /// Directives in memory of their own, because most requests have none.
    private final class Box: Sendable {
        let directives: CacheDirectives

        init(_ directives: CacheDirectives) {
            self.directives = directives
        }
    }

    let request: DataRequest
    private let demands: Demands
    private let box: Box?

    init(_ request: DataRequest) {
        self.request = request
        var demands: Demands = []
        let fields = request.headerFields.fields.span
        for index in fields.indices {
            if let demand = Self.demand(of: fields[index].name) { demands.insert(demand) }
        }
        self.demands = demands
        box = demands.isDisjoint(with: [.directives, .pragma]) ? nil : Box(Self.directives(of: request))
    }

    private static func demand(of name: HeaderField.Name) -> Demands? {
        // The length excludes almost every other name, which is faster than a comparison.
        switch name.length {
        case 5: name == .range ? .range : nil
        case 6: name == .pragma ? .pragma : nil
        case 8: name == .ifRange ? .condition : name == .ifMatch ? .precondition : nil
        case 13:
            if name == .cacheControl {
                .directives
            } else if name == .authorization {
                .authorization
            } else {
                name == .ifNoneMatch ? .condition : nil
            }
        case 17: name == .ifModifiedSince ? .condition : nil
        case 19: name == .ifUnmodifiedSince ? .precondition : nil
        default: nil
        }
    }

    /// The directives, from `Cache-Control` or else from `Pragma` (RFC 9111 section 5.4).
    private static func directives(of request: DataRequest) -> CacheDirectives {
        var directives = CacheDirectives(request.headerFields)
        if !request.headerFields.contains(.cacheControl),
            request.headerFields.values(of: .pragma).contains(where: { $0.lowercased().contains("no-cache") })
        {
            directives.noCache = true
        }
        return directives
    }

    /// Whether the request demands nothing of a cache, so that any fresh response will do.
    var isPlain: Bool { demands.isSubset(of: .authorization) && request.method == .get }

    var directives: CacheDirectives { box?.directives ?? .none }
    /// Whether the request forbids storing the response. This takes no copy of the directives.
    var forbidsStoring: Bool { box?.directives.noStore == true }
    /// Whether the request has directives.
    var hasDirectives: Bool { box != nil }
    /// Whether the request carries credentials (RFC 9111 section 3.5).
    var isAuthorized: Bool { demands.contains(.authorization) }
    /// Whether the request carries credentials of any kind.
    var hasCredentials: Bool { headerFields.haveCredentials }
    /// Whether the request asks only for a response that differs from the caller's.
    var isConditional: Bool { demands.contains(.condition) }
    /// Whether the request is to have an effect only on a certain version, which only the upstream can decide.
    var hasPrecondition: Bool { demands.contains(.precondition) }
    /// The part of the representation that the request asks for; `nil` for all of it.
    var range: String? { demands.contains(.range) ? headerFields.firstValue(of: .range) : nil }
    var headerFields: HeaderFields { request.headerFields }
    var isGet: Bool { request.method == .get }
}
