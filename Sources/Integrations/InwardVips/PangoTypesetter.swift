#if Vips
import CPango
import InwardCore
public import InwardImages
import Synchronization

/// A typesetter for all scripts that uses Pango and the fonts of the machine.
///
/// ```swift
/// let typesetter = PangoTypesetter(font: "Sans Bold")
/// let greeting = try typesetter.outline(of: "안녕하세요")
/// let marked = try Watermark(.outline(greeting, .white)).filtered(image)
/// ```
///
/// If the font lacks a character, Pango takes it from another font. If no font has it, or only one that has images in place of
/// outlines, as those for emoji do, the error names it. Nothing is drawn in its place. Install fonts for the scripts that you need,
/// such as `fonts-nanum` for Korean.
///
/// The characters are ordered and joined as their scripts require. The direction of a line is that of its first letter.
///
/// Create one typesetter when the process starts, and share it. Calls wait for each other, and take less than a millisecond once
/// the fonts are in memory. Fonts that are installed later may not be found.
public final class PangoTypesetter: Typesetter {
    private let font: String
    private let fonts: Mutex<PangoFonts>

    /// Creates a typesetter.
    ///
    /// - Parameters:
    ///   - font: The family and style, as Pango writes them, such as `Nanum Gothic Bold`. A size is ignored. If the font is not
    ///     installed, another one is used.
    ///   - language: The language of the text (BCP 47), such as `ja`. Chinese, Japanese and Korean share characters that look
    ///     different in each language.
    public init(font: String = "Sans Bold", language: String = "en") {
        self.font = font
        fonts = Mutex(PangoFonts(font: font, language: language))
    }

    /// Returns the outlines of a line of text.
    ///
    /// - Throws: A `TypesettingError` if no font has a character, if no font is installed, or if the task is cancelled.
    public func outline(of line: TextLine) throws(TypesettingError) -> TextOutline {
        try TypesettingError.checkCancellation()
        let result = fonts.withLock { $0.outline(of: line.text) }
        switch result {
        case .outline(let outline): return outline
        case .missing(let characters): throw .missing(characters)
        case .cancelled:
            try TypesettingError.checkCancellation()
            throw .cancelled
        case .failed: throw TypesettingError(.unavailable, "cannot be typeset with the font '\(font)'")
        case .noFonts:
            throw TypesettingError(
                .unavailable,
                "cannot be typeset: no font is installed. Install one, such as fonts-dejavu-core"
            )
        }
    }
}

/// The fonts of a typesetter, with Swift types. Only this type passes pointers to Pango.
// `@safe`: the pointer never leaves this value, which is its only owner and releases it when it is destroyed.
@safe
private struct PangoFonts: ~Copyable {
    enum Result {
        case outline(TextOutline)
        case missing([Character])
        case cancelled
        case failed
        case noFonts
    }

    /// A pointer from `cpango_open`, which only this value has, or `nil` if no font is installed.
    private let handle: OpaquePointer?

    init(font: String, language: String) {
        // `unsafe`: both texts end with a zero byte and live until the call returns, and the shim copies what it needs of them.
        unsafe handle = cpango_open(font, language)
    }

    deinit {
        // `unsafe`: the pointer comes from `cpango_open` or is null, and is released once: this value cannot be copied.
        unsafe cpango_close(handle)
    }

    /// Returns the outline of a text.
    mutating func outline(of text: String) -> Result {
        guard let handle = unsafe handle else { return .noFonts }
        var text = text
        // `unsafe`: all fields are zero, so that there is nothing to free if the shim writes nothing.
        var written = unsafe CPangoOutline()
        // `unsafe`: the shim reads at most `text.count` bytes of the text's own buffer, which does not escape the closure, and
        // keeps no pointer after it returns. It writes one outline, which lives until this function returns. The handle is
        // valid until this value is destroyed, and the exclusive access to this value keeps other threads from using it.
        let result = text.withUTF8 { text in
            unsafe text.withMemoryRebound(to: CChar.self) { text in
                unsafe cpango_typeset(
                    handle,
                    text.baseAddress,
                    text.count,
                    TextOutline.maximumSegmentCount,
                    { Task.isCancelled || Deadline.current?.hasPassed == true },
                    &written
                )
            }
        }
        // `unsafe`: the arrays of the outline come from `cpango_typeset`, and are freed once, when this function returns.
        defer { unsafe cpango_release(&written) }
        switch result {
        case .done:
            // `unsafe`: the array has exactly this number of segments, and is freed after this copy of it.
            let segments = unsafe Array(UnsafeBufferPointer(start: written.segments, count: written.segment_count))
            let outline = unsafe TextOutline(segments, width: written.width, height: written.height)
            return outline.map(Result.outline) ?? .failed
        case .missing:
            // `unsafe`: the array has exactly this number of offsets, and is freed after this copy of it.
            let offsets = unsafe Array(UnsafeBufferPointer(start: written.missing, count: written.missing_count))
            return .missing(text.characters(at: offsets))
        case .cancelled: return .cancelled
        case .failed: return .failed
        }
    }
}

extension TextOutline {
    fileprivate init?(_ segments: [CPangoSegment], width: Double, height: Double) {
        var glyphs: [Glyph] = []
        for segment in segments {
            let end = Point(x: segment.x, y: segment.y)
            let control = Point(x: segment.control1_x, y: segment.control1_y)
            switch segment.kind {
            case .glyph: glyphs.append([])
            case .move: glyphs[glyphs.count - 1].append(.move(to: end))
            case .line: glyphs[glyphs.count - 1].append(.line(to: end))
            case .quadratic: glyphs[glyphs.count - 1].append(.quadratic(to: end, control: control))
            case .cubic:
                let control2 = Point(x: segment.control2_x, y: segment.control2_y)
                glyphs[glyphs.count - 1].append(.cubic(to: end, control1: control, control2: control2))
            }
        }
        // A line of characters without a width, such as a joiner, has no sides.
        self.init(glyphs: glyphs.filter { !$0.isEmpty }, width: max(1, width), height: max(1, height))
    }
}

extension String {
    /// Returns the characters that contain the bytes at offsets, each once, in order.
    fileprivate func characters(at offsets: [Int]) -> [Character] {
        var characters: [Character] = []
        var seen: Set<Character> = []
        let offsets = Set(offsets)
        var end = 0
        for character in self {
            let start = end
            end += character.utf8.count
            if (start..<end).contains(where: offsets.contains), seen.insert(character).inserted {
                characters.append(character)
            }
        }
        return characters
    }
}
#endif
