import Foundation

@testable import InwardFetching

/// Parses bytes as the header fields of a response, one per line, with every parser of a field.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafeRawPointer, _ count: Int) -> CInt {
    let text = String(decoding: UnsafeRawBufferPointer(start: start, count: count), as: UTF8.self)
    let fields = HeaderFields(
        text.split(separator: "\n").prefix(64).compactMap { line in
            let parts = line.split(separator: ":", maxSplits: 1)
            return parts.count < 2 ? nil : HeaderField.Name(String(parts[0])).map { HeaderField($0, String(parts[1])) }
        }
    )
    for field in fields {
        checkForm(of: field)
        checkContentRange(field.value)
        checkDate(field.value)
        precondition(fields[field.name] == fields.values(of: field.name).joined(separator: ", "))
    }
    checkDirectives(of: fields)
    checkFreshness(of: fields)
    checkRetryAfter(of: fields)
    checkValidator(of: fields)
    return 0
}

/// Checks that a field cannot contain the beginning of another one, and that recreating it does not change it.
private func checkForm(of field: HeaderField) {
    precondition(field.name.rawValue.isToken)
    precondition(!field.value.utf8.contains { [0x00, 0x0A, 0x0D].contains($0) })
    precondition(![0x09, 0x20].contains(field.value.utf8.first) && ![0x09, 0x20].contains(field.value.utf8.last))
    precondition(HeaderField(field.name, field.value) == field)
    if field.isSensitive { precondition(field.description == "\(field.name): …") }
}

private func checkContentRange(_ text: String) {
    guard let range = ContentRange(text) else { return }
    let written: String
    switch range {
    case .part(let positions, let total):
        precondition(positions.lowerBound >= 0 && positions.upperBound < total ?? .max)
        written = "bytes \(positions.lowerBound)-\(positions.upperBound)/\(total.map(String.init) ?? "*")"
    case .none(let total):
        precondition(total >= 0)
        written = "bytes */\(total)"
    }
    precondition(ContentRange(written) == range)
}

/// The date for which the century of a year of two digits is found: January 15, 2027.
private let now = Date(timeIntervalSince1970: 1_800_000_000)
/// The first date that `httpDate` writes correctly: January 1, 1600. Foundation has the Julian calendar for earlier days.
private let firstWritten = Date(timeIntervalSince1970: -11_676_096_000)

private func checkDate(_ text: String) {
    guard let date = Date(httpDate: text, near: now) else { return }
    precondition(date.timeIntervalSince1970.rounded() == date.timeIntervalSince1970)
    guard date > firstWritten else { return }
    let written = date.httpDate
    precondition(Date(httpDate: written) == date)
    // Apart from the name of the day, which is not checked, from case and from leap seconds, a date in the preferred form has
    // exactly one text.
    guard text.utf8.dropFirst(3).first == UInt8(ascii: ","), !text.contains(":60 ") else { return }
    precondition(written.lowercased().drop { $0 != " " } == text.lowercased().drop { $0 != " " })
}

/// Checks that no directive begins within a quoted string, and that a directive never makes another one more permissive.
private func checkDirectives(of fields: HeaderFields) {
    let directives = CacheDirectives(fields)
    let times = [
        directives.maxAge, directives.sharedMaxAge, directives.staleWhileRevalidate, directives.staleIfError,
        directives.minFresh, directives.maxStale,
    ]
    for time in times { precondition(time.map { $0 >= .zero && $0 <= .seconds(2_147_483_648) } ?? true) }
    for value in fields.values(of: .cacheControl) where !value.utf8.contains(where: "\"\\".utf8.contains) {
        let quoted: HeaderFields = [HeaderField(.cacheControl, "extension=\"\(value)\", max-age=5")]
        var expected = CacheDirectives.none
        expected.maxAge = .seconds(5)
        precondition(CacheDirectives(quoted) == expected)
    }
    var longer = fields
    longer.append(HeaderField(.cacheControl, "max-age=7"))
    // The one that was added counts only if there was no other.
    let lifetime = directives.maxAge ?? .seconds(7)
    precondition(CacheDirectives(longer).maxAge == (lifetime == .seconds(7) ? .seconds(7) : .zero))
}

/// Checks that no time is negative or too long, and that a longer transfer never makes a response younger.
private func checkFreshness(of fields: HeaderFields) {
    let longest = Duration.seconds(2_147_483_648)
    if let age = fields.ageValue { precondition(age >= .zero && age <= longest) }
    let response = DataResponse(headerFields: fields)
    for date in [Date.distantPast, Date(timeIntervalSince1970: 784_111_777), .distantFuture] {
        let arrival = CacheMoment(uptime: .seconds(10), date: date)
        for policy in [CachePolicy.private, .shared] {
            let ages = [10, 9, 0].map { sent in
                let freshness = ResponseFreshness(
                    of: response,
                    directives: ResponseDirectives(fields, for: policy),
                    sent: CacheMoment(uptime: .seconds(sent), date: date),
                    arrival: arrival,
                    policy: policy
                )
                precondition(freshness.lifetime >= .zero && freshness.lifetime <= policy.maximumLifetime)
                return freshness.age(at: arrival.uptime)
            }
            precondition(ages[0] >= fields.ageValue ?? .zero && ages == ages.sorted())
        }
    }
}

private func checkRetryAfter(of fields: HeaderFields) {
    guard let retryAfter = RetryAfter(fields) else { return }
    let written: String
    switch retryAfter {
    case .delay(let delay):
        precondition(delay >= .zero && delay <= .seconds(31_536_000))
        precondition(delay.components.attoseconds == 0)
        written = String(delay.components.seconds)
    case .date(let date):
        guard date > firstWritten else { return }
        written = date.httpDate
    }
    precondition(RetryAfter([HeaderField(.retryAfter, written)]) == retryAfter)
}

/// Checks that a strong validator is a single entity tag or date, and survives being sent back.
private func checkValidator(of fields: HeaderFields) {
    guard let validator = fields.strongValidator else { return }
    if validator.hasPrefix("\"") {
        precondition(validator.utf8.filter { $0 == UInt8(ascii: "\"") }.count == 2)
        precondition(HeaderFields([HeaderField(.etag, validator)]).strongValidator == validator)
    } else {
        precondition(Date(httpDate: validator, near: now) != nil)
    }
    precondition(HeaderField(.ifRange, validator).value == validator)
}
