import InwardCore
import InwardImages
import Synchronization

/// A typesetter that draws each character as a box, with a flaw.
final class FlawedTypesetter: Typesetter {
    /// The flaws.
    enum Flaw: CaseIterable {
        // Outlines.
        case fails
        case drawsNothing
        case drawsThreeCharacters
        case failsForLongTexts
        // State that calls share.
        case growsWithEachCall
        case failsTheSecondTime
        case sharesTheText
        // Markup.
        case ignoresTags
        case makesTagsBold
        case decodesEntities
        case refusesMarkup
        // Missing characters.
        case drawsTheMissing
        case drawsTheMissingInTheMiddle
        case failsAsUnavailableForTheMissing
        case namesNothing
        case namesEverything
        // Cancellation and deadlines.
        case stopsWhenCancelled
        case stopsLaterWhenCancelled
        case stopsAfterTheDeadline
        case failsAsUnavailableWhenCancelled
        case failsAsCancelledAfterTheDeadline
        // Allowed.
        case ignoresInterruptions
        case drawsOneGlyph
        case lacksMarkup
    }

    private struct State {
        var callCount = 0
        var texts: Set<String> = []
        /// The texts of the calls that are under way.
        var textsUnderWay: [String] = []
    }

    /// The character that no font has.
    static let missing: Character = "☒"
    /// Peculiar behavior that is allowed.
    static let allowed: [Flaw] = [.ignoresInterruptions, .drawsOneGlyph, .lacksMarkup]

    private let flaw: Flaw?
    private let state = Mutex(State())
    private let steps = Atomic(0)

    init(_ flaw: Flaw? = nil) { self.flaw = flaw }

    private var unavailable: TypesettingError { TypesettingError(.unavailable, "cannot be typeset without fonts") }

    func outline(of line: TextLine) throws(TypesettingError) -> TextOutline {
        let isNew = state.withLock { state in
            state.callCount += 1
            return state.texts.insert(line.text).inserted
        }
        if flaw == .fails || flaw == .failsTheSecondTime && !isNew { throw unavailable }
        if flaw == .failsForLongTexts, line.text.count > 13 { throw unavailable }
        if line.text.contains(Self.missing) { try throwMissing(in: line.text) }
        if line.text.contains("<") {
            if flaw == .refusesMarkup { throw TypesettingError(.invalidText, "has markup") }
            if flaw == .lacksMarkup { throw .missing(["<"]) }
        }
        let text = begin(line.text)
        defer { end(line.text) }
        return try drawing(interpreted(text), isBold: line.text.contains("<b>"))
    }

    private func throwMissing(in text: String) throws(TypesettingError) {
        switch flaw {
        case .drawsTheMissing: break
        case .drawsTheMissingInTheMiddle where text.first != Self.missing && text.last != Self.missing: break
        case .failsAsUnavailableForTheMissing: throw unavailable
        case .namesNothing: throw .missing([])
        case .namesEverything: throw .missing(Array(text))
        default: throw .missing([Self.missing])
        }
    }

    /// Begins a call, and returns its text. With a flaw, returns the text of another call that is under way.
    private func begin(_ text: String) -> String {
        guard flaw == .sharesTheText else { return text }
        let other = state.withLock { state in
            defer { state.textsUnderWay.append(text) }
            return state.textsUnderWay.first { $0 != text }
        }
        // Almost all of the call, so that another one begins meanwhile. Without a lock, at which callers would take turns.
        for _ in 0..<10_000 { steps.add(1, ordering: .relaxed) }
        return other ?? text
    }

    private func end(_ text: String) {
        state.withLock { state in
            if let index = state.textsUnderWay.firstIndex(of: text) { state.textsUnderWay.remove(at: index) }
        }
    }

    private func interpreted(_ text: String) -> String {
        switch flaw {
        case .ignoresTags, .makesTagsBold: text.replacing("<b>", with: "").replacing("</b>", with: "")
        case .decodesEntities: text.replacing("&amp;", with: "&")
        case .drawsThreeCharacters: String(text.prefix(3))
        default: text
        }
    }

    private func drawing(_ text: String, isBold: Bool) throws(TypesettingError) -> TextOutline {
        var glyphs: [TextOutline.Glyph] = []
        for (number, character) in text.enumerated() {
            guard try continues(isFirst: number == 0) else { break }
            guard flaw != .drawsNothing else { continue }
            let glyph = box(Double(number), character, isBold && flaw == .makesTagsBold ? 0.9 : 0.5)
            if flaw == .drawsOneGlyph, !glyphs.isEmpty { glyphs[0] += glyph } else { glyphs.append(glyph) }
        }
        let growth = flaw == .growsWithEachCall ? state.withLock(\.callCount) : 0
        guard let outline = TextOutline(glyphs: glyphs, width: Double(text.count + growth), height: 1) else {
            throw unavailable
        }
        return outline
    }

    /// Returns a box whose height depends on the character.
    private func box(_ left: Double, _ character: Character, _ width: Double) -> TextOutline.Glyph {
        let number = character.unicodeScalars.reduce(0) { $0 + Int($1.value) }
        let (top, right) = (Double(number % 9) / 10, left + width)
        let corners = [(left, top), (right, top), (right, 1), (left, 1)].map { TextOutline.Point(x: $0.0, y: $0.1) }
        return [.move(to: corners[0]), .line(to: corners[1]), .line(to: corners[2]), .line(to: corners[3])]
    }

    /// Returns whether to continue. If the call is interrupted, throws, or with some flaws returns `false`.
    private func continues(isFirst: Bool) throws(TypesettingError) -> Bool {
        if flaw == .ignoresInterruptions { return true }
        if Task.isCancelled {
            if flaw == .stopsWhenCancelled || flaw == .stopsLaterWhenCancelled && !isFirst { return false }
            throw flaw == .failsAsUnavailableWhenCancelled ? unavailable : .cancelled
        }
        if let deadline = Deadline.current, deadline.hasPassed {
            if flaw == .stopsAfterTheDeadline { return false }
            throw flaw == .failsAsCancelledAfterTheDeadline ? .cancelled : .timedOut
        }
        return true
    }
}
