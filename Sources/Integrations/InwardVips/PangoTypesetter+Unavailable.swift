#if !Vips
public import InwardImages

/// A typesetter that uses Pango. It is available if the package trait `Vips` is enabled.
///
/// This declaration replaces the typesetter if the trait is not enabled, so that the compiler can name the trait.
@available(
    *,
    unavailable,
    message: "Enable the trait Vips of the package: .package(url: …, from: …, traits: [\"Vips\"])"
)
public final class PangoTypesetter: Typesetter {
    /// Accepts the same arguments as the real typesetter.
    public init(font: String = "Sans Bold", language: String = "en") {}

    /// Always fails.
    ///
    /// - Throws: A `TypesettingError` with the reason `unavailable`.
    public func outline(of line: TextLine) throws(TypesettingError) -> TextOutline {
        throw TypesettingError(.unavailable, "cannot be typeset: the trait Vips is not enabled")
    }
}
#endif
