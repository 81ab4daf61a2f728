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
    let written = httpDate(date)
    precondition(Date(httpDate: written) == date)
    // Apart from the name of the day, which is not checked, from case and from leap seconds, a date in the preferred form has
    // exactly one text.
    guard text.utf8.dropFirst(3).first == UInt8(ascii: ","), !text.contains(":60 ") else { return }
    precondition(written.lowercased().drop { $0 != " " } == text.lowercased().drop { $0 != " " })
}

/// Returns a date in the format of RFC 9110 section 5.6.7.
private func httpDate(_ date: Date) -> String {
    let names = (
        days: ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"],
        months: ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    )
    // ISO 8601 has the same calendar: `1994-11-06T08:49:37Z`.
    let parts = date.formatted(.iso8601).split { !$0.isNumber }.map(String.init)
    precondition(parts.count == 6)
    guard let month = Int(parts[1]) else { preconditionFailure("The month is not a number.") }
    let days = Int((date.timeIntervalSince1970 / 86_400).rounded(.down))
    // January 1, 1970, was a Thursday.
    let day = names.days[((days + 4) % 7 + 7) % 7]
    return "\(day), \(parts[2]) \(names.months[month - 1]) \(parts[0]) \(parts[3]):\(parts[4]):\(parts[5]) GMT"
}

/// Checks that directives survive being written and parsed again, and that none begins within a quoted string.
private func checkDirectives(of fields: HeaderFields) {
    let directives = fields.cacheDirectives
    for (name, argument) in directives {
        precondition(!name.isEmpty && name == name.lowercased())
        precondition(!argument.utf8.contains { [0x00, 0x0A, 0x0D].contains($0) })
    }
    let written = directives.map { name, argument in
        // Byte by byte, because a backslash and a combining mark on it are one character.
        let escaped = argument.utf8.flatMap { "\"\\".utf8.contains($0) ? [UInt8(ascii: "\\"), $0] : [$0] }
        return "\(name)=\"\(String(decoding: escaped, as: UTF8.self))\""
    }
    let again: HeaderFields = [HeaderField(.cacheControl, written.joined(separator: ", "))]
    precondition(again.cacheDirectives == directives)
    for value in fields.values(of: .cacheControl) where !value.utf8.contains(where: "\"\\".utf8.contains) {
        let quoted: HeaderFields = [HeaderField(.cacheControl, "extension=\"\(value)\", max-age=5")]
        precondition(quoted.cacheDirectives == ["extension": value, "max-age": "5"])
        precondition(quoted.freshnessLifetime == .seconds(5))
    }
}

/// Checks that no time is negative or too long, and that a longer transfer never makes a response younger.
private func checkFreshness(of fields: HeaderFields) {
    let longest = Duration.seconds(2_147_483_648)
    if let lifetime = fields.freshnessLifetime {
        precondition(lifetime > .zero && lifetime <= longest)
        precondition(fields.cacheDirectives["no-store"] == nil && fields.cacheDirectives["no-cache"] == nil)
    }
    if let age = fields.ageValue { precondition(age >= .zero && age <= longest) }
    for arrival in [Date.distantPast, Date(timeIntervalSince1970: 784_111_777), .distantFuture] {
        let age = fields.initialAge(after: .seconds(3), at: arrival)
        precondition(age >= (fields.ageValue ?? .zero) + .seconds(3) && age <= longest + .seconds(3))
        precondition(age >= fields.initialAge(after: .zero, at: arrival))
        precondition(age >= fields.initialAge(after: .seconds(-3), at: arrival))
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
        written = httpDate(date)
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
