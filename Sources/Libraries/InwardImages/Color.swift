/// A colour in sRGB (IEC 61966-2-1), and how much it hides what is behind it.
public struct Color: Hashable, Sendable {
    /// How red it is, as sRGB encodes it.
    public var red: UInt8
    /// How green it is, as sRGB encodes it.
    public var green: UInt8
    /// How blue it is, as sRGB encodes it.
    public var blue: UInt8
    /// How much it hides: nothing at 0, all at 255. The other parts are not multiplied by it.
    public var alpha: UInt8

    /// Makes a colour of its parts, one that hides all if nothing is said of it.
    public init(red: UInt8, green: UInt8, blue: UInt8, alpha: UInt8 = 255) {
        self.red = red
        self.green = green
        self.blue = blue
        self.alpha = alpha
    }

    /// Makes a grey of a level.
    public init(gray: UInt8, alpha: UInt8 = 255) {
        self.init(red: gray, green: gray, blue: gray, alpha: alpha)
    }

    /// What cannot be seen.
    public static let clear = Color(gray: 0, alpha: 0)
    /// Black that hides all.
    public static let black = Color(gray: 0)
    /// White that hides all.
    public static let white = Color(gray: 255)
}
