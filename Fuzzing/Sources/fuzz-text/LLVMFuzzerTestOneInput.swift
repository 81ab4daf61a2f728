#if Vips
import InwardImages
import InwardVips

private let typesetter = PangoTypesetter()
private let black = Image(size: ImageSize(clamping: 64, 16), color: .black)

/// Typesets and draws text with Pango and the fonts of the machine.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafeRawPointer, _ count: Int) -> CInt {
    let text = String(decoding: UnsafeRawBufferPointer(start: start, count: count), as: UTF8.self)
    do throws(TypesettingError) {
        let outline = try typesetter.outline(of: text)
        precondition(outline.width > 0 && outline.height > 0)
        let marked = try? Watermark(.outline(outline, .white), width: .ofWidth(1)).filtered(black)
        precondition(marked?.size == black.size)
    } catch {
        switch error.reason {
        case .invalidText: break
        case .missingCharacters(let characters):
            precondition(!characters.isEmpty && characters.allSatisfy(text.contains))
        case .unavailable, .cancelled, .timedOut: preconditionFailure("\(error)")
        }
    }
    return 0
}
#else
/// Fails, because there is nothing to fuzz without Pango.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafeRawPointer, _ count: Int) -> CInt {
    fatalError("Build fuzz-text with the trait Vips.")
}
#endif
