import InwardImages
import Synchronization

/// A typesetter that draws each character as a box, and has none for `☒`.
final class StubTypesetter: Typesetter {
    private let texts = Mutex<[String]>([])
    private let failure: TypesettingError?

    /// Creates a typesetter, which always throws an error if one is given.
    init(failure: TypesettingError? = nil) { self.failure = failure }

    /// The texts of all calls, in order.
    var asked: [String] { texts.withLock(\.self) }

    func outline(of line: TextLine) throws(TypesettingError) -> TextOutline {
        texts.withLock { $0.append(line.text) }
        if let failure { throw failure }
        guard !line.text.contains("☒") else { throw .missing(["☒"]) }
        let glyphs: [TextOutline.Glyph] = line.text.indices.enumerated().map { number, _ in
            let (left, right) = (Double(number), Double(number) + 0.5)
            let corners = [(left, 0.0), (right, 0), (right, 1), (left, 1)].map { TextOutline.Point(x: $0.0, y: $0.1) }
            return [.move(to: corners[0]), .line(to: corners[1]), .line(to: corners[2]), .line(to: corners[3])]
        }
        guard let outline = TextOutline(glyphs: glyphs, width: Double(glyphs.count), height: 1) else {
            throw TypesettingError(.unavailable, "cannot be drawn")
        }
        return outline
    }
}
