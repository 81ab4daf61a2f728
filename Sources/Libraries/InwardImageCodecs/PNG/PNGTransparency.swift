/// What a PNG without an alpha channel lets through (ISO/IEC 15948, section 11.3.1.1).
enum PNGTransparency {
    /// The pixels of this grey.
    case gray(Int)
    /// The pixels of this colour.
    case color(red: Int, green: Int, blue: Int)
}
