/// The request fields that select a stored response among those of one URL (RFC 9111 section 4.1).
struct Variant: Hashable, Sendable, Codable {
    /// The normalized values by name, in the order in which `Vary` names them; `nil` for a missing field.
    private let fields: [Field]
    /// Whether a `Vary` field names them. The fields that select every response are not negotiated.
    let isNegotiated: Bool

    private struct Field: Hashable, Sendable, Codable {
        let name: HeaderField.Name
        /// The normalized value.
        let value: String?
        /// The value as it was sent; `nil` for a missing or repeated field.
        let sent: String?
        /// Whether the value is a credential.
        let isSensitive: Bool

        private enum CodingKeys: CodingKey { case name, value, sent }

        init(_ name: HeaderField.Name, in request: CacheRequest) {
            self.name = name
            value = request.headerFields.normalizedValue(of: name)
            sent = request.headerFields.onlyValue(of: name)
            isSensitive =
                value != nil
                && (name.carriesCredentials || request.headerFields.contains { $0.name == name && $0.isSensitive })
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            let text = try container.decode(String.self, forKey: .name)
            guard let name = HeaderField.Name(text) else {
                throw DecodingError.dataCorruptedError(forKey: .name, in: container, debugDescription: "not a name")
            }
            self.name = name
            value = try container.decodeIfPresent(String.self, forKey: .value)
            sent = try container.decodeIfPresent(String.self, forKey: .sent)
            // Those that are do not leave the memory.
            isSensitive = false
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(name.rawValue, forKey: .name)
            try container.encodeIfPresent(value, forKey: .value)
            try container.encodeIfPresent(sent, forKey: .sent)
        }

        func matches(_ request: CacheRequest) -> Bool {
            if name == .authorization, !request.isAuthorized { return value == nil }
            // The same text has the same meaning, which is faster to find out.
            if let sent, sent == request.headerFields.onlyValue(of: name) { return true }
            return value == request.headerFields.normalizedValue(of: name)
        }

        static func == (left: Self, right: Self) -> Bool { left.name == right.name && left.value == right.value }

        func hash(into hasher: inout Hasher) {
            hasher.combine(name)
            hasher.combine(value)
        }
    }

    /// Reads the fields that a response to a request depends on; `nil` if `Vary` contains `*`, which matches no request.
    ///
    /// In a cache for one user, it always depends on the credentials, so that a program that sends those of several users through one
    /// cache by mistake does not mix them up.
    ///
    /// - Parameters:
    ///   - response: The response.
    ///   - request: The request.
    ///   - policy: The policy of the cache.
    ///   - siblings: The other stored responses for the URL. If the response has no `Vary` field, that of the most recent sibling counts,
    ///     because some servers omit it from their default response.
    init?(of response: DataResponse, for request: CacheRequest, policy: CachePolicy, siblings: [StoredResponse] = []) {
        guard let varying = response.headerFields.varyingNames else { return nil }
        let isNegotiated = !varying.isEmpty
        let names = policy.isShared ? varying : [.authorization] + varying.filter { $0 != .authorization }
        if !isNegotiated, let sibling = siblings.filter(\.variant.isNegotiated).max(by: { $0.date < $1.date }) {
            self = sibling.variant.selected(by: request)
        } else {
            self.init(names, isNegotiated: isNegotiated, in: request)
        }
    }

    private init(_ names: [HeaderField.Name], isNegotiated: Bool, in request: CacheRequest) {
        self.isNegotiated = isNegotiated
        fields = names.map { Field($0, in: request) }
    }

    /// Returns whether the fields of a request have the same values.
    func matches(_ request: CacheRequest) -> Bool {
        fields.allSatisfy { $0.matches(request) }
    }

    /// Returns the variant that a request selects by the same names.
    func selected(by request: CacheRequest) -> Variant {
        Variant(fields.map(\.name), isNegotiated: isNegotiated, in: request)
    }

    /// Whether a credential selects the response.
    var hasCredentials: Bool { fields.contains(where: \.isSensitive) }

    /// The approximate number of bytes that the variant needs.
    var cost: Int { fields.reduce(0) { $0 + 2 * $1.name.rawValue.utf8.count + ($1.value?.utf8.count ?? 0) } }
}

extension HeaderFields {
    /// The names in `Vary`, each once; `nil` if it contains `*`, or anything else that is not a name and could be meant to be one that
    /// differs, or more than 64 names.
    var varyingNames: [HeaderField.Name]? {
        var names: [HeaderField.Name] = []
        var areNames = true
        forEachValue(of: .vary) { value in
            value.withBytes { bytes in
                var position = 0
                while let element = bytes.nextListElement(at: &position) {
                    // `*` would be a name too.
                    let text = bytes.extracting(element).text
                    guard text != "*", let name = HeaderField.Name(text) else { return areNames = false }
                    if names.contains(name) { continue }
                    guard names.count < Self.nameLimit else { return areNames = false }
                    names.append(name)
                }
            }
        }
        return areNames ? names : nil
    }

    /// Returns the value of the fields with a name in a form in which values of the same meaning are equal (RFC 9111 section 4.1);
    /// `nil` if there are none.
    ///
    /// Repeated fields are joined, and white space around commas is removed. In fields of preferences the order and the case make no
    /// difference either.
    fileprivate func normalizedValue(of name: HeaderField.Name) -> String? {
        var elements: [String] = []
        var isPresent = false
        forEachValue(of: name) { value in
            isPresent = true
            value.withBytes { bytes in
                var position = 0
                while let element = bytes.nextListElement(at: &position) {
                    elements.append(bytes.extracting(element).text)
                }
            }
        }
        guard isPresent else { return nil }
        if Self.namesOfPreferences.contains(name) {
            elements = elements.map { $0.lowercased().filter { $0 != " " && $0 != "\t" } }.sorted()
        }
        return elements.joined(separator: ",")
    }

    /// Returns the value of the field with a name; `nil` if there is none, or more than one.
    fileprivate func onlyValue(of name: HeaderField.Name) -> String? {
        let fields = fields.span
        guard let index = fields.firstIndex(of: name), fields.firstIndex(of: name, from: index + 1) == nil else {
            return nil
        }
        return fields[index].value
    }

    /// The highest number of names in `Vary`. Each of them is compared with the others, and with the fields of each request.
    private static let nameLimit = 64

    /// The fields whose elements have the same meaning in any order and case (RFC 9110 section 12.5).
    private static let namesOfPreferences: Set<HeaderField.Name> = [.acceptCharset, .acceptEncoding, .acceptLanguage]
}
